/* file_write.c - replaces files by rename() after fsync(). */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/seal.h"
#include "base/sha256.h"

/* Bytes: of a writer's buffer; of one write() at most. */
enum { BUFFER = 1 << 16, CHUNK = 1 << 30 };

struct fire_file_writer {
    char    *path, *temp; /* temp NULL: written to path directly */
    int      fd;
    bool     sealed;
    uint32_t crc; /* of what was written, if sealed */
    size_t   n;   /* bytes in the buffer */
    char     buffer[BUFFER];
};

static fire_status_t fail_write(const char *path)
{
    return FIRE_FAIL(FIRE_ERR_IO, "cannot write \"%s\": %s", path, strerror(errno));
}

/* Open a file that did not exist: what is there, be it a symbolic link that somebody
 * else has put there, is removed and never written through. */
static int open_new(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int       fd    = open(path, flags, 0666);

    if (fd >= 0 || errno != EEXIST) return fd;
    unlink(path);
    return open(path, flags, 0666);
}

fire_status_t fire_file_probe(const char *path, double *now_p)
{
    struct stat info;
    int         fd = open_new(path), err = 0;

    if (fd < 0 || fstat(fd, &info) != 0) err = errno;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    if (err != 0)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot write \"%s\": %s", path, strerror(err));
    *now_p = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    return FIRE_OK;
}

fire_status_t fire_file_temp_name(const char *path, char **temp_p)
{
    return fire_asprintf(temp_p, "%s.tmp.%ld", path, (long)getpid());
}

/* A rename survives a power failure only after its directory is synced. Where that is not
 * possible (a directory that must not be read, some network file systems) it is left out;
 * an error of the disk counts. */
static fire_status_t sync_directory_of(const char *path)
{
    char *copy;
    int   fd, err = 0;

    FIRE_TRY(fire_strdup(path, &copy));
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fire_free(copy);
    if (fd < 0) return FIRE_OK;
    if (fsync(fd) != 0) err = errno;
    close(fd);
    if (err != EIO && err != ENOSPC && err != EDQUOT) return FIRE_OK;
    errno = err;
    return fail_write(path);
}

static fire_status_t rename_over(const char *temp, const char *path)
{
    fire_status_t st;

    if (rename(temp, path) == 0) return sync_directory_of(path);
    st = fail_write(path);
    unlink(temp);
    return st;
}

fire_status_t fire_file_replace(const char *temp, const char *path)
{
    int fd = open(temp, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0) {
        fire_status_t st = fail_write(path);

        if (fd >= 0) close(fd);
        unlink(temp);
        return st;
    }
    close(fd);
    return rename_over(temp, path);
}

/* Set w->path and w->temp. A symbolic link is followed, so that the file it points to
 * is replaced and not the link. */
static fire_status_t choose_names(fire_file_writer_t *w, const char *path)
{
    struct stat info;
    char        real[PATH_MAX];
    bool        exists = stat(path, &info) == 0;

    if (exists && S_ISDIR(info.st_mode))
        return FIRE_FAIL(FIRE_ERR_IO, "cannot write \"%s\": it is a directory", path);
    if (exists && S_ISREG(info.st_mode) && realpath(path, real) != NULL) path = real;
    FIRE_TRY(fire_strdup(path, &w->path));
    if (exists && !S_ISREG(info.st_mode)) return FIRE_OK;
    return fire_file_temp_name(path, &w->temp);
}

static void destroy(fire_file_writer_t *w)
{
    fire_free(w->path);
    fire_free(w->temp);
    fire_free(w);
}

fire_status_t fire_file_writer_open(const char *path, fire_file_writer_t **writer_p)
{
    fire_file_writer_t *w;
    fire_status_t       st;

    FIRE_TRY(FIRE_NEW(&w, 1));
    FIRE_TRY_GOTO(st, choose_names(w, path), err_writer);
    if (w->temp != NULL)
        w->fd = open_new(w->temp);
    else
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
    if (w->fd < 0) {
        st = fail_write(path);
        goto err_writer;
    }
    *writer_p = w;
    return FIRE_OK;

err_writer:
    destroy(w);
    return st;
}

static fire_status_t write_fd(fire_file_writer_t *w, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t put = write(w->fd, data, n < CHUNK ? n : CHUNK);

        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_write(w->path);
        data += put;
        n -= (size_t)put;
    }
    return FIRE_OK;
}

static fire_status_t flush(fire_file_writer_t *w)
{
    size_t n = w->n;

    w->n = 0;
    return write_fd(w, w->buffer, n);
}

fire_status_t fire_file_writer_write(fire_file_writer_t *w, const void *data, size_t n)
{
    if (w->sealed) w->crc = fire_crc32c(w->crc, data, n);
    if (w->n + n > BUFFER) FIRE_TRY(flush(w));
    if (n > BUFFER) return write_fd(w, data, n);
    if (n > 0) memcpy(w->buffer + w->n, data, n);
    w->n += n;
    return FIRE_OK;
}

void fire_file_writer_seal(fire_file_writer_t *w)
{
    w->sealed = true;
}

fire_status_t fire_file_writer_commit(fire_file_writer_t *w)
{
    fire_status_t st = FIRE_OK;
    int           fd = w->fd;
    uint8_t       seal[FIRE_SEAL_SIZE];

    fire_seal_make(w->crc, seal);
    if (w->sealed) st = fire_file_writer_write(w, seal, sizeof(seal));
    if (st == FIRE_OK) st = flush(w);
    if (st == FIRE_OK && w->temp != NULL && fsync(fd) != 0) st = fail_write(w->path);
    if (close(fd) != 0 && st == FIRE_OK) st = fail_write(w->path);
    if (w->temp != NULL) {
        if (st == FIRE_OK)
            st = rename_over(w->temp, w->path);
        else
            unlink(w->temp);
    }
    destroy(w);
    return st;
}

void fire_file_writer_abort(fire_file_writer_t *w)
{
    if (w == NULL) return;
    close(w->fd);
    if (w->temp != NULL) unlink(w->temp);
    destroy(w);
}

static fire_status_t write_all(const char *path, const void *data, size_t n,
                               bool sealed)
{
    fire_file_writer_t *w;
    fire_status_t       st;

    FIRE_TRY(fire_file_writer_open(path, &w));
    w->sealed = sealed;
    st        = fire_file_writer_write(w, data, n);
    if (st == FIRE_OK) return fire_file_writer_commit(w);
    fire_file_writer_abort(w);
    return st;
}

fire_status_t fire_file_write(const char *path, const void *data, size_t n)
{
    return write_all(path, data, n, false);
}

fire_status_t fire_file_write_sealed(const char *path, const void *data, size_t n)
{
    return write_all(path, data, n, true);
}
