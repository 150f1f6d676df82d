#include "device/cuda/cudnn.h"

#include "device/cuda/libs.h"

static fire_cudnn_t cudnn;

#define X(name) {"cudnn" #name, &cudnn.name},
static const fire_cuda_call_t calls[] = {FIRE_CUDNN_CALLS(X){0}};
#undef X
static fire_cuda_lib_t library = {.file = "libcudnn.so.9", .call = calls};

fire_status_t fire_cudnn_get(fire_stream_t *s, const fire_cudnn_t **calls_p,
                             cudnnHandle_t *handle_p)
{
    FIRE_TRY(fire_cuda_lib_open(&library));
    if (s->cudnn == NULL) {
        FIRE_TRY(FIRE_CUDNN(cudnn.Create((cudnnHandle_t *)&s->cudnn)));
        FIRE_TRY(FIRE_CUDNN(cudnn.SetStream(s->cudnn, s->lane.queue)));
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
