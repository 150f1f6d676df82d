/* bf16.h - Winograd's algorithm for 3x3 taps in bfloat16, in tiles of 4x4 places: 2x2
 * outputs need 16 products per pair of channels instead of 36, and a CPU with
 * AVX512-BF16 makes 32 at once. Called by winograd.c; arguments as in winograd.h, back:
 * from dy to dx. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_BF16_H
#define FIRE_LAYERS_CONV_WINOGRAD_BF16_H
#include "layers/conv/winograd/winograd.h"

fire_status_t fire_winograd_bf16_run(const fire_winograd_t *c, bool back, const void *x,
                                     const float *weights, const float *bias,
                                     float slope, void *y, fire_pool_t *pool);
fire_status_t fire_winograd_bf16_weights(const fire_winograd_t *c, const void *x,
                                         const void *dy, float *dweights,
                                         fire_pool_t *pool);
#endif
