/* conv.h - what Convolution and Deconvolution share. Both relate an image to a map,
 * which has one element for each place where the kernel fits into the image:
 *
 *     image: (N, image.channels, image.dim)     map: (N, map.channels, map.dim)
 *
 * Convolution goes from image (bottom) to map (top), Deconvolution from map (bottom) to
 * image (top). The forward pass of one is the backward pass of the other, so that
 * kernels have functions to_map(), to_image() and to_weights() rather than forward and
 * backward. */
#ifndef FIRE_LAYERS_CONV_CONV_H
#define FIRE_LAYERS_CONV_CONV_H
#include "layers/conv/window.h"

FIRE_BEGIN_C
/* The image, or the map. */
typedef struct fire_conv_side {
    int64_t channels;
    int64_t plane; /* elements of one channel: the product of dim */
    int64_t dim[FIRE_MAX_SPATIAL];
} fire_conv_side_t;

/* Inference: weights and bias with the BatchNorm and Scale behind them folded in
 * (fold_norm.c). NULL until made. */
typedef struct fire_conv_folded {
    fire_blob_t *weights, *bias;
    uint64_t     made_of; /* hash of the versions of all parameters they were made of */
} fire_conv_folded_t;

/* State of the layer. */
typedef struct fire_conv {
    fire_window_t      window;
    bool               reverse;    /* Deconvolution */
    bool               bias;       /* blob 1 exists */
    int                axis;       /* of the channels; spatial axes follow it */
    int64_t            group;      /* groups of channels, independent of each other */
    int64_t            images;     /* N: product of the axes before the channels */
    int64_t            kernel_dim; /* elements of the image that one of the map reads */
    fire_conv_side_t   image, map;
    fire_conv_folded_t folded;
} fire_conv_t;

/* Read convolution_param and add the parameters: blob 0, the weights (map.channels,
 * image.channels / group, kernel...), and blob 1, the bias, unless bias_term is false.
 * depthwise: a group and an output for each channel, whatever `group` and `num_output`
 * say: the forks that have this layer ignore both. */
fire_status_t fire_conv_setup(fire_layer_t *l, bool reverse, bool depthwise);
fire_status_t fire_conv_depthwise_setup(fire_layer_t *l); /* with both as depthwise */
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

/* Fusion for kernels on the CPU (fusion.h): they can absorb a ReLU that follows in
 * place, and in inference BatchNorm and Scale. relu_backward() turns the gradient of
 * top 0, which is the one behind the ReLU, into the one before it, in place. has_relu()
 * sets *slope_p only if there is one. */
bool          fire_conv_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned      fire_conv_relu_backward_reads(const fire_layer_t *l);
bool          fire_conv_has_relu(const fire_layer_t *l, float *slope_p);
fire_status_t fire_conv_relu_backward(fire_layer_t *l);

/* The weights in a format, and the bias, NULL where there is none. If BatchNorm or
 * Scale is folded in, they are made from all these parameters, and made again when one
 * of them has changed or another format is asked for. folds_norm(): can `next` be
 * folded in? */
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
/* Of Convolution with one input channel per group: channels in blocks; any; on a
 * GPU. */
extern const fire_kernel_t fire_depthwise_simd, fire_depthwise_direct,
    fire_depthwise_cuda;

/* The list of Convolution, which the depthwise types share. */
extern const fire_kernel_t *const fire_convolution_kernels[];
FIRE_END_C
#endif
