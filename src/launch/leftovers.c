/* leftovers.c - what a launcher that was killed leaves on this machine: processes, files
 * in shared memory, a folder of its own. */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "launch/attempt.h"

/* ---- processes ---- */

typedef struct process {
    pid_t pid, parent;
    bool  ours;
} process_t;

/* For how long killed processes are waited for. */
static const double PATIENCE = 5;

static pid_t parent_of(pid_t pid)
{
    char    path[64], text[512], *at;
    int     fd, parent = 0;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    at                  = strrchr(text, ')'); /* the name before it may hold anything */
    if (at == NULL || sscanf(at, ") %*c %d", &parent) != 1) return 0;
    return parent;
}

static int64_t list_processes(process_t **list_p)
{
    DIR           *dir = opendir("/proc");
    struct dirent *e;
    int64_t        n = 0, cap = 0;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)atoi(e->d_name);

        if (pid <= 0 || fire_grow(list_p, &cap, n + 1, sizeof(**list_p)) < 0) continue;
        (*list_p)[n++] = (process_t){.pid = pid, .parent = parent_of(pid)};
    }
    if (dir != NULL) closedir(dir);
    return n;
}

static bool descends(const process_t *list, int64_t n, pid_t parent)
{
    if (parent == getpid()) return true;
    for (int64_t i = 0; i < n; i++)
        if (list[i].pid == parent) return list[i].ours;
    return false;
}

/* Returns how many there were. */
static int kill_once(void)
{
    process_t *list  = NULL;
    int64_t    n     = list_processes(&list);
    int        count = 0;

    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < n; i++)
            if (!list[i].ours && descends(list, n, list[i].parent))
                list[i].ours = more = true;
    }
    for (int64_t i = 0; i < n; i++)
        if (list[i].ours) {
            kill(list[i].pid, SIGKILL);
            count++;
        }
    fire_free(list);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return count;
}

void fire_leftovers_kill(void)
{
    double until = fire_clock_now() + PATIENCE;

    while (kill_once() > 0 && fire_clock_now() < until)
        usleep(2000);
}

/* ---- shared memory ---- */

static const char shm[] = "/dev/shm/";

static bool is_of_mpi(const char *name)
{
    static const char *const begins[] = {"vader_segment.", "sm_segment.", "osc_rdma.",
                                         "osc_sm.",        "psm2_shm.",   "mpich_shm_"};

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

static bool is_mapped(pid_t pid, const char *path)
{
    char  file[64], line[PATH_MAX + 128];
    FILE *f;
    bool  found = false;

    snprintf(file, sizeof(file), "/proc/%d/maps", (int)pid);
    f = fopen(file, "re");
    while (!found && f != NULL && fgets(line, sizeof(line), f) != NULL)
        found = strstr(line, path) != NULL;
    if (f != NULL) fclose(f);
    return found;
}

static bool is_used(const char *path)
{
    process_t *list = NULL;
    int64_t    n    = list_processes(&list);
    bool       used = false;

    for (int64_t i = 0; i < n && !used; i++)
        used = is_mapped(list[i].pid, path);
    fire_free(list);
    return used;
}

static void remove_shared(double since)
{
    DIR           *dir = opendir(shm);
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        char        path[sizeof(shm) + NAME_MAX + 1];
        struct stat info;

        if (!is_of_mpi(e->d_name)) continue;
        snprintf(path, sizeof(path), "%s%s", shm, e->d_name);
        if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
            info.st_uid != geteuid() || (double)info.st_ctim.tv_sec < since - 1)
            continue;
        if (!is_used(path)) unlink(path);
    }
    if (dir != NULL) closedir(dir);
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

/* Open MPI's folder of one mpirun. */
static void remove_session(pid_t pid)
{
    const char *temp      = getenv("TMPDIR");
    char        host[128] = "", path[PATH_MAX];
    enum { DESCRIPTORS = 16 };

    if (gethostname(host, sizeof(host) - 1) != 0) return;
    snprintf(path, sizeof(path), "%s/ompi.%s.%u/pid.%d", temp != NULL ? temp : "/tmp",
             host, (unsigned)geteuid(), (int)pid);
    nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

void fire_leftovers_remove(double since, pid_t pid)
{
    remove_shared(since);
    remove_session(pid);
}
