/* lock.c - the kernel's lock of an open file, which ends with the process. The file is
 * removed with it, so the lock that was got may be of a file that another process has
 * removed meanwhile: then it is made again. */
#include "train/snapshot/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* For how long to wait for another, and how often to look. */
static const double PATIENCE = 5;
enum { POLL_MICROSECONDS = 50000 };

typedef enum outcome { HELD, BUSY, AGAIN, IMPOSSIBLE } outcome_t;

static bool is_still(const char *path, int fd)
{
    struct stat here, there;

    return fstat(fd, &here) == 0 && stat(path, &there) == 0 &&
           here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

static outcome_t take(const char *path, int *fd_p)
{
    int       fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    outcome_t how;

    if (fd < 0) return IMPOSSIBLE;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        how = is_still(path, fd) ? HELD : AGAIN;
    else
        how = errno == EWOULDBLOCK ? BUSY : IMPOSSIBLE;
    if (how == HELD)
        *fd_p = fd;
    else
        close(fd);
    return how;
}

/* For the message of another that finds the file locked. */
static void sign(int fd)
{
    char host[128] = "?", text[192];
    int  n;

    gethostname(host, sizeof(host) - 1);
    n = snprintf(text, sizeof(text), "process %d on %s", (int)getpid(), host);
    if (ftruncate(fd, 0) != 0 || write(fd, text, (size_t)n) != n) return;
}

static fire_status_t fail_busy(const char *path)
{
    char    who[192] = "";
    int     fd       = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n        = fd >= 0 ? read(fd, who, sizeof(who) - 1) : -1;

    if (fd >= 0) close(fd);
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "another training (%s) writes there, it holds \"%s\": wait for its "
        "end or choose another --run_dir or snapshot_prefix",
        n > 0 ? who : "process unknown", path);
}

fire_status_t fire_job_lock(const char *path, fire_job_lock_t *lock_p)
{
    double        until = fire_clock_now() + PATIENCE;
    char         *file;
    int           fd;
    outcome_t     how;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&file, "%s.lock", path));
    while ((how = take(file, &fd)) == AGAIN ||
           (how == BUSY && fire_clock_now() < until))
        if (how == BUSY) usleep(POLL_MICROSECONDS);
    if (how == HELD) {
        sign(fd);
        *lock_p = (fire_job_lock_t){.path = file, .fd = fd};
        return FIRE_OK;
    }
    st = how == BUSY ? fail_busy(file) : FIRE_OK;
    fire_free(file);
    return st;
}

void fire_job_unlock(fire_job_lock_t *lock)
{
    if (lock->path == NULL) return;
    unlink(lock->path);
    close(lock->fd);
    fire_free(lock->path);
    *lock = (fire_job_lock_t){0};
}
