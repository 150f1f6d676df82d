/* range.c - addresses of a GPU reserved at once, with memory behind them as it is needed,
 * so that what is in use never moves. Needs the driver's own calls. */
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

/* Codes of the driver mean the same in the runtime. */
#define DRIVER(call) fire_cuda_status((cudaError_t)(call), #call, __FILE__, __LINE__)

enum { STEP = 2 << 20 }; /* a page of the GPU */

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
    cu.MemRelease(memory); /* it lives as long as it is mapped */
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
