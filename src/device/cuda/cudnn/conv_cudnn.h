/* conv_cudnn.h - convolutions by cuDNN. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_CONV_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_CONV_CUDNN_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
enum { FIRE_CUDNN_SPATIAL = 3 };

typedef enum fire_cudnn_pass {
    FIRE_CUDNN_FORWARD, /* y from x and w (and bias) */
    FIRE_CUDNN_DATA,    /* x from y and w: both gradients */
    FIRE_CUDNN_WEIGHTS, /* w from x and y: a gradient */
    FIRE_CUDNN_PASSES,
} fire_cudnn_pass_t;

/* Bytes between fields are zero: it is compared as a whole. */
typedef struct fire_cudnn_conv {
    int64_t      axes, num, group, in_channels, out_channels;
    int64_t      in_pitch, out_pitch; /* channels last: from pixel to pixel */
    int64_t      in[FIRE_CUDNN_SPATIAL], out[FIRE_CUDNN_SPATIAL];
    int64_t      kernel[FIRE_CUDNN_SPATIAL], stride[FIRE_CUDNN_SPATIAL];
    int64_t      pad[FIRE_CUDNN_SPATIAL], dilation[FIRE_CUDNN_SPATIAL];
    fire_dtype_t dtype;      /* of x, w and y; bias is float32 */
    bool         last;       /* channels are last, in the weights too */
    bool         bias, relu; /* forward does them as well, if it can */
    bool         tf32, deterministic, exact, measure;
} fire_cudnn_conv_t;

typedef struct fire_cudnn_conv_args {
    void *x, *w, *y;
    void *bias; /* forward, if asked for */
} fire_cudnn_conv_args_t;

/* Made once for all layers of a worker that are alike. */
typedef struct fire_cudnn_op {
    struct fire_cudnn_op *next;
    fire_cudnn_conv_t     conv;
    fire_cudnn_pass_t     pass;
    bool                  fused;   /* forward: with bias and ReLU */
    fire_dtype_t          weights; /* format that a gradient of weights comes in */
    void                 *plan;
} fire_cudnn_op_t;

/* Outputs among the args may be written, to measure. FIRE_ERR_UNSUPPORTED where cuDNN
 * cannot. */
fire_status_t fire_cudnn_conv_find(fire_stream_t *s, const fire_cudnn_conv_t *conv,
                                   fire_cudnn_pass_t             pass,
                                   const fire_cudnn_conv_args_t *args,
                                   const fire_cudnn_op_t       **op_p);
fire_status_t fire_cudnn_conv_run(fire_stream_t *s, const fire_cudnn_op_t *op,
                                  const fire_cudnn_conv_args_t *args);
bool          fire_cudnn_is_available(fire_stream_t *s); /* tries to open it */
void          fire_cudnn_close(fire_stream_t *s);
FIRE_END_C
#endif
