#include "device/cuda/libs.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Libraries stay open for the life of the process; the tables are written once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fire_cublas_t   cublas;
static fire_cudnn_t    cudnn;
static bool            has_cublas, has_cudnn;

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

/* pip's packages put them there. */
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

static fire_status_t open_lib(const char *name, void **lib_p)
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

static fire_status_t find_call(void *lib, const char *name, void *call_p)
{
    void *call = dlsym(lib, name);

    if (call == NULL)
        return FIRE_FAIL(FIRE_ERR_DEVICE,
                         "the GPU library here lacks %s: it is too old", name);
    memcpy(call_p, &call, sizeof(call));
    return FIRE_OK;
}

static fire_status_t open_cublas(void)
{
    void *lib;

    if (has_cublas) return FIRE_OK;
    FIRE_TRY(open_lib("libcublas.so.13", &lib));
#define X(name) FIRE_TRY(find_call(lib, "cublas" #name, &cublas.name));
    FIRE_CUBLAS_CALLS(X)
#undef X
    has_cublas = true;
    return FIRE_OK;
}

static fire_status_t open_cudnn(void)
{
    void *lib;

    if (has_cudnn) return FIRE_OK;
    FIRE_TRY(open_lib("libcudnn.so.9", &lib));
#define X(name) FIRE_TRY(find_call(lib, "cudnn" #name, &cudnn.name));
    FIRE_CUDNN_CALLS(X)
#undef X
    has_cudnn = true;
    return FIRE_OK;
}

fire_status_t fire_cublas_get(fire_stream_t *s, const fire_cublas_t **calls_p,
                              cublasHandle_t *handle_p)
{
    fire_status_t st;

    pthread_mutex_lock(&lock);
    st = open_cublas();
    pthread_mutex_unlock(&lock);
    FIRE_TRY(st);
    if (s->cublas == NULL) {
        FIRE_TRY(FIRE_CUBLAS(cublas.Create_v2((cublasHandle_t *)&s->cublas)));
        FIRE_TRY(FIRE_CUBLAS(cublas.SetStream_v2(s->cublas, s->queue)));
    }
    *calls_p  = &cublas;
    *handle_p = s->cublas;
    return FIRE_OK;
}

fire_status_t fire_cudnn_get(fire_stream_t *s, const fire_cudnn_t **calls_p,
                             cudnnHandle_t *handle_p)
{
    fire_status_t st;

    pthread_mutex_lock(&lock);
    st = open_cudnn();
    pthread_mutex_unlock(&lock);
    FIRE_TRY(st);
    if (s->cudnn == NULL) {
        FIRE_TRY(FIRE_CUDNN(cudnn.Create((cudnnHandle_t *)&s->cudnn)));
        FIRE_TRY(FIRE_CUDNN(cudnn.SetStream(s->cudnn, s->queue)));
    }
    *calls_p  = &cudnn;
    *handle_p = s->cudnn;
    return FIRE_OK;
}

void fire_cuda_libs_close(fire_stream_t *s)
{
    if (s->cublas != NULL) cublas.Destroy_v2(s->cublas);
    if (s->cudnn != NULL) cudnn.Destroy(s->cudnn);
}

fire_status_t fire_cublas_status(cublasStatus_t rc, const char *what, const char *file,
                                 int line)
{
    if (rc == CUBLAS_STATUS_SUCCESS) return FIRE_OK;
    fire_error_set(FIRE_ERR_DEVICE, file, line, "cuBLAS: %s: code %d", what, (int)rc);
    return FIRE_ERR_DEVICE;
}

fire_status_t fire_cudnn_status(cudnnStatus_t rc, const char *what, const char *file,
                                int line)
{
    if (rc == CUDNN_STATUS_SUCCESS) return FIRE_OK;
    fire_error_set(FIRE_ERR_DEVICE, file, line, "cuDNN: %s: %s", what,
                   cudnn.GetErrorString != NULL ? cudnn.GetErrorString(rc) : "?");
    return FIRE_ERR_DEVICE;
}
