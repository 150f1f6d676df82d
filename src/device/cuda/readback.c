/* readback.c - scalars copied from the GPU to the host while the GPU works on: a ring
 * of pinned buffers, each with an event that signals when its copy is complete. */
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"

struct fire_gpu_readback {
    fire_stream_t *stream;
    int64_t        n;             /* floats of one readback */
    float         *host;          /* pinned, FIRE_GPU_READBACKS * n floats */
    int            oldest, count; /* slot of the oldest; how many are outstanding */
    cudaEvent_t    arrived[FIRE_GPU_READBACKS];
};

fire_status_t fire_gpu_readback_create(fire_stream_t *stream, int64_t n,
                                       fire_gpu_readback_t **readback_p)
{
    fire_gpu_readback_t *p;
    fire_status_t        st;
    void                *host;

    FIRE_TRY(FIRE_NEW(&p, 1));
    p->stream = stream;
    p->n      = n;
    FIRE_TRY_GOTO(
        st,
        FIRE_CUDA(cudaHostAlloc(&host, (size_t)(FIRE_GPU_READBACKS * n) * sizeof(float),
                                cudaHostAllocDefault)),
        err_readback);
    p->host = host;
    for (int i = 0; i < FIRE_GPU_READBACKS; i++)
        FIRE_TRY_GOTO(
            st,
            FIRE_CUDA(cudaEventCreateWithFlags(&p->arrived[i], cudaEventDisableTiming)),
            err_readback);
    *readback_p = p;
    return FIRE_OK;

err_readback:
    fire_gpu_readback_destroy(p);
    return st;
}

void fire_gpu_readback_destroy(fire_gpu_readback_t *p)
{
    if (p == NULL) return;
    if (p->count > 0) cudaStreamSynchronize(p->stream->main.stream);
    for (int i = 0; i < FIRE_GPU_READBACKS; i++)
        if (p->arrived[i] != NULL) cudaEventDestroy(p->arrived[i]);
    cudaFreeHost(p->host);
    fire_free(p);
}

fire_status_t fire_gpu_readback_send(fire_gpu_readback_t *p, const float *src)
{
    int at = (p->oldest + p->count) % FIRE_GPU_READBACKS;

    FIRE_TRY(FIRE_CUDA(
        cudaMemcpyAsync(p->host + at * p->n, src, (size_t)p->n * sizeof(float),
                        cudaMemcpyDeviceToHost, p->stream->main.stream)));
    FIRE_TRY(FIRE_CUDA(cudaEventRecord(p->arrived[at], p->stream->main.stream)));
    p->count++;
    return FIRE_OK;
}

fire_status_t fire_gpu_readback_take(fire_gpu_readback_t *p, float *dst)
{
    int at = p->oldest;

    p->oldest = (at + 1) % FIRE_GPU_READBACKS;
    p->count--;
    FIRE_TRY(FIRE_CUDA(cudaEventSynchronize(p->arrived[at])));
    memcpy(dst, p->host + at * p->n, (size_t)p->n * sizeof(float));
    return fire_cuda_check_fault(p->stream);
}

bool fire_gpu_readback_is_pending(const fire_gpu_readback_t *p)
{
    int newest = (p->oldest + p->count + FIRE_GPU_READBACKS - 1) % FIRE_GPU_READBACKS;

    if (p->count == 0 || cudaEventQuery(p->arrived[newest]) == cudaSuccess)
        return false;
    cudaGetLastError(); /* "not ready" is no error */
    return true;
}
