/* environment.c - the machine, from /proc and the system, and the program. */
#include "runlog/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/host/cores.h"
#include "base/host/memory.h"
#include "runlog/libraries.h"

/* The value behind "key : value" in /proc/cpuinfo. */
static void add_cpu(fire_json_writer_t *w)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char  line[512];

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        fire_json_add_string(w, "cpu", colon);
        break;
    }
    if (f != NULL) fclose(f);
}

static void add_system(fire_json_writer_t *w)
{
    struct utsname u;
    char           text[sizeof(u.sysname) + sizeof(u.release) + sizeof(u.machine) + 3];

    if (uname(&u) != 0) return;
    snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
    fire_json_add_string(w, "host", u.nodename);
    fire_json_add_string(w, "os", text);
}

const char *fire_environment_threads(int i)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                        "MKL_NUM_THREADS", NULL};

    return names[i];
}

static void add_threads(fire_json_writer_t *w)
{
    const char *name;

    fire_json_open(w, "threads", '{');
    for (int i = 0; (name = fire_environment_threads(i)) != NULL; i++)
        if (getenv(name) != NULL) fire_json_add_string(w, name, getenv(name));
    fire_json_close(w, '}');
}

static void add_gpus(fire_json_writer_t *w, const fire_environment_t *e)
{
    if (e->ngpu == 0) return;
    fire_json_open(w, "gpus", '[');
    for (int i = 0; i < e->ngpu; i++)
        fire_json_add_string(w, NULL, e->gpu[i]);
    fire_json_close(w, ']');
}

static void add_libraries(fire_json_writer_t *w, const char *mpi)
{
    char text[128];

    fire_json_open(w, "built_with", '[');
    for (int i = 0; fire_library_at(i, mpi, text, sizeof(text)); i++)
        fire_json_add_string(w, NULL, text);
    fire_json_close(w, ']');
}

void fire_environment_write(fire_json_writer_t *w, const fire_environment_t *e)
{
    char directory[PATH_MAX];

    fire_json_add_string(w, "program", "firecaffe " FIRE_VERSION);
    add_libraries(w, e->mpi);
    add_system(w);
    fire_json_add_int(w, "pid", getpid());
    add_cpu(w);
    fire_json_add_int(w, "cores", fire_cores());
    fire_json_add_int(w, "memory", (int64_t)fire_memory_size());
    if (getcwd(directory, sizeof(directory)) != NULL)
        fire_json_add_string(w, "directory", directory);
    add_threads(w);
    if (e->launched && e->mpi != NULL) fire_json_add_string(w, "mpi", e->mpi);
    add_gpus(w, e);
}
