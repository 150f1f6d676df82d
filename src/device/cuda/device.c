/* device.c - one NVIDIA GPU as a place for memory and work: the device's table and the
 * worker's stream. The CUDA runtime is linked statically and looks for the driver on
 * its first call, so that the same program starts on a machine without one. */
#include <stdio.h>

#include "base/alloc.h"
#include "device/arch.h"
#include "device/cuda/cublas.h"
#include "device/cuda/cuda.h"
#include "device/tune.h"
#ifdef FIRE_HAVE_CUDNN
#    include "device/cuda/cudnn/conv_cudnn.h"
#endif

fire_status_t fire_cuda_status(cudaError_t rc, const char *what, const char *file,
                               int line)
{
    size_t left = 0, all = 0;

    if (rc == cudaSuccess) return FIRE_OK;
    cudaGetLastError(); /* clear it, or the next launch would report it again */
    if (rc == cudaErrorMemoryAllocation) {
        cudaMemGetInfo(&left, &all);
        fire_error_set(FIRE_ERR_NOMEM, file, line,
                       "out of GPU memory (%.1f of %.1f GiB left): use a smaller "
                       "batch_size, or --precision bf16",
                       (double)left / (1 << 30), (double)all / (1 << 30));
        return FIRE_ERR_NOMEM;
    }
    fire_error_set(FIRE_ERR_DEVICE, file, line, "GPU: %s: %s%s", what,
                   cudaGetErrorString(rc),
                   rc == cudaErrorNoKernelImageForDevice
                       ? "; build for it: `firecaffe device_query` says how"
                       : "");
    return FIRE_ERR_DEVICE;
}

int fire_gpu_count(const char **why_p)
{
    int         n  = 0;
    cudaError_t rc = cudaGetDeviceCount(&n);

    *why_p = rc == cudaErrorInsufficientDriver
                 ? "no NVIDIA driver, or one that is too old"
             : rc != cudaSuccess ? cudaGetErrorString(rc)
                                 : "no NVIDIA GPU";
    return rc == cudaSuccess ? n : 0;
}

fire_status_t fire_gpu_describe(int index, char *text, size_t size)
{
    struct cudaDeviceProp p;

    FIRE_TRY(FIRE_CUDA(cudaGetDeviceProperties(&p, index)));
    snprintf(text, size, "%s, %.1f GiB, compute capability %d.%d", p.name,
             (double)p.totalGlobalMem / (1 << 30), p.major, p.minor);
    return FIRE_OK;
}

fire_status_t fire_gpu_capability(int index, int *capability_p)
{
    int major, minor;

    FIRE_TRY(FIRE_CUDA(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index)));
    FIRE_TRY(FIRE_CUDA(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index)));
    *capability_p = 10 * major + minor;
    return FIRE_OK;
}

const char *fire_gpu_archs(void)
{
    return FIRE_CUDA_CODE;
}

fire_status_t fire_gpu_check_precision(const fire_stream_t *s, fire_dtype_t precision,
                                       bool tf32)
{
    return fire_arch_check_precision(s->capability, precision, tf32);
}

/* Refuse a GPU that the build has no code for: else its first kernel would fail. */
static fire_status_t check_arch(int index, int *capability_p)
{
    char name[256], archs[128];

    FIRE_TRY(fire_gpu_capability(index, capability_p));
    if (fire_arch_match(FIRE_CUDA_CODE, *capability_p) != FIRE_ARCH_NONE)
        return FIRE_OK;
    FIRE_TRY(fire_gpu_describe(index, name, sizeof(name)));
    fire_arch_describe(FIRE_CUDA_CODE, archs, sizeof(archs));
    return FIRE_FAIL(FIRE_ERR_DEVICE,
                     "this program has no code for GPU %d (%s), only for %s: build it "
                     "with -DFIRE_CUDA_ARCHS=%d",
                     index, name, archs, *capability_p);
}

/* ---- memory ---- */

