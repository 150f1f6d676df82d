/* memory_files.c - the directory in shared memory, and the file that names its job. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "train/snapshot/memory.h"

static const char shm[] = "/dev/shm";

enum { KEY = 16, DAY = 24 * 60 * 60 };

/* ---- names ---- */

/* The path of the snapshots from the root: the directory need not be there yet. */
static fire_status_t absolute(const char *prefix, char **path_p)
{
    const char   *base = strrchr(prefix, '/');
    char         *dir;
    char          real[PATH_MAX];
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&dir, "%.*s", base != NULL ? (int)(base - prefix) : 1,
                           base != NULL ? prefix : "."));
    if (realpath(dir[0] != '\0' ? dir : "/", real) == NULL)
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot find \"%s\": %s", dir, strerror(errno));
    else
        st = fire_asprintf(path_p, "%s/%s", real, base != NULL ? base + 1 : prefix);
    fire_free(dir);
    return st;
}

fire_status_t fire_memory_dir(const char *prefix, char **dir_p)
{
    fire_sha256_t s;
    uint8_t       digest[FIRE_SHA256_SIZE];
    char          hex[65];
    char         *path;

    FIRE_TRY(absolute(prefix, &path));
    fire_sha256_init(&s);
    fire_sha256_add(&s, path, strlen(path));
    fire_sha256_final(&s, digest);
    fire_sha256_hex(digest, hex);
    fire_free(path);
    return fire_asprintf(dir_p, "%s/firecaffe.%u.%.*s", shm, (unsigned)geteuid(), KEY,
                         hex);
}

/* Links are not followed: others may make files in the same place. */
static bool is_own(const char *dir, struct stat *info)
{
    return lstat(dir, info) == 0 && S_ISDIR(info->st_mode) &&
           info->st_uid == geteuid() && (info->st_mode & 077) == 0;
}

bool fire_memory_is_own(const char *dir)
{
    struct stat info;

    return is_own(dir, &info);
}

fire_status_t fire_memory_make_dir(const char *dir)
{
    struct stat info;

    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot make \"%s\": %s", dir, strerror(errno));
    if (is_own(dir, &info)) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_IO,
                     "\"%s\" is no directory of this user alone: remove it", dir);
}

/* ---- removing ---- */

void fire_memory_clean(const char *dir, const char *id)
{
    struct stat    info;
    DIR           *d = is_own(dir, &info) ? opendir(dir) : NULL;
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.' &&
            (id == NULL || strncmp(e->d_name, id, strlen(id)) != 0))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d == NULL) return;
    closedir(d);
    rmdir(dir); /* fails where files are left, as it should */
}

void fire_memory_clean_old(void)
{
    char           begin[64];
    DIR           *d = opendir(shm);
    struct dirent *e;

    snprintf(begin, sizeof(begin), "firecaffe.%u.", (unsigned)geteuid());
    while (d != NULL && (e = readdir(d)) != NULL) {
        char        path[sizeof(shm) + NAME_MAX + 1];
        struct stat info;

        if (strncmp(e->d_name, begin, strlen(begin)) != 0) continue;
        snprintf(path, sizeof(path), "%s/%s", shm, e->d_name);
        if (is_own(path, &info) && time(NULL) - info.st_mtim.tv_sec > DAY)
            fire_memory_clean(path, NULL);
    }
    if (d != NULL) closedir(d);
}

bool fire_memory_has_room(int64_t bytes)
{
    struct statvfs s;

    return statvfs(shm, &s) == 0 &&
           (double)s.f_bavail * (double)s.f_frsize >= 2 * (double)bytes;
}

/* ---- which job ---- */

void fire_memory_read_id(const char *prefix, char id[FIRE_MEMORY_ID])
{
    char *path, *text;
    bool  good;

    memset(id, 0, FIRE_MEMORY_ID);
    if (fire_asprintf(&path, "%s.memory", prefix) < 0) return;
    if (access(path, R_OK) == 0 && fire_file_read_text(path, &text) >= 0) {
        good = strlen(text) == FIRE_MEMORY_ID - 1 &&
               strspn(text, "0123456789abcdef") == FIRE_MEMORY_ID - 1;
        if (good) memcpy(id, text, FIRE_MEMORY_ID);
        fire_free(text);
    }
    fire_free(path);
}

fire_status_t fire_memory_make_id(const char *prefix, char id[FIRE_MEMORY_ID])
{
    uint64_t      number = 0;
    char         *path;
    fire_status_t st;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return FIRE_FAIL(FIRE_ERR_IO, "cannot get random numbers: %s", strerror(errno));
    snprintf(id, FIRE_MEMORY_ID, "%016llx", (unsigned long long)number);
    FIRE_TRY(fire_asprintf(&path, "%s.memory", prefix));
    st = fire_file_write(path, id, FIRE_MEMORY_ID - 1);
    fire_free(path);
    return st;
}

void fire_memory_drop_id(const char *prefix)
{
    char *path;

    if (fire_asprintf(&path, "%s.memory", prefix) < 0) return;
    unlink(path);
    fire_free(path);
}
