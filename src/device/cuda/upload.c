/* upload.c - host memory copied to the GPU while the GPU works on something else.
 * Waiting is by events: the host waits only for host memory, queues wait for each other
 * on the GPU. */
#include "base/alloc.h"
#include "device/cuda/cuda.h"

struct fire_gpu_upload {
    fire_stream_t *stream;
    void          *host, *device; /* pinned host memory; GPU memory; both owned */
    size_t         bytes;         /* of each */
    bool           sent_once, opened_once;
    bool           waited;         /* the last open() made the queue wait */
    cudaEvent_t    sent;           /* the copy is complete */
    cudaEvent_t    asked, arrived; /* the queue began to wait; it went on */
    cudaEvent_t    read;           /* the GPU buffer may be overwritten */
};

fire_status_t fire_gpu_upload_create(fire_stream_t      *stream,
                                     fire_gpu_upload_t **upload_p)
{
    fire_gpu_upload_t *p;
    fire_status_t      st;

    FIRE_TRY(FIRE_NEW(&p, 1));
    p->stream = stream;
    FIRE_TRY_GOTO(
        st, FIRE_CUDA(cudaEventCreateWithFlags(&p->sent, cudaEventDisableTiming)), err);
    FIRE_TRY_GOTO(
        st, FIRE_CUDA(cudaEventCreateWithFlags(&p->read, cudaEventDisableTiming)), err);
    FIRE_TRY_GOTO(st, FIRE_CUDA(cudaEventCreate(&p->asked)), err);
    FIRE_TRY_GOTO(st, FIRE_CUDA(cudaEventCreate(&p->arrived)), err);
    *upload_p = p;
    return FIRE_OK;

err:
    fire_gpu_upload_destroy(p);
    return st;
}

static void free_memory(fire_gpu_upload_t *p)
{
    cudaFreeHost(p->host);
    fire_cuda_free(p->device);
    p->host = p->device = NULL;
    p->bytes            = 0;
}

static void drop(cudaEvent_t event)
{
    if (event != NULL) cudaEventDestroy(event);
}

void fire_gpu_upload_destroy(fire_gpu_upload_t *p)
{
    if (p == NULL) return;
    if (p->sent_once) cudaEventSynchronize(p->sent);
    if (p->opened_once) cudaEventSynchronize(p->read);
    free_memory(p);
    drop(p->sent);
    drop(p->asked);
    drop(p->arrived);
    drop(p->read);
    fire_free(p);
}

fire_status_t fire_gpu_upload_fit(fire_gpu_upload_t *p, size_t bytes, void **host_p)
{
    if (p->sent_once) FIRE_TRY(FIRE_CUDA(cudaEventSynchronize(p->sent)));
    if (bytes > p->bytes) {
        if (p->opened_once) FIRE_TRY(FIRE_CUDA(cudaEventSynchronize(p->read)));
        free_memory(p);
        FIRE_TRY(FIRE_CUDA(cudaSetDevice(p->stream->device)));
        FIRE_TRY(FIRE_CUDA(cudaHostAlloc(&p->host, bytes, cudaHostAllocDefault)));
        FIRE_TRY(fire_cuda_alloc(bytes, &p->device));
        p->bytes = bytes;
    }
    *host_p = p->host;
    return FIRE_OK;
}

fire_status_t fire_gpu_upload_send(fire_gpu_upload_t *p, size_t bytes)
{
    cudaStream_t q = p->stream->upload_queue;

    if (p->opened_once) FIRE_TRY(FIRE_CUDA(cudaStreamWaitEvent(q, p->read, 0)));
    FIRE_TRY(FIRE_CUDA(
        cudaMemcpyAsync(p->device, p->host, bytes, cudaMemcpyHostToDevice, q)));
    p->sent_once = true;
    return FIRE_CUDA(cudaEventRecord(p->sent, q));
}

static bool is_over(cudaEvent_t event)
{
    if (cudaEventQuery(event) == cudaSuccess) return true;
    cudaGetLastError(); /* "not ready" is no error */
    return false;
}

/* Mostly the copy is complete by now: then there is no wait to queue or to measure. */
fire_status_t fire_gpu_upload_open(fire_gpu_upload_t *p, const void **memory_p)
{
    cudaStream_t q = p->stream->main.stream;

    p->waited = !is_over(p->sent);
    if (p->waited) {
        FIRE_TRY(FIRE_CUDA(cudaEventRecord(p->asked, q)));
        FIRE_TRY(FIRE_CUDA(cudaStreamWaitEvent(q, p->sent, 0)));
        FIRE_TRY(FIRE_CUDA(cudaEventRecord(p->arrived, q)));
    }
    *memory_p = p->device;
    return FIRE_OK;
}

fire_status_t fire_gpu_upload_close(fire_gpu_upload_t *p)
{
    p->opened_once = true;
    return FIRE_CUDA(cudaEventRecord(p->read, p->stream->main.stream));
}

double fire_gpu_upload_stall(const fire_gpu_upload_t *p)
{
    float ms;

    if (!p->waited || !is_over(p->arrived) ||
        cudaEventElapsedTime(&ms, p->asked, p->arrived) != cudaSuccess)
        return 0;
    return 1e-3 * (double)ms;
}
