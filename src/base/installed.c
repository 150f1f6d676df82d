/* installed.c - looks for share/firecaffe and lib/firecaffe around the program or the
 * shared library. */
#include "base/installed.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PREFIX/bin/firecaffe is one folder below the prefix, PREFIX/lib/libfire.so too;
 * Debian's PREFIX/lib/x86_64-linux-gnu/firecaffe/cpu/ is four below it. */
enum { MOST_LEVELS = 4 };

/* Folder of libraries, below the prefix: "lib" or "lib/x86_64-linux-gnu". */
#ifndef FIRE_LIBDIR
#    define FIRE_LIBDIR "lib"
#endif

/* The absolute path of the file that this function was loaded from. dladdr() gives the
 * full path of a shared library, but only argv[0] of a program. */
static bool own_path(char out[PATH_MAX])
{
    Dl_info info;

    if (dladdr((const void *)(uintptr_t)own_path, &info) != 0 &&
        info.dli_fname != NULL && strstr(info.dli_fname, ".so") != NULL &&
        realpath(info.dli_fname, out) != NULL)
        return true;
    return realpath("/proc/self/exe", out) != NULL;
}

static bool may_be_shared(const char *relative)
{
    const char *at = relative;

    if (relative[0] == '/' || relative[0] == '\0') return false;
    while ((at = strstr(at, "..")) != NULL) {
        bool begins = at == relative || at[-1] == '/';

        if (begins && (at[2] == '/' || at[2] == '\0')) return false;
        at += 2;
    }
    return true;
}

/* Removes the last component of a path; false if none is left. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL) return false;
    *slash = '\0';
    return true;
}

bool fire_installed_find(const char *relative, char *path_p, size_t size)
{
    char folder[PATH_MAX];

    path_p[0] = '\0';
    if (!may_be_shared(relative) || !own_path(folder) || !go_up(folder)) return false;
    for (int i = 0; i < MOST_LEVELS && go_up(folder); i++) {
        int n = snprintf(path_p, size, "%s/share/firecaffe/%s", folder, relative);

        if (n > 0 && (size_t)n < size && access(path_p, R_OK) == 0) return true;
    }
    path_p[0] = '\0';
    return false;
}

bool fire_installed_module(const char *name, char *path_p, size_t size)
{
    char folder[PATH_MAX] = "", up[PATH_MAX];

    path_p[0] = '\0';
    if (!own_path(folder) || !go_up(folder)) return false;
    snprintf(up, sizeof(up), "%s", folder);
    go_up(up);
    const struct {
        const char *base, *below;
    } place[] = {
        {folder, "firecaffe"},          /* of PREFIX/lib/libfire.so */
        {folder, "lib/firecaffe"},      /* of a program in the build folder */
        {up, "lib/firecaffe"},          /* of its tests, and of PREFIX/bin */
        {up, FIRE_LIBDIR "/firecaffe"}, /* the same, with Debian's folders */
        {up, "."}, /* of PREFIX/lib/x86_64-linux-gnu/firecaffe/cpu */
    };
    enum { PLACES = sizeof(place) / sizeof(place[0]) };
    size_t n = 0;

    for (int i = 0; i < PLACES; i++) {
        snprintf(path_p, size, "%s/%s/%s", place[i].base, place[i].below, name);
        if (access(path_p, R_OK) == 0) return true;
    }
    for (int i = 0; i < PLACES && n < size; i++)
        n += (size_t)snprintf(path_p + n, size - n, "%s%s/%s", i > 0 ? ", " : "",
                              place[i].base, place[i].below);
    return false;
}
