/* winograd.h - convolutions of 3x3 and 5x5 taps with stride 1 by Winograd's minimal
 * filtering. In tiles of 8x8 places 4x4 outputs of 5x5 taps need 64 products per pair of
 * channels instead of 400, 6x6 outputs of 3x3 taps 64 instead of 324. On small maps, and
 * in bfloat16, 3x3 taps go in tiles of 4x4 places: 2x2 outputs, 16 products instead of
 * 36. In bfloat16 these are products of bfloat16.
 *
 * The error of float32 is that of its sums with some ten times the rounding: 3e-6 of the
 * outputs' size on average, 7e-5 at most; in float64 only the result is rounded. Sums
 * are taken in one order, whatever the number of threads. Activations have channels in
 * blocks of 16; needs AVX-512. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_WINOGRAD_H
#define FIRE_LAYERS_CONV_WINOGRAD_WINOGRAD_H
#include "device/device.h"

typedef struct fire_winograd {
    fire_dtype_t dtype; /* of activations; sums are float32 */
    int          taps;  /* 3 or 5, both ways */
    bool         wide;  /* count 5x5 taps of float32 forward in float64 */
    int64_t      group; /* more than 1: channels of a group fill blocks */
    int64_t      num, in_channels, out_channels;
    int64_t      in[2], out[2], pad[2]; /* pad < taps */
} fire_winograd_t;

bool fire_winograd_works(void);      /* on this machine */
bool fire_winograd_works_bf16(void); /* for 3x3 taps in bfloat16 */

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
