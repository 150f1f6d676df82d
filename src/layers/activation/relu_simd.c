/* relu_simd.c - ReLU in the format that the bottom has, so that nothing is converted:
 * channels in blocks, 16 bits. Backward takes the sign of x from y. */
#include "device/cpu/raw.h"
#include "layers/activation/relu.h"

static const char *relu_simd_declines(const fire_layer_t *l)
{
    return FIRE_STATE(l, fire_relu_t)->slope < 0 ? "a negative slope turns signs"
                                                 : NULL;
}

static fire_status_t relu_simd_forward(fire_layer_t *l)
{
    fire_format_t f = fire_blob_format(l->bottom[0], FIRE_DATA);
    void         *x, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    fire_raw_relu(f.dtype, fire_blob_raw_count(l->top[0], &f),
                  FIRE_STATE(l, fire_relu_t)->slope, x, y);
    return FIRE_OK;
}

static fire_status_t relu_simd_backward(fire_layer_t *l)
{
    fire_format_t f = fire_blob_format(l->top[0], FIRE_DIFF);
    void         *y, *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    fire_raw_relu_back(f.dtype, fire_blob_raw_count(l->top[0], &f),
                       FIRE_STATE(l, fire_relu_t)->slope, y, dy, dx);
    return FIRE_OK;
}

static const fire_fusion_ops_t relu_simd_fusion = {
    .recompute      = relu_simd_forward,
    .backward_reads = fire_reads_top,
};

const fire_kernel_t fire_relu_simd = {
    .name     = "simd",
    .declines = relu_simd_declines,
    .forward  = relu_simd_forward,
    .backward = relu_simd_backward,
    .fusion   = &relu_simd_fusion,
};
