/* append.c - a buffer that is written with O_APPEND (append.h). */
#include "base/text/append.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"

struct fire_append {
    char      *path;
    int        fd;
    fire_str_t out; /* not written yet */
};

static fire_status_t fail_io(const char *what, const char *path)
{
    int err = errno;

    return FIRE_FAIL(FIRE_ERR_IO, "cannot %s \"%s\": %s", what, path, strerror(err));
}

fire_status_t fire_append_add(fire_append_t *f, const void *bytes, size_t n)
{
    return fire_str_add(&f->out, bytes, n);
}

fire_status_t fire_append_flush(fire_append_t *f)
{
    int64_t n = f->out.n;
    ssize_t done;

    if (n == 0) return FIRE_OK;
    f->out.n = 0; /* keeps the memory */
    do
        done = write(f->fd, f->out.text, (size_t)n);
    while (done < 0 && errno == EINTR);
    if (done >= 0 && done < n) errno = ENOSPC;
    return done == n ? FIRE_OK : fail_io("write to", f->path);
}

fire_status_t fire_append_json(fire_append_t *f, fire_json_writer_t *w, const char *end)
{
    fire_status_t st = w->status;

    if (st >= 0) st = fire_str_add(&w->out, end, strlen(end));
    if (st >= 0) st = fire_append_add(f, w->out.text, (size_t)w->out.n);
    w->out.n  = 0; /* keeps the memory: the next is about as long */
    w->more   = false;
    w->depth  = 0;
    w->status = FIRE_OK;
    return st;
}

static fire_status_t end_last_line(fire_append_t *f)
{
    off_t n = lseek(f->fd, 0, SEEK_END);
    char  last;

    if (n <= 0) return FIRE_OK;
    if (pread(f->fd, &last, 1, n - 1) != 1) return fail_io("read", f->path);
    return last == '\n' ? FIRE_OK : fire_append_add(f, "\n", 1);
}

static void destroy(fire_append_t *f)
{
    if (f->fd >= 0) close(f->fd);
    fire_str_fini(&f->out);
    fire_free(f->path);
    fire_free(f);
}

fire_status_t fire_append_open(const char *path, bool keep, fire_append_t **file_p)
{
    const int      flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;
    fire_append_t *f;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&f, 1));
    f->fd = open(path, flags | (keep ? 0 : O_TRUNC), 0666);
    if (f->fd < 0) {
        st = fail_io("create", path);
        goto err_file;
    }
    FIRE_TRY_GOTO(st, fire_strdup(path, &f->path), err_file);
    FIRE_TRY_GOTO(st, end_last_line(f), err_file);
    *file_p = f;
    return FIRE_OK;

err_file:
    destroy(f);
    return st;
}

fire_status_t fire_append_close(fire_append_t *f)
{
    fire_status_t st;

    if (f == NULL) return FIRE_OK;
    st = fire_append_flush(f);
    destroy(f);
    return st;
}
