/* winograd.h - convolutions with stride 1 by Winograd's minimal filtering. 5x5 taps go in
 * tiles of 8x8 places: 4x4 outputs need 64 products per pair of channels instead of 400.
 * 3x3 taps, of bfloat16 only, go in tiles of 4x4 places: 2x2 outputs need 16 products,
 * of bfloat16 as well, instead of 36.
 *
 * The error of 5x5 taps is that of float32 sums with some ten times the rounding: 3e-6 of
 * the outputs' size on average, 2e-5 at most. Sums are taken in one order, whatever the
 * number of threads. Activations have channels in blocks of 16; needs AVX-512. */
#ifndef FIRE_DEVICE_CPU_WINOGRAD_H
#define FIRE_DEVICE_CPU_WINOGRAD_H
#include "device/device.h"

typedef struct fire_winograd {
    fire_dtype_t dtype; /* of activations; sums are float32 */
    int          taps;  /* 5, or 3 if fire_winograd_works_bf16, both ways */
    int64_t      group; /* more than 1: channels of a group fill blocks */
    int64_t      num, in_channels, out_channels;
    int64_t      in[2], out[2], pad[2]; /* pad < taps */
} fire_winograd_t;

bool fire_winograd_works(void);      /* on this machine */
bool fire_winograd_works_bf16(void); /* 3x3 as well */

/* y = x * weights + bias (NULL: none), then, unless slope is 1, y = y > 0 ? y :
 * slope * y. Weights and bias are plain, x and y blocked. */
fire_status_t fire_winograd_forward(const fire_winograd_t *w, const void *x,
                                    const float *weights, const float *bias,
                                    float slope, void *y, fire_pool_t *pool);
fire_status_t fire_winograd_backward_data(const fire_winograd_t *w, const void *dy,
                                          const float *weights, void *dx,
                                          fire_pool_t *pool);
/* dweights += their gradient; plain. */
fire_status_t fire_winograd_backward_weights(const fire_winograd_t *w, const void *x,
                                             const void *dy, float *dweights,
                                             fire_pool_t *pool);
#endif
