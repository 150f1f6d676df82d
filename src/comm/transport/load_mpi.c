/* load_mpi.c - finds and opens an MPI library, then the module that was compiled for it.
 *
 *   libmpi.so.40         opened first, its symbols for all (RTLD_GLOBAL): Open MPI's own
 *                        plug-ins need them too
 *   fire_mpi_openmpi.so  names no MPI library, finds these symbols */
#include "comm/transport/load_mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/installed.h"
#include "comm/transport/cluster.h"

enum { TEXT = 256, LONG_TEXT = 1024 };

#ifndef FIRE_OPENMPI_LIBDIR
#    define FIRE_OPENMPI_LIBDIR NULL
#endif
#ifndef FIRE_MPICH_LIBDIR
#    define FIRE_MPICH_LIBDIR NULL
#endif

typedef struct kind {
    const char *name; /* in FIRE_MPI */
    const char *title, *module;
    const char *library[3]; /* its files, by ABI; NULL-terminated */
    const char *folder;     /* where it was when this was built; NULL: a usual place */
    const char *package;    /* Debian's */
} kind_t;

static const kind_t kinds[FIRE_MPI_KINDS] = {
    [FIRE_OPEN_MPI] = {.name    = "openmpi",
                       .title   = "Open MPI",
                       .module  = "fire_mpi_openmpi.so",
                       .library = {"libmpi.so.40"},
                       .folder  = FIRE_OPENMPI_LIBDIR,
                       .package = "openmpi-bin"},
    [FIRE_MPICH]    = {.name    = "mpich",
                       .title   = "MPICH",
                       .module  = "fire_mpi_mpich.so",
                       .library = {"libmpich.so.12", "libmpi.so.12"},
                       .folder  = FIRE_MPICH_LIBDIR,
                       .package = "mpich"},
};

/* ---- the library ---- */

/* What the MPI library of this process calls itself; false if it has none. */
static bool read_version(char *text, size_t size)
{
    char all[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH, the longest */
    int (*get)(char *, int *);
    void *symbol = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    int   n;

    if (symbol == NULL) return false;
    memcpy(&get, &symbol, sizeof(get));
    if (get(all, &n) != 0) return false;
    for (char *c = all; *c != '\0'; c++)
        if (*c == '\t') *c = ' ';
    snprintf(text, size, "%.*s", (int)strcspn(all, ",\n"), all);
    return true;
}

/* Libraries other than Open MPI have the ABI of MPICH, or none that is known here. */
static fire_mpi_kind_t kind_of(const char *version)
{
    return strncmp(version, "Open MPI", 8) == 0 ? FIRE_OPEN_MPI : FIRE_MPICH;
}

static void *open_library(const char *file, int more)
{
    return dlopen(file, RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE | more);
}

/* Whoever has linked or loaded an MPI library before must get the same one, if need be
 * by making its symbols visible. */
static bool find_opened(char *version, size_t size)
{
    for (int k = 0; k < FIRE_MPI_KINDS && !read_version(version, size); k++)
        for (int i = 0; kinds[k].library[i] != NULL; i++)
            open_library(kinds[k].library[i], RTLD_NOLOAD);
    return read_version(version, size);
}

/* cause: why the first name of the library did not do. */
static bool open_library_of(const kind_t *kind, char *cause, size_t size)
{
    char path[LONG_TEXT];

    for (int i = 0; kind->library[i] != NULL; i++) {
        if (open_library(kind->library[i], 0) != NULL) return true;
        if (i == 0) snprintf(cause, size, "%s", dlerror());
        if (kind->folder == NULL) continue;
        snprintf(path, sizeof(path), "%s/%s", kind->folder, kind->library[i]);
        if (open_library(path, 0) != NULL) return true;
    }
    return false;
}

/* ---- the module ---- */

static fire_status_t open_module(const kind_t *kind, const fire_mpi_t **mpi_p)
{
    char              path[LONG_TEXT];
    void             *module;
    const fire_mpi_t *mpi;

    if (!fire_installed_module(kind->module, path, sizeof(path)))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "this build has no module for %s (%s is not in %s); build it "
                         "where mpi.h of %s is installed",
                         kind->title, kind->module, path, kind->title);
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL) return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "%s", dlerror());
    mpi = dlsym(module, FIRE_MPI_TABLE);
    dlclose(module); /* it stays: RTLD_NODELETE */
    if (mpi == NULL || mpi->version != FIRE_MPI_VERSION)
        return FIRE_FAIL(
            FIRE_ERR_UNSUPPORTED,
            "%s is a module for version %d of libfire's MPI table, not for "
            "version %d: install program and modules together",
            path, mpi == NULL ? 0 : (int)mpi->version, FIRE_MPI_VERSION);
    *mpi_p = mpi;
    return FIRE_OK;
}

