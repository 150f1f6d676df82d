/* file.c - reads whole files; makes directories; finds files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/installed.h"

enum { CHUNK = 1 << 30 }; /* bytes of one read() at most */

static fire_status_t fail_io(const char *what, const char *path)
{
    int err = errno;

    return FIRE_FAIL(FIRE_ERR_IO, "cannot %s \"%s\": %s", what, path, strerror(err));
}

static fire_status_t fail_open(const char *path)
{
    char cwd[PATH_MAX];
    int  err = errno;

    if (err == ENOENT && path[0] != '/' && getcwd(cwd, sizeof(cwd)) != NULL)
        return FIRE_FAIL(
            FIRE_ERR_IO,
            "cannot open \"%s\": %s (relative to the current directory %s)", path,
            strerror(err), cwd);
    errno = err;
    return fail_io("open", path);
}

/* Bytes beyond the expected size, which is 0 for a pipe. What is longer never ends,
 * like /dev/zero. */
enum { MOST_MORE = 256 << 20 };

static fire_status_t read_fd(int fd, const char *path, size_t expect, char **bytes_p,
                             size_t *n_p)
{
    char         *bytes = NULL;
    int64_t       cap   = 0;
    size_t        n     = 0;
    ssize_t       got;
    fire_status_t st;

    FIRE_TRY(fire_grow(&bytes, &cap, (int64_t)expect + 2, 1));
    for (;;) {
        size_t room = (size_t)cap - 1 - n;

        got = read(fd, bytes + n, room < CHUNK ? room : CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        n += (size_t)got;
        if (n > expect + MOST_MORE) {
            st = FIRE_FAIL(FIRE_ERR_IO, "cannot read \"%s\": it does not end", path);
            goto err_bytes;
        }
        if (n == (size_t)cap - 1)
            FIRE_TRY_GOTO(st, fire_grow(&bytes, &cap, cap + 1, 1), err_bytes);
    }
    if (got < 0) {
        st = fail_io("read", path);
        goto err_bytes;
    }
    bytes[n] = '\0';
    *bytes_p = bytes;
    *n_p     = n;
    return FIRE_OK;

err_bytes:
    fire_free(bytes);
    return st;
}

/* Opens the file of that path or, if there is none, the installed one. */
static int open_or_installed(const char *path)
{
    char installed[PATH_MAX];
    int  fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 || errno != ENOENT) return fd;
    if (fire_installed_find(path, installed, sizeof(installed)))
        return open(installed, O_RDONLY | O_CLOEXEC);
    errno = ENOENT;
    return -1;
}

/* size_p: how many bytes to expect; more or fewer may come. */
static fire_status_t open_to_read(const char *path, bool or_installed, int *fd_p,
                                  size_t *size_p)
{
    int fd = or_installed ? open_or_installed(path) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat   info;
    fire_status_t st;

    if (fd < 0) return fail_open(path);
    if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) {
        *fd_p   = fd;
        *size_p = (size_t)info.st_size;
        return FIRE_OK;
    }
    st = FIRE_FAIL(FIRE_ERR_IO, "cannot read \"%s\": it is a directory", path);
    close(fd);
    return st;
}

static fire_status_t check(const char *path, bool or_installed)
{
    size_t size = 0;
    int    fd   = -1;

    FIRE_TRY(open_to_read(path, or_installed, &fd, &size));
    close(fd);
    return FIRE_OK;
}

fire_status_t fire_file_check(const char *path)
{
    return check(path, false);
}

fire_status_t fire_file_check_or_installed(const char *path)
{
    return check(path, true);
}

fire_status_t fire_file_read(const char *path, char **bytes_p, size_t *n_p)
{
    fire_status_t st;
    size_t        size = 0;
    int           fd   = -1;

    FIRE_TRY(open_to_read(path, true, &fd, &size));
    st = read_fd(fd, path, size, bytes_p, n_p);
    close(fd);
    return st;
}

fire_status_t fire_file_read_text(const char *path, char **text_p)
{
    char  *text;
    size_t n = 0, upto;

    FIRE_TRY(fire_file_read(path, &text, &n));
    upto = strlen(text);
    if (upto == n) {
        *text_p = text;
        return FIRE_OK;
    }
    fire_free(text);
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: is no text: byte %zu is zero", path, upto);
}

/* Make one directory. The message names it, not the whole path that was asked for. */
static fire_status_t make_one(const char *path)
{
    struct stat info;
    int         err;

    if (mkdir(path, 0777) == 0) return FIRE_OK;
    err = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return FIRE_OK;
    errno = err;
    return fail_io("make the directory", path);
}

fire_status_t fire_dir_make_for(const char *path)
{
    char         *part, *at;
    fire_status_t st = FIRE_OK;

    if (path[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_strdup(path, &part));
    at = part;
    while (st >= 0 && (at = strchr(at + 1, '/')) != NULL) {
        *at = '\0';
        st  = make_one(part);
        *at = '/';
    }
    fire_free(part);
    return st;
}

fire_status_t fire_dir_make(const char *path)
{
    FIRE_TRY(fire_dir_make_for(path));
    return make_one(path);
}

/* Put \ before characters that are special in glob() patterns. */
static fire_status_t quote(const char *text, char **quoted_p)
{
    char *out;

    FIRE_TRY(fire_alloc(2 * strlen(text) + 1, 1, "path", (void **)&out));
    *quoted_p = out;
    for (; *text != '\0'; text++) {
        if (strchr("*?[\\", *text) != NULL) *out++ = '\\';
        *out++ = *text;
    }
    return FIRE_OK;
}

fire_status_t fire_path_glob(const char *begin, const char *pattern, glob_t *found_p)
{
    char         *quoted, *whole = NULL;
    fire_status_t st;

    memset(found_p, 0, sizeof(*found_p));
    FIRE_TRY(quote(begin, &quoted));
    st = fire_asprintf(&whole, "%s%s", quoted, pattern);
    if (st >= 0 && glob(whole, 0, NULL, found_p) != 0) found_p->gl_pathc = 0;
    fire_free(whole);
    fire_free(quoted);
    return st;
}

bool fire_path_has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);

    return n >= k && strcmp(path + n - k, suffix) == 0;
}
