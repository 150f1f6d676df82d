/* split.c - one blob for several readers. The net inserts a Split where layers share a
 * blob: its tops share the bottom's data, and each reader writes a diff of its own,
 * which backward adds up. */
#include "device/cpu/raw.h"
#include "layers/common/eltwise.h"

enum { SIMD_TOPS = 16 };

static fire_status_t split_reshape(fire_layer_t *l)
{
    for (int i = 0; i < l->ntop; i++) {
        FIRE_TRY(fire_blob_reshape_like(l->top[i], l->bottom[0]));
        fire_blob_share(l->top[i], l->bottom[0], FIRE_DATA);
    }
    return FIRE_OK;
}

/* The tops share the bottom's data. Share anew in each pass: the bottom's memory may
 * have been replaced since. */
static fire_status_t split_forward(fire_layer_t *l)
{
    for (int i = 0; i < l->ntop; i++)
        fire_blob_share(l->top[i], l->bottom[0], FIRE_DATA);
    return FIRE_OK;
}

static fire_status_t split_backward(fire_layer_t *l)
{
    int64_t      n = fire_blob_count(l->bottom[0]);
    const float *a, *b;
    float       *sum;

    if (!l->propagate_down[0]) return FIRE_OK;
    if (l->ntop == 1) return fire_blob_copy(l->bottom[0], l->top[0], FIRE_DIFF);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &a);
    FIRE_IN(l, l->top[1], FIRE_DIFF, &b);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &sum);
    for (int64_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
    for (int t = 2; t < l->ntop; t++) {
        FIRE_IN(l, l->top[t], FIRE_DIFF, &a);
        for (int64_t i = 0; i < n; i++)
            sum[i] += a[i];
    }
    return FIRE_OK;
}

/* Adds up in the format that the first top's diff has. */
static fire_status_t split_simd_backward(fire_layer_t *l)
{
    fire_format_t f = fire_blob_format(l->top[0], FIRE_DIFF);
    const void   *dy[SIMD_TOPS];
    void         *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    for (int i = 0; i < l->ntop; i++)
        FIRE_IN_AS(l->top[i], FIRE_DIFF, &f, &dy[i]);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    fire_raw_sum(f.dtype, fire_blob_raw_count(l->bottom[0], &f), l->ntop, NULL, dy,
                 1.0f, dx);
    return FIRE_OK;
}

static const char *split_simd_declines(const fire_layer_t *l)
{
    return l->ntop > SIMD_TOPS ? "it has more than 16 tops" : NULL;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_split_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .declines = split_simd_declines,
    .forward  = split_forward,
    .backward = fire_split_cuda_backward,
    .fusion   = &fire_fusion_reads_nothing,
};
#endif

const fire_kernel_t fire_split_simd = {
    .name     = "simd",
    .declines = split_simd_declines,
    .forward  = split_forward,
    .backward = split_simd_backward,
    .fusion   = &fire_fusion_reads_nothing,
};

const fire_kernel_t fire_split_ref = {
    .name     = "ref",
    .forward  = split_forward,
    .backward = split_backward,
};

static const fire_kernel_t *const split_kernels[] = {
    FIRE_IF_CUDA(fire_split_cuda) &fire_split_simd, &fire_split_ref, NULL};

const fire_layer_ops_t fire_layer_split = {
    .type    = "Split",
    .bottoms = {1, 1},
    .tops    = {1, -1},
    .reshape = split_reshape,
    .kernels = split_kernels,
};