static fire_status_t load_opened(const char *version, const fire_mpi_t **mpi_p)
{
    return open_module(&kinds[kind_of(version)], mpi_p);
}

/* ---- which ---- */

static fire_status_t load_kind(const kind_t *kind, const fire_mpi_t **mpi_p)
{
    char version[TEXT], cause[LONG_TEXT] = "";

    if (!find_opened(version, sizeof(version))) {
        /* Look for the module first: without it, there is no use for the library. */
        char path[LONG_TEXT];

        if (fire_installed_module(kind->module, path, sizeof(path)) &&
            !open_library_of(kind, cause, sizeof(cause)))
            return FIRE_FAIL(
                FIRE_ERR_UNSUPPORTED,
                "%s is not installed (%s); on Debian install %s, elsewhere "
                "add its folder to LD_LIBRARY_PATH",
                kind->title, cause, kind->package);
    } else if (&kinds[kind_of(version)] != kind) {
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "this process uses %s already, so it cannot use %s", version,
                         kind->title);
    }
    return open_module(kind, mpi_p);
}

static fire_status_t load_file(const char *path, const fire_mpi_t **mpi_p)
{
    char version[TEXT];

    if (open_library(path, 0) == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "FIRE_MPI: %s", dlerror());
    if (!read_version(version, sizeof(version)))
        return FIRE_FAIL(FIRE_ERR_INVALID, "FIRE_MPI: %s is no MPI library", path);
    return load_opened(version, mpi_p);
}

static fire_status_t load_named(const char *name, const fire_mpi_t **mpi_p)
{
    if (strchr(name, '/') != NULL) return load_file(name, mpi_p);
    for (int k = 0; k < FIRE_MPI_KINDS; k++)
        if (strcmp(name, kinds[k].name) == 0) return load_kind(&kinds[k], mpi_p);
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "FIRE_MPI is \"%s\": it takes openmpi, mpich or the path of an MPI "
        "library",
        name);
}

/* The first that is there; if none is, tell what each lacks. */
static fire_status_t load_launched(const fire_mpi_t **mpi_p)
{
    fire_mpi_kind_t order[FIRE_MPI_KINDS];
    char            cause[FIRE_MPI_KINDS][LONG_TEXT];
    const char     *mark;
    int             n = fire_cluster_kinds(order, &mark);

    for (int i = 0; i < n; i++) {
        fire_status_t st = load_kind(&kinds[order[i]], mpi_p);

        if (st >= 0) return st;
        snprintf(cause[i], sizeof(cause[i]), "%s", fire_last_error());
    }
    if (n == 1)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "the launcher is %s's (%s is set): %s",
                         kinds[order[0]].title, mark, cause[0]);
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "several processes need MPI%s%s: %s; or: %s",
                     mark != NULL ? ", and there is " : "", mark != NULL ? mark : "",
                     cause[0], cause[1]);
}

#ifdef FIRE_SIMGRID
fire_status_t fire_mpi_load(const fire_mpi_t **mpi_p)
{
    (void)load_named, (void)load_launched;
    *mpi_p = &fire_mpi_table;
    return FIRE_OK;
}
#else
fire_status_t fire_mpi_load(const fire_mpi_t **mpi_p)
{
    const char *named = getenv("FIRE_MPI");
    char        version[TEXT];

    if (named != NULL && named[0] != '\0') return load_named(named, mpi_p);
    if (find_opened(version, sizeof(version))) return load_opened(version, mpi_p);
    return load_launched(mpi_p);
}
#endif

/* ---- what there is ---- */

void fire_cluster_library(char *text, size_t size)
{
    if (!read_version(text, size)) text[0] = '\0';
}

void fire_cluster_modules(char *text, size_t size)
{
    char   path[LONG_TEXT];
    size_t n = 0;

    text[0] = '\0';
    for (int k = 0; k < FIRE_MPI_KINDS; k++)
        if (n < size && fire_installed_module(kinds[k].module, path, sizeof(path)))
            n += (size_t)snprintf(text + n, size - n, "%s%s", n > 0 ? " and " : "",
                                  kinds[k].title);
}
