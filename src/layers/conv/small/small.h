/* small.h - Convolution of small images in float32, strides 1, without columns: a few
 * channels of an image and of the weights lie in shared memory at a time, and a thread
 * makes WIDE neighbours of a row for two output channels. Gradients of the input are the
 * same convolution with channels swapped and windows turned round. Threads that share a
 * result add in a fixed order. */
#ifndef FIRE_LAYERS_CONV_SMALL_SMALL_H
#define FIRE_LAYERS_CONV_SMALL_SMALL_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
/* A convolution from `in` to `out` channels of planes, windows of kernel x kernel. */
typedef struct fire_gpu_small {
    int  images, in, out, kernel;
    int  from[2], to[2], pad[2]; /* height and width of planes */
    bool relu;
} fire_gpu_small_t;

/* y = relu(weights * x + bias), bias NULL for none. back: weights are those of the
 * convolution whose gradient this is, (in, out, kernel, kernel). */
fire_status_t fire_gpu_small_run(fire_stream_t *s, const fire_gpu_small_t *c, bool back,
                                 const float *x, const float *weights,
                                 const float *bias, float *y);
/* Where gradients of the weights and the bias go; add: to what is there. bias: NULL if it
 * is not wanted. */
typedef struct fire_gpu_small_to {
    float *weights, *bias;
    bool   add_weights, add_bias;
} fire_gpu_small_to_t;

fire_status_t fire_gpu_small_weights(fire_stream_t *s, const fire_gpu_small_t *c,
                                     const float *x, const float *dy,
                                     const fire_gpu_small_to_t *to);
FIRE_END_C
#endif
