/* runtime.c - CUDA's runtime on the host. Every allocation of device memory ends right
 * before a page that is never accessible, and its own pages are accessible only while a
 * kernel or a copy runs: an overrun, or an access by host code, is a segmentation fault
 * at the very instruction. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cuda_runtime_api.h"

enum { PAGE = 4096 };
#define ARENA ((size_t)32 << 30) /* of addresses, not of memory */

typedef struct range {
    char  *base; /* first page; the page behind its end is never accessible */
    size_t bytes;
    bool   live, open;
} range_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char           *arena;
static size_t          arena_used, bytes_live;
static range_t        *range;
static size_t          nrange, cap;
static int             inside; /* kernels and copies now running */

/* Larger allocations are scratch memory of libraries: not filled with NaNs. */
enum { MUCH = 8 << 20 };

struct emulated_event {
    struct timespec at;
};

static void protect(range_t *r, int how)
{
    if (mprotect(r->base, r->bytes, how) != 0) perror("emulator: mprotect"), abort();
    r->open = how != PROT_NONE;
}

/* Ranges are in the order of their addresses. */
static range_t *range_at(const char *at)
{
    size_t low = 0, high = nrange;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (range[middle].base + range[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < nrange && range[low].live && at >= range[low].base ? &range[low]
                                                                    : NULL;
}

/* SIGSEGV: make a range accessible when a running kernel first touches it, as most
 * kernels use few ranges. Any other fault is left to happen again, which ends the
 * program. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    range_t *r = NULL;

    (void)context;
    pthread_mutex_lock(&lock);
    if (inside > 0) r = range_at(info->si_addr);
    if (r != NULL)
        protect(r, PROT_READ | PROT_WRITE);
    else
        signal(number, SIG_DFL);
    pthread_mutex_unlock(&lock);
}

static void watch_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags     = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
}

void emulator_enter(void)
{
    pthread_mutex_lock(&lock);
    inside++;
    pthread_mutex_unlock(&lock);
}

void emulator_leave(void)
{
    pthread_mutex_lock(&lock);
    if (--inside == 0)
        for (size_t i = 0; i < nrange; i++)
            if (range[i].open) protect(&range[i], PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* ---- memory ---- */

static range_t *find_free(size_t bytes)
{
    for (size_t i = 0; i < nrange; i++)
        if (!range[i].live && range[i].bytes == bytes) return &range[i];
    if (arena == NULL) watch_faults();
    if (arena == NULL)
        arena = mmap(NULL, ARENA, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED || arena_used + bytes + PAGE > ARENA) return NULL;
    if (nrange == cap) {
        cap   = cap > 0 ? cap * 2 : 256;
        range = realloc(range, cap * sizeof(*range));
    }
    range[nrange] = (range_t){.base = arena + arena_used, .bytes = bytes};
    arena_used += bytes + PAGE;
    return &range[nrange++];
}

/* Bytes of the GPU: the arena's, or what a test sets by EMULATOR_MEMORY. */
static size_t memory_size(void)
{
    const char *bytes = getenv("EMULATOR_MEMORY");

    return bytes != NULL ? strtoull(bytes, NULL, 10) : ARENA;
}

/* New memory is filled with NaNs, which show reads of uninitialised values. */
cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
    size_t   rounded = (bytes + 15) / 16 * 16, pages = (rounded + PAGE - 1) / PAGE;
    range_t *r;

    if (bytes == 0) return *ptr = NULL, cudaSuccess;
    pthread_mutex_lock(&lock);
    r = bytes_live + pages * PAGE > memory_size() ? NULL : find_free(pages * PAGE);
    if (r != NULL) {
        r->live = true;
        bytes_live += r->bytes;
        protect(r, PROT_READ | PROT_WRITE);
        if (r->bytes < MUCH) memset(r->base, 0xff, r->bytes);
        if (inside == 0) protect(r, PROT_NONE);
        *ptr = r->base + r->bytes - rounded;
    }
    pthread_mutex_unlock(&lock);
    return r != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *ptr)
{
    cudaError_t rc = ptr == NULL ? cudaSuccess : cudaErrorInvalidValue;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nrange && ptr != NULL; i++)
        if (range[i].live && (char *)ptr >= range[i].base &&
            (char *)ptr < range[i].base + range[i].bytes) {
            range[i].live = false;
            bytes_live -= range[i].bytes;
            protect(&range[i], PROT_NONE);
            rc = cudaSuccess;
        }
    pthread_mutex_unlock(&lock);
    return rc;
}

