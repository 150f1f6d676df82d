/* cudnn.c - opens libcudnn and a worker's handle on first use. */
#include "device/cuda/cudnn/cudnn.h"

#include "device/cuda/libs.h"

static fire_cudnn_t cudnn;

#define X(name) {"cudnn" #name, &cudnn.name},
static const fire_cuda_call_t calls[] = {FIRE_CUDNN_CALLS(X){0}};
#undef X
static fire_cuda_lib_t library = {.file = "libcudnn.so." FIRE_CUDA_WORD(CUDNN_MAJOR),
                                  .call = calls};

/* All or nothing: a handle that is not tied to the queue would run concurrently to
 * it. */
static fire_status_t open_handle(fire_stream_t *s)
{
    cudnnHandle_t handle;
    fire_status_t st;

    FIRE_TRY(FIRE_CUDNN(cudnn.Create(&handle)));
    st = FIRE_CUDNN(cudnn.SetStream(handle, s->main.stream));
    if (st < 0)
        cudnn.Destroy(handle);
    else
        s->cudnn = handle;
    return st;
}

fire_status_t fire_cudnn_get(fire_stream_t *s, const fire_cudnn_t **calls_p,
                             cudnnHandle_t *handle_p)
{
    FIRE_TRY(fire_cuda_lib_open(&library));
    if (s->cudnn == NULL) FIRE_TRY(open_handle(s));
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
