/* libs.c - NVIDIA's libraries opened by dlopen, see libs.h. */
#include "device/cuda/libs.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* folders: separated by colons, or NULL. NULL where none of them has the library. */
static void *open_in(const char *folders, const char *name)
{
    char path[1024];

    while (folders != NULL && *folders != '\0') {
        size_t n = strcspn(folders, ":");
        void  *lib;

        snprintf(path, sizeof(path), "%.*s/%s", (int)n, folders, name);
        lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (lib != NULL) return lib;
        folders += n + (folders[n] == ':');
    }
    return NULL;
}

/* Where pip installs NVIDIA's packages. */
static void *open_beside_python(const char *name)
{
    static const char *const patterns[] = {
        "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib",
        "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
        "/usr/lib/python3*/*-packages/nvidia/*/lib",
    };
    void *lib = NULL;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && lib == NULL; i++) {
        glob_t g = {0};

        if (glob(patterns[i], 0, NULL, &g) == 0)
            for (size_t k = 0; k < g.gl_pathc && lib == NULL; k++)
                lib = open_in(g.gl_pathv[k], name);
        globfree(&g);
    }
    return lib;
}

static fire_status_t find_file(const char *name, void **lib_p)
{
    void *lib = open_in(getenv("FIRE_CUDA_LIBS"), name);

    if (lib == NULL) lib = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (lib == NULL) lib = open_beside_python(name);
    if (lib == NULL)
        return FIRE_FAIL(FIRE_ERR_DEVICE,
                         "cannot open %s: install it, or name its folder in "
                         "FIRE_CUDA_LIBS",
                         name);
    *lib_p = lib;
    return FIRE_OK;
}

static fire_status_t fill_calls(fire_cuda_lib_t *lib)
{
    void *file;

    if (lib->is_open) return FIRE_OK;
    FIRE_TRY(find_file(lib->file, &file));
    for (const fire_cuda_call_t *c = lib->call; c->name != NULL; c++) {
        void *call = dlsym(file, c->name);

        if (call == NULL)
            return FIRE_FAIL(FIRE_ERR_DEVICE, "%s here lacks %s: it is too old",
                             lib->file, c->name);
        memcpy(c->call_p, &call, sizeof(call));
    }
    lib->is_open = true;
    return FIRE_OK;
}

fire_status_t fire_cuda_lib_open(fire_cuda_lib_t *lib)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    fire_status_t          st;

    pthread_mutex_lock(&lock);
    st = fill_calls(lib);
    pthread_mutex_unlock(&lock);
    return st;
}
