#include "device/cuda/cudnn.h"

#include <pthread.h>

#include "device/cuda/libs.h"

/* Written once; the library stays open for the life of the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fire_cudnn_t    cudnn;
static bool            is_open;

static fire_status_t open_calls(void)
{
    void *lib;

    if (is_open) return FIRE_OK;
    FIRE_TRY(fire_cuda_lib_open("libcudnn.so.9", &lib));
#define X(name) FIRE_TRY(fire_cuda_lib_find(lib, "cudnn" #name, &cudnn.name));
    FIRE_CUDNN_CALLS(X)
#undef X
    is_open = true;
    return FIRE_OK;
}

fire_status_t fire_cudnn_get(fire_stream_t *s, const fire_cudnn_t **calls_p,
                             cudnnHandle_t *handle_p)
{
    fire_status_t st;

    pthread_mutex_lock(&lock);
    st = open_calls();
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

fire_status_t fire_cudnn_status(cudnnStatus_t rc, const char *what, const char *file,
                                int line)
{
    if (rc == CUDNN_STATUS_SUCCESS) return FIRE_OK;
    fire_error_set(FIRE_ERR_DEVICE, file, line, "cuDNN: %s: %s", what,
                   cudnn.GetErrorString != NULL ? cudnn.GetErrorString(rc) : "?");
    return FIRE_ERR_DEVICE;
}
