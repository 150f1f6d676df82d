/* conv.h - what Convolution and Deconvolution share. Both tie an image to a map of
 * places where the kernel fits: Convolution goes from image (bottom) to map (top),
 * Deconvolution from map (bottom) to image (top), with the same products. */
#ifndef FIRE_LAYERS_CONV_CONV_H
#define FIRE_LAYERS_CONV_CONV_H
#include "layers/conv/window.h"

FIRE_BEGIN_C
typedef struct fire_conv_side {
    int64_t channels, plane; /* plane: elements of one channel */
    int64_t dim[FIRE_MAX_SPATIAL];
} fire_conv_side_t;

/* Weights and bias of a convolution together with layers behind it. */
typedef struct fire_conv_folded {
    fire_blob_t *weights, *bias;
    uint64_t     made_of; /* versions of what they were made of */
} fire_conv_folded_t;

typedef struct fire_conv {
    fire_window_t      window;
    bool               reverse, bias; /* reverse: Deconvolution */
    int                axis;          /* of the channels */
    int64_t            group, images;
    int64_t            kernel_dim; /* inputs to one element of the map */
    fire_conv_side_t   image, map;
    fire_conv_folded_t folded;
} fire_conv_t;

/* Parameters: weights (map channels, image channels / group, kernel...), then the bias
 * unless it is switched off. depthwise: a group for each channel, whatever is said. */
fire_status_t fire_conv_setup(fire_layer_t *l, bool reverse, bool depthwise);
fire_status_t fire_conv_reshape(fire_layer_t *l);
void          fire_conv_teardown(fire_layer_t *l);
double        fire_conv_macs(const fire_layer_t *l);

static inline const fire_conv_side_t *fire_conv_top(const fire_conv_t *c)
{
    return c->reverse ? &c->image : &c->map;
}

static inline const fire_conv_side_t *fire_conv_bottom(const fire_conv_t *c)
{
    return c->reverse ? &c->map : &c->image;
}

static inline int64_t fire_conv_side_count(const fire_conv_side_t *side)
{
    return side->channels * side->plane;
}

/* For fast kernels on the CPU: a ReLU that follows in place is done as well. Backward
 * turns the gradient behind it into the one before it, in its place. */
bool          fire_conv_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned      fire_conv_relu_backward_reads(const fire_layer_t *l);
bool          fire_conv_has_relu(const fire_layer_t *l, float *slope_p);
fire_status_t fire_conv_relu_backward(fire_layer_t *l);

/* Weights in this format, and the bias, NULL where there is none. In inference, BatchNorm
 * and Scale are part of them, made again when parameters have changed or another format
 * is asked for. */
bool          fire_conv_folds_norm(const fire_layer_t *l, const fire_layer_t *next);
bool          fire_conv_has_folded_norm(const fire_layer_t *l);
fire_status_t fire_conv_weights(fire_layer_t *l, const fire_format_t *format,
                                const void **weights_p, const float **bias_p);

/* ---- kernels, each in the file of its name ---- */

/* Of both layers. */
extern const fire_kernel_t fire_conv_cuda, fire_conv_onednn, fire_conv_ref;
/* Of Convolution alone. */
extern const fire_kernel_t fire_conv_cudnn, fire_conv_winograd;
extern const fire_kernel_t fire_conv_small; /* small images in float32, on a GPU */
/* Of Convolution with one input channel per group: channels in blocks; any; on a GPU. */
extern const fire_kernel_t fire_depthwise_simd, fire_depthwise_direct,
    fire_depthwise_cuda;

/* The list of Convolution, which ConvolutionDepthwise shares. */
extern const fire_kernel_t *const fire_convolution_kernels[];
FIRE_END_C
#endif