/* The stream this thread uses; per thread, as CUDA's current device is. */
static _Thread_local fire_stream_t *current;

cudaStream_t fire_cuda_queue(void)
{
    return current != NULL ? current->main.stream : 0;
}

static fire_status_t gpu_clear(void *dst, size_t bytes)
{
    return FIRE_CUDA(cudaMemsetAsync(dst, 0, bytes, fire_cuda_queue()));
}

static fire_status_t gpu_alloc(size_t bytes, void **ptr_p)
{
    void         *ptr;
    fire_status_t st;

    FIRE_TRY(fire_cuda_alloc(bytes, &ptr));
    st = gpu_clear(ptr, bytes);
    if (st < 0) {
        fire_cuda_free(ptr);
        return st;
    }
    *ptr_p = ptr;
    return FIRE_OK;
}

/* For pageable host memory, CUDA returns when it has read src. */
static fire_status_t gpu_from_host(void *dst, const void *src, size_t bytes)
{
    return FIRE_CUDA(
        cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, fire_cuda_queue()));
}

static fire_status_t gpu_to_host(void *dst, const void *src, size_t bytes)
{
    FIRE_TRY(FIRE_CUDA(
        cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, fire_cuda_queue())));
    FIRE_TRY(FIRE_CUDA(cudaStreamSynchronize(fire_cuda_queue())));
    return current != NULL ? fire_cuda_check_fault(current) : FIRE_OK;
}

static fire_status_t gpu_copy(void *dst, const void *src, size_t bytes)
{
    return FIRE_CUDA(
        cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, fire_cuda_queue()));
}

static const fire_device_t gpu = {
    .name       = "cuda",
    .place      = FIRE_GPU,
    .alloc      = gpu_alloc,
    .free       = fire_cuda_free,
    .from_host  = gpu_from_host,
    .to_host    = gpu_to_host,
    .convert    = fire_cuda_convert,
    .copy       = gpu_copy,
    .clear      = gpu_clear,
    .fill       = fire_cuda_fill,
    .add_left   = fire_cuda_add_left,
    .add_scaled = fire_cuda_add_scaled,
    .reserve    = fire_cuda_reserve,
    .commit     = fire_cuda_commit,
    .release    = fire_cuda_release,
};

/* ---- queues ---- */

/* Allocate the step state, all zero, and the pinned fault record. */
static fire_status_t make_step_state(fire_stream_t *s)
{
    void *host;

    FIRE_TRY(fire_cuda_alloc(64, (void **)&s->step_state.step));
    s->step_state.rate       = (float *)(s->step_state.step + 1);
    s->step_state.correction = s->step_state.rate + 1;
    s->step_state.scale      = s->step_state.rate + 2;
    s->step_state.good       = (int *)(s->step_state.rate + 3);
    s->step_state.skip       = s->step_state.good + 1;
    FIRE_TRY(FIRE_CUDA(cudaHostAlloc(&host, sizeof(*s->fault), cudaHostAllocDefault)));
    s->fault        = host;
    s->fault->layer = 0;
    return FIRE_CUDA(cudaMemsetAsync(s->step_state.step, 0, 64, s->main.stream));
}

