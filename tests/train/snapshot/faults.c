/* faults.c - takes the place of libc's functions in this program. */
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 1024, MARKED = 1, DIRECTORY = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fault_t         armed;
static int             first_call, last_call, calls, failures;
static char            mark[MOST_FILES]; /* by descriptor */
static unsigned        slowness;

void faults_slow(unsigned microseconds)
{
    slowness = microseconds;
}

void faults_arm(fault_t kind, int first, int last)
{
    pthread_mutex_lock(&lock);
    armed      = kind;
    first_call = first;
    last_call  = last;
    calls = failures = 0;
    pthread_mutex_unlock(&lock);
}

bool faults_disarm(void)
{
    pthread_mutex_lock(&lock);
    armed = FAULT_NONE;
    pthread_mutex_unlock(&lock);
    return failures > 0;
}

/* Is it this call's turn? */
static bool fails(fault_t kind)
{
    bool now;

    pthread_mutex_lock(&lock);
    now = armed == kind && ++calls >= first_call && calls <= last_call;
    failures += now;
    pthread_mutex_unlock(&lock);
    if (now) errno = ENOSPC;
    return now;
}

static int mark_of(int fd)
{
    return fd >= 0 && fd < MOST_FILES ? mark[fd] : 0;
}

static bool is_ours(const char *path)
{
    return strstr(path, "snap_iter_") != NULL && strstr(path, ".tempfile") == NULL;
}

/* A pointer to a function cannot be cast from one to data. */
#define REAL(type, name)                  \
    type(*real) = NULL;                   \
    void *found = dlsym(RTLD_NEXT, name); \
    memcpy(&real, &found, sizeof(found))

typedef int     open_fn(const char *path, int flags, ...);
typedef int     close_fn(int fd);
typedef int     rename_fn(const char *from, const char *to);
typedef ssize_t write_fn(int fd, const void *data, size_t n);

int open(const char *path, int flags, ...)
{
    va_list  ap;
    unsigned mode;
    int      fd;
    REAL(open_fn, "open");

    va_start(ap, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    if (is_ours(path) && (flags & O_CREAT) != 0 && fails(FAULT_OPEN)) return -1;
    fd = real(path, flags, mode);
    if (fd >= 0 && fd < MOST_FILES)
        mark[fd] = (flags & O_DIRECTORY) != 0                         ? DIRECTORY
                   : is_ours(path) && (flags & O_ACCMODE) != O_RDONLY ? MARKED
                                                                      : 0;
    return fd;
}

ssize_t write(int fd, const void *data, size_t n)
{
    REAL(write_fn, "write");

    if (mark_of(fd) == MARKED && slowness > 0) usleep(slowness);
    if (mark_of(fd) == MARKED && fails(FAULT_WRITE)) return -1;
    if (mark_of(fd) == MARKED && n > 1 && fails(FAULT_SHORT)) n /= 2;
    return real(fd, data, n);
}

int fsync(int fd)
{
    REAL(close_fn, "fsync");

    if (mark_of(fd) == MARKED && fails(FAULT_FSYNC)) return -1;
    if (mark_of(fd) == DIRECTORY && fails(FAULT_DIRECTORY)) return -1;
    return real(fd);
}

int close(int fd)
{
    int kind = mark_of(fd);
    REAL(close_fn, "close");

    if (fd >= 0 && fd < MOST_FILES) mark[fd] = 0;
    if (real(fd) != 0) return -1;
    return kind == MARKED && fails(FAULT_CLOSE) ? -1 : 0;
}

int rename(const char *from, const char *to)
{
    REAL(rename_fn, "rename");

    return is_ours(to) && fails(FAULT_RENAME) ? -1 : real(from, to);
}