static bool is_device(const void *ptr)
{
    return arena != NULL && (const char *)ptr >= arena &&
           (const char *)ptr < arena + ARENA;
}

static bool fits(const void *dst, const void *src, cudaMemcpyKind kind)
{
    bool to   = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

    return kind == cudaMemcpyDefault ||
           (is_device(dst) == to && is_device(src) == from);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src,
                              size_t src_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)stream;
    if (width * height == 0) return cudaSuccess;
    if (!fits(dst, src, kind)) return cudaErrorInvalidValue;
    emulator_enter();
    for (size_t i = 0; i < height; i++)
        memmove((char *)dst + i * dst_pitch, (const char *)src + i * src_pitch, width);
    emulator_leave();
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpy2DAsync(dst, bytes, src, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(dst, src, bytes, kind, NULL);
}

cudaError_t cudaMemsetAsync(void *ptr, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    if (bytes > 0 && !is_device(ptr)) return cudaErrorInvalidValue;
    emulator_enter();
    if (bytes > 0) memset(ptr, value, bytes);
    emulator_leave();
    return cudaSuccess;
}

cudaError_t cudaMemset(void *ptr, int value, size_t bytes)
{
    return cudaMemsetAsync(ptr, value, bytes, NULL);
}

cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    (void)flags;
    *ptr = malloc(bytes > 0 ? bytes : 1);
    return *ptr != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *ptr)
{
    free(ptr);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    *all  = memory_size();
    *left = *all > bytes_live ? *all - bytes_live : 0;
    return cudaSuccess;
}

/* ---- one device, and streams that are always empty ---- */

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorInvalidValue       ? "invalid argument"
           : error == cudaErrorMemoryAllocation ? "out of memory"
           : error == cudaErrorNotSupported     ? "operation not supported"
                                                : "no error";
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

/* The compute capability to report: 9.0, or what EMULATOR_CAPABILITY says, as "7.5". */
static void capability(int *major_p, int *minor_p)
{
    const char *text = getenv("EMULATOR_CAPABILITY");

    if (text != NULL && sscanf(text, "%d.%d", major_p, minor_p) == 2) return;
    *major_p = 9;
    *minor_p = 0;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    (void)device;
    *prop = (struct cudaDeviceProp){"emulated on the CPU", memory_size(),
                                    .multiProcessorCount = 1};
    capability(&prop->major, &prop->minor);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device)
{
    int major, minor;

    (void)device;
    capability(&major, &minor);
    *value = attr == cudaDevAttrComputeCapabilityMajor   ? major
             : attr == cudaDevAttrComputeCapabilityMinor ? minor
                                                         : 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    static int asked;

    (void)device;
    snprintf(text, (size_t)size, "emulated:%d",
             __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED));
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = malloc(1);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(**event));
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    *ms = (float)(end->at.tv_sec - start->at.tv_sec) * 1e3f +
          (float)(end->at.tv_nsec - start->at.tv_nsec) * 1e-6f;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    (void)stream, (void)mode;
    return cudaErrorNotSupported;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    (void)stream, (void)graph;
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    (void)exec, (void)graph, (void)flags;
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)exec, (void)stream;
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    (void)exec;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    (void)graph;
    return cudaSuccess;
}