fire_status_t fire_gpu_open(int index, fire_stream_t **stream_p)
{
    const char    *why;
    int            n = fire_gpu_count(&why), capability;
    fire_stream_t *s;
    fire_status_t  st;

    if (n == 0)
        return FIRE_FAIL(FIRE_ERR_DEVICE,
                         "cannot use a GPU: %s; leave --gpu out to run on "
                         "the CPU",
                         why);
    if (index < 0 || index >= n)
        return FIRE_FAIL(FIRE_ERR_DEVICE,
                         "there is no GPU %d: this machine has %d, from 0", index, n);
    FIRE_TRY(check_arch(index, &capability));
    FIRE_TRY(FIRE_NEW(&s, 1));
    s->device     = index;
    s->capability = capability;
    FIRE_TRY_GOTO(st, FIRE_CUDA(cudaSetDevice(index)), err_stream);
    FIRE_TRY_GOTO(st,
                  FIRE_CUDA(cudaDeviceGetAttribute(
                      &s->multiprocessors, cudaDevAttrMultiProcessorCount, index)),
                  err_stream);
    FIRE_TRY_GOTO(st, FIRE_CUDA(cudaStreamCreate(&s->main.stream)), err_stream);
    FIRE_TRY_GOTO(
        st,
        FIRE_CUDA(cudaStreamCreateWithFlags(&s->upload_queue, cudaStreamNonBlocking)),
        err_queue);
    FIRE_TRY_GOTO(st, make_step_state(s), err_state);
    fire_device_add(&gpu);
    current   = s;
    *stream_p = s;
    return FIRE_OK;

err_state:
    cudaFreeHost((void *)s->fault);
    fire_cuda_free(s->step_state.step);
    cudaStreamDestroy(s->upload_queue);
err_queue:
    cudaStreamDestroy(s->main.stream);
err_stream:
    fire_free(s);
    return st;
}

void fire_cuda_work_queue_close(fire_cuda_work_queue_t *queue)
{
    fire_cublas_close(queue);
    fire_cuda_free(queue->workspace.memory);
    fire_cuda_free(queue->scratch.memory);
    cudaStreamDestroy(queue->stream);
    *queue = (fire_cuda_work_queue_t){0};
}

void fire_gpu_close(fire_stream_t *s)
{
    if (s == NULL) return;
    cudaStreamSynchronize(s->main.stream);
    fire_cuda_side_queue_close(s);
#ifdef FIRE_HAVE_CUDNN
    fire_cudnn_close(s);
#endif
    fire_tune_close(s->tune);
    fire_cuda_free(s->step_state.step);
    cudaFreeHost((void *)s->fault);
    for (int64_t i = 0; i < s->nname; i++)
        fire_free(s->name[i]);
    fire_free(s->name);
    cudaStreamDestroy(s->upload_queue);
    fire_cuda_free(s->squares.memory);
    fire_cuda_work_queue_close(&s->main);
    if (current == s) current = NULL;
    fire_free(s);
}

void fire_gpu_use(fire_stream_t *s)
{
    current = s;
    if (s != NULL) cudaSetDevice(s->device);
}

void fire_gpu_set_shared(fire_stream_t *s)
{
    s->shared = true;
}

fire_status_t fire_gpu_sync(fire_stream_t *s)
{
    FIRE_TRY(FIRE_CUDA(cudaStreamSynchronize(s->main.stream)));
    return fire_cuda_check_fault(s);
}

/* Make scratch memory m at least `bytes` large; its contents are lost if it grows. */
static fire_status_t fit(fire_stream_t *s, fire_cuda_scratch_t *m, size_t bytes,
                         void **memory_p)
{
    if (bytes > m->bytes) {
        FIRE_TRY(fire_gpu_sync(s)); /* queued kernels may still use the old memory */
        fire_cuda_free(m->memory);
        *m = (fire_cuda_scratch_t){0};
        s->generation++; /* first: graphs recorded with the old memory must not run */
        FIRE_TRY(fire_cuda_alloc(bytes, &m->memory));
        m->bytes = bytes;
    }
    *memory_p = m->memory;
    return FIRE_OK;
}

fire_status_t fire_cuda_workspace(fire_stream_t *s, size_t bytes, void **memory_p)
{
    return fit(s, &s->main.workspace, bytes, memory_p);
}

fire_status_t fire_cuda_scratch(fire_stream_t *s, size_t bytes, void **memory_p)
{
    return fit(s, &s->main.scratch, bytes, memory_p);
}

fire_status_t fire_cuda_squares(fire_stream_t *s, size_t bytes, void **memory_p)
{
    return fit(s, &s->squares, bytes, memory_p);
}
