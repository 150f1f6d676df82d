/* small.h - convolution of small images on the GPU, in float32 with stride 1, without
 * columns in memory. A block loads a few channels of an image and of the weights into
 * shared memory; a thread makes WIDE neighbours of a row for two output channels. The
 * gradient of the input is the same convolution with channels swapped and windows
 * rotated by 180 degrees. Threads that share a sum add in a fixed order: the same bits
 * on every run. Made for LeNet, where library kernels take longer to start than to
 * run. */
#ifndef FIRE_LAYERS_CONV_SMALL_SMALL_H
#define FIRE_LAYERS_CONV_SMALL_SMALL_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
/* A convolution from `in` to `out` channels of planes, windows of kernel x kernel. */
typedef struct fire_gpu_small {
    int  images, in, out, kernel;
    int  from[2], to[2], pad[2]; /* height and width: of x, of y; zeros around x */
    bool relu;                   /* y = max(y, 0) in the end */
} fire_gpu_small_t;

/* y = relu(weights * x + bias), bias NULL for none. x: (images, in, from), y: (images,
 * out, to), weights: (out, in, kernel, kernel). back: compute the gradient of an input;
 * weights are those of that convolution, (in, out, kernel, kernel). */
fire_status_t fire_gpu_small_run(fire_stream_t *s, const fire_gpu_small_t *c, bool back,
                                 const float *x, const float *weights,
                                 const float *bias, float *y);
/* Where to store the gradients of weights and bias (NULL: not wanted); add_: += not
 * =. */
typedef struct fire_gpu_small_to {
    float *weights, *bias;
    bool   add_weights, add_bias;
} fire_gpu_small_to_t;

fire_status_t fire_gpu_small_weights(fire_stream_t *s, const fire_gpu_small_t *c,
                                     const float *x, const float *dy,
                                     const fire_gpu_small_to_t *to);
FIRE_END_C
#endif
