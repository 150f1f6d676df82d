/* file.c - reads whole files; replaces files by rename() after fsync(). */
#include "base/file.h"

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
#include "base/installed.h"
#include "base/seal.h"
#include "base/sha256.h"

/* Bytes: of a writer's buffer; of one read() or write() at most. */
enum { BUFFER = 1 << 16, CHUNK = 1 << 30 };

struct fire_file_writer {
    char    *path, *temp; /* temp NULL: written to path directly */
    int      fd;
    bool     sealed;
    uint32_t crc; /* of what was written, if sealed */
    size_t   n;   /* bytes in the buffer */
    char     buffer[BUFFER];
};

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

fire_status_t fire_file_temp_name(const char *path, char **temp_p)
{
    return fire_asprintf(temp_p, "%s.tmp.%ld", path, (long)getpid());
}

/* A rename survives a power failure only after its directory is synced. */
static void sync_directory_of(const char *path)
{
    char *copy;
    int   fd;

    if (fire_strdup(path, &copy) < 0) return;
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fire_free(copy);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static fire_status_t rename_over(const char *temp, const char *path)
{
    if (rename(temp, path) != 0) {
        fire_status_t st = fail_io("write", path);

        unlink(temp);
        return st;
    }
    sync_directory_of(path);
    return FIRE_OK;
}

fire_status_t fire_file_replace(const char *temp, const char *path)
{
    int fd = open(temp, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0) {
        fire_status_t st = fail_io("write", path);

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
    const int           flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    fire_file_writer_t *w;
    fire_status_t       st;

    FIRE_TRY(FIRE_NEW(&w, 1));
    FIRE_TRY_GOTO(st, choose_names(w, path), err_writer);
    if (w->temp != NULL)
        w->fd = open(w->temp, flags | O_NOFOLLOW, 0666);
    else
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
    if (w->fd < 0) {
        st = fail_io("write", path);
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
        if (put < 0) return fail_io("write", w->path);
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
    if (st == FIRE_OK && w->temp != NULL && fsync(fd) != 0)
        st = fail_io("write", w->path);
    if (close(fd) != 0 && st == FIRE_OK) st = fail_io("write", w->path);
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
