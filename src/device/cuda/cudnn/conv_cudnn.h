/* conv_cudnn.h - convolutions by cuDNN: found (and possibly measured) once for all
 * layers of a worker that have the same shape, then run. Knows nothing of layers and
 * blobs. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_CONV_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_CONV_CUDNN_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
enum { FIRE_CUDNN_SPATIAL = 3 };

typedef enum fire_cudnn_pass {
    FIRE_CUDNN_FORWARD, /* y from x and w (and bias) */
    FIRE_CUDNN_DATA,    /* the gradient of x (in x) from that of y (in y) and w */
    FIRE_CUDNN_WEIGHTS, /* the gradient of w (in w) from x and that of y (in y) */
    FIRE_CUDNN_PASSES,
} fire_cudnn_pass_t;

/* A convolution. Compared by memcmp: clear it with memset before filling it in. */
typedef struct fire_cudnn_conv {
    int64_t      axes; /* spatial: 1 ... FIRE_CUDNN_SPATIAL */
    int64_t      num, group, in_channels, out_channels;
    int64_t      in_pitch, out_pitch; /* channels last: elements from pixel to pixel */
    int64_t      in[FIRE_CUDNN_SPATIAL], out[FIRE_CUDNN_SPATIAL];
    int64_t      kernel[FIRE_CUDNN_SPATIAL], stride[FIRE_CUDNN_SPATIAL];
    int64_t      pad[FIRE_CUDNN_SPATIAL], dilation[FIRE_CUDNN_SPATIAL];
    fire_dtype_t dtype;      /* of x, w and y; bias is float32 */
    bool         last;       /* channels last (NHWC), in the weights too (KRSC) */
    bool         bias, relu; /* forward: fuse them, if cuDNN can */
    bool         tf32, deterministic, exact, measure;
} fire_cudnn_conv_t;

/* Arrays on the GPU. */
typedef struct fire_cudnn_conv_args {
    void *x, *w, *y;
    void *bias; /* forward with bias; else NULL */
} fire_cudnn_conv_args_t;

/* One pass of a convolution, ready to run; owned by the stream. */
typedef struct fire_cudnn_op {
    struct fire_cudnn_op *next;
    fire_cudnn_conv_t     conv;
    fire_cudnn_pass_t     pass;
    bool                  fused;   /* forward: bias and ReLU are included */
    fire_dtype_t          weights; /* number format of w */
    void                 *plan;    /* fire_cudnn_plan_t */
} fire_cudnn_op_t;

/* The operation for one pass; found on first use, then from the stream's list.
 * Measuring writes the output among args. FIRE_ERR_UNSUPPORTED where cuDNN has no
 * plan. */
fire_status_t fire_cudnn_conv_find(fire_stream_t *s, const fire_cudnn_conv_t *conv,
                                   fire_cudnn_pass_t             pass,
                                   const fire_cudnn_conv_args_t *args,
                                   const fire_cudnn_op_t       **op_p);
fire_status_t fire_cudnn_conv_run(fire_stream_t *s, const fire_cudnn_op_t *op,
                                  const fire_cudnn_conv_args_t *args);
bool          fire_cudnn_is_available(fire_stream_t *s); /* opens the library */
void          fire_cudnn_close(fire_stream_t *s);
FIRE_END_C
#endif
