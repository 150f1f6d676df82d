/* virtual_memory.c - a large range of GPU addresses, reserved once and backed with
 * memory as a pool grows, so that memory in use never moves. By CUDA's driver calls for
 * virtual memory management; the runtime has none. */
#include <cuda.h>

#include "device/cuda/libs.h"

/* clang-format off */
#define CALLS(X)                                                      \
    X(MemAddressReserve) X(MemAddressFree) X(MemCreate) X(MemRelease) \
    X(MemMap) X(MemUnmap) X(MemSetAccess)
/* clang-format on */

#define X(name) __typeof__(&cu##name) name;
static struct {
    CALLS(X)
} cu;
#undef X

#define X(name) {"cu" #name, &cu.name},
static const fire_cuda_call_t calls[] = {CALLS(X){0}};
#undef X
static fire_cuda_lib_t driver = {.file = "libcuda.so.1", .call = calls};

/* The runtime has the same error codes as the driver. */
#define DRIVER(call) fire_cuda_status((cudaError_t)(call), #call, __FILE__, __LINE__)

enum { STEP = 2 << 20 }; /* bytes: the granularity of physical memory */

static size_t round_up(size_t bytes)
{
    return (bytes + STEP - 1) / STEP * STEP;
}

fire_status_t fire_cuda_reserve(void **ptr_p, size_t *bytes_p)
{
    size_t      left, all;
    CUdeviceptr at;

    FIRE_TRY(fire_cuda_lib_open(&driver));
    FIRE_TRY(FIRE_CUDA(cudaMemGetInfo(&left, &all)));
    FIRE_TRY(DRIVER(cu.MemAddressReserve(&at, round_up(all), 0, 0, 0)));
    *ptr_p   = (void *)(uintptr_t)at;
    *bytes_p = round_up(all);
    return FIRE_OK;
}

/* Back [at, at + bytes) with new memory of GPU `where`. */
static fire_status_t map(CUdeviceptr at, size_t bytes, const CUmemLocation *where)
{
    CUmemAllocationProp          prop   = {.type     = CU_MEM_ALLOCATION_TYPE_PINNED,
                                           .location = *where};
    CUmemAccessDesc              access = {*where, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    fire_status_t                st;

    FIRE_TRY(DRIVER(cu.MemCreate(&memory, bytes, &prop, 0)));
    st = DRIVER(cu.MemMap(at, bytes, 0, memory, 0));
    if (st >= 0) {
        st = DRIVER(cu.MemSetAccess(at, bytes, &access, 1));
        if (st < 0) cu.MemUnmap(at, bytes);
    }
    cu.MemRelease(memory); /* freed when it is unmapped */
    return st;
}

fire_status_t fire_cuda_commit(void *ptr, size_t bytes, size_t *committed_p)
{
    CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    size_t        want  = round_up(bytes);

    FIRE_TRY(FIRE_CUDA(cudaGetDevice(&where.id)));
    FIRE_TRY(
        map((CUdeviceptr)(uintptr_t)ptr + *committed_p, want - *committed_p, &where));
    fire_cuda_count_bytes((int64_t)(want - *committed_p));
    *committed_p = want;
    return FIRE_OK;
}

void fire_cuda_release(void *ptr, size_t bytes, size_t committed)
{
    cudaDeviceSynchronize();
    fire_cuda_count_bytes(-(int64_t)committed);
    if (committed > 0) cu.MemUnmap((CUdeviceptr)(uintptr_t)ptr, committed);
    cu.MemAddressFree((CUdeviceptr)(uintptr_t)ptr, bytes);
}
