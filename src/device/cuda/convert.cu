/* convert.cu - between float32, bfloat16 and float16, plain and channels last. Runs on
 * the legacy stream, which waits for the worker's queue and is waited for by it. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device/cuda/convert.h"

template <typename To, typename From> __device__ static To cast(From x)
{
    return (To)(float)x;
}

/* Index in the destination of element i of the source. */
struct same_place {
    __device__ int64_t operator()(int64_t i) const
    {
        return i;
    }
};

/* (n, a, b) -> (n, b, a) */
struct swapped {
    int64_t            a, b;
    __device__ int64_t operator()(int64_t i) const
    {
        int64_t n = i / (a * b), x = i / b % a, y = i % b;

        return (n * b + y) * a + x;
    }
};

template <typename To, typename From, typename Place>
__global__ static void convert(int64_t n, const From *src, To *dst, Place place)
{
    FIRE_GRID_STRIDE (i, n) {
        dst[place(i)] = cast<To>(src[i]);
    }
}

template <typename To, typename From>
static fire_status_t run(int64_t n, const void *src, void *dst, bool swap, int64_t a,
                         int64_t b)
{
    unsigned grid = (unsigned)((n + FIRE_CUDA_BLOCK - 1) / FIRE_CUDA_BLOCK);

    if (n == 0) return FIRE_OK;
    grid = grid < 65536 ? grid : 65536;
    if (swap)
        convert<<<grid, FIRE_CUDA_BLOCK>>>(n, (const From *)src, (To *)dst,
                                           swapped{a, b});
    else
        convert<<<grid, FIRE_CUDA_BLOCK>>>(n, (const From *)src, (To *)dst,
                                           same_place());
    return FIRE_CUDA(cudaGetLastError());
}

template <typename From>
static fire_status_t run_to(fire_dtype_t to, int64_t n, const void *src, void *dst,
                            bool swap, int64_t a, int64_t b)
{
    switch (to) {
    case FIRE_BF16:
        return run<__nv_bfloat16, From>(n, src, dst, swap, a, b);
    case FIRE_F16:
        return run<__half, From>(n, src, dst, swap, a, b);
    default:
        return run<float, From>(n, src, dst, swap, a, b);
    }
}

fire_status_t fire_cuda_convert(const fire_format_t *from, const void *src,
                                const fire_format_t *to, void *dst, int ndim,
                                const int64_t *dim)
{
    bool    swap = from->layout != to->layout;
    int64_t n = 1, a = 1, b = 1;

    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    if (swap && ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID, "channels-last needs 4 axes, not %d", ndim);
    if (swap) {
        bool to_plain = to->layout == FIRE_PLAIN;

        a = to_plain ? dim[2] * dim[3] : dim[1];
        b = to_plain ? dim[1] : dim[2] * dim[3];
    }
    switch (from->dtype) {
    case FIRE_BF16:
        return run_to<__nv_bfloat16>(to->dtype, n, src, dst, swap, a, b);
    case FIRE_F16:
        return run_to<__half>(to->dtype, n, src, dst, swap, a, b);
    default:
        return run_to<float>(to->dtype, n, src, dst, swap, a, b);
    }
}
