/* fuzz_file.h - a file with the fuzzer's bytes, for readers that open files. */
#ifndef FIRE_FUZZ_FILE_H
#define FIRE_FUZZ_FILE_H
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"

typedef struct fuzz_file {
    int  fd; /* 0: not made yet */
    char path[64];
} fuzz_file_t;

/* Its contents become these bytes. It lives in memory and is made once. */
static inline const char *fuzz_file_write(fuzz_file_t *f, const void *data, size_t n)
{
    if (f->fd == 0) {
        f->fd = memfd_create("fuzz", MFD_CLOEXEC);
        MUST(f->fd > 0);
        snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
    }
    MUST(ftruncate(f->fd, 0) == 0);
    MUST(n == 0 || pwrite(f->fd, data, n, 0) == (ssize_t)n);
    return f->path;
}
#endif
