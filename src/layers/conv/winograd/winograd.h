/* winograd.h - convolutions of 3x3 and 5x5 taps with stride 1 on the CPU by Winograd's
 * minimal filtering (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
 * 2015). With r x r taps g and a tile d of alpha x alpha inputs, m x m outputs are
 *
 *     Y = A' [ (G g G') * (B' d B) ] A,    alpha = m + r - 1,    * element by element
 *
 * Summed over input channels, the products at each of the alpha^2 points are one matrix
 * product: (tiles, inputs) times (inputs, outputs).
 *
 *     alpha  r  m   products of a tile for a pair of channels, and of a direct sum
 *       8    3  6   64   324    float32, large maps
 *       8    5  4   64   400    float32 and float64
 *       4    3  2   16    36    float32, small maps; bfloat16
 *
 * The transforms of bfloat16 are float32, rounded to bfloat16 before the products.
 * float32 loses about ten times as much to rounding as a direct sum: 3e-6 of the
 * outputs' size on average, 7e-5 at most. With float64 only the result is rounded. Sums
 * are taken in one order, so bits do not depend on the number of threads. Activations
 * are blocked (device/cpu/blocked.h) by 16 channels; needs AVX-512.
 *
 * winograd.c cuts the work, tiles.h is the geometry, transform8.h and transform4.h are
 * the transforms, multiply.h and multiply_bf16.h the products; f32.c, f64.c, bf16.c and
 * bf16_weights.c join them. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_WINOGRAD_H
#define FIRE_LAYERS_CONV_WINOGRAD_WINOGRAD_H
#include "device/device.h"

typedef struct fire_winograd {
    fire_dtype_t dtype; /* of activations: FIRE_F32 or FIRE_BF16 */
    int          taps;  /* 3 or 5, along both axes */
    bool         wide;  /* forward of 5x5 taps in float32: compute in float64 */
    int64_t      group; /* if more than 1, a group's channels are multiples of 16 */
    int64_t      num, in_channels, out_channels;
    int64_t      in[2], out[2], pad[2]; /* height, width; pad < taps */
} fire_winograd_t;

bool fire_winograd_works(void);      /* on this machine */
bool fire_winograd_works_bf16(void); /* for 3x3 taps in bfloat16 */

/* y = weights * x + bias (NULL: none), then y = y > 0 ? y : slope * y, unless slope is
 * 1. x: (num, in_channels, in) and y: (num, out_channels, out), blocked; weights
 * (out_channels, in_channels / group, taps, taps) and bias plain. Scratch memory is
 * taken from the pool. */
fire_status_t fire_winograd_forward(const fire_winograd_t *w, const void *x,
                                    const float *weights, const float *bias,
                                    float slope, void *y, fire_pool_t *pool);
fire_status_t fire_winograd_backward_data(const fire_winograd_t *w, const void *dy,
                                          const float *weights, void *dx,
                                          fire_pool_t *pool);
/* dweights += the gradient of the weights; plain. */
fire_status_t fire_winograd_backward_weights(const fire_winograd_t *w, const void *x,
                                             const void *dy, float *dweights,
                                             fire_pool_t *pool);
#endif
