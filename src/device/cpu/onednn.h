/* onednn.h - oneDNN as kernels see it: formats and operations. Builds with oneDNN 2.x
 * and 3.x; what differs between them is in onednn_api.h and *_onednn.c. */
#ifndef FIRE_DEVICE_CPU_ONEDNN_H
#define FIRE_DEVICE_CPU_ONEDNN_H
#include "device/device.h"
#include "device/window.h"

enum { FIRE_ONEDNN_AXES = 12, FIRE_ONEDNN_SPATIAL = 3, FIRE_ONEDNN_ARGS = 4 };

/* Shape and number format of an array that takes part in an operation. */
typedef struct fire_onednn_array {
    int          ndim;
    int64_t      dim[FIRE_ONEDNN_AXES];
    fire_dtype_t dtype;
} fire_onednn_array_t;

/* An operation ready to run: a primitive, with the format it takes each argument in.
 * The order of arguments is documented where it is made. One thread at a time. */
typedef struct fire_onednn_op {
    struct dnnl_primitive *primitive; /* NULL: not made yet */
    struct dnnl_stream    *stream;
    int                    narg, name[FIRE_ONEDNN_ARGS]; /* DNNL_ARG_... */
    struct dnnl_memory    *memory[FIRE_ONEDNN_ARGS];
    fire_format_t          format[FIRE_ONEDNN_ARGS]; /* of the whole batch */
    struct dnnl_memory    *scratch;
    size_t                 scratch_bytes;
    int64_t parts; /* the primitive runs once for each part of the batch */
    size_t  step[FIRE_ONEDNN_ARGS]; /* bytes from part to part; 0: the same for all */
} fire_onednn_op_t;

/* arg: the arrays, in op->format. Scratch memory is taken from the pool while it
 * runs. */
fire_status_t fire_onednn_op_run(fire_onednn_op_t *op, void *const *arg,
                                 fire_pool_t *pool);
void          fire_onednn_op_fini(fire_onednn_op_t *op);

/* ---- convolution ---- */

typedef enum fire_onednn_pass {
    FIRE_ONEDNN_FORWARD,          /* arguments: x, weights, y, bias */
    FIRE_ONEDNN_BACKWARD_DATA,    /* dx, weights, dy */
    FIRE_ONEDNN_BACKWARD_WEIGHTS, /* x, dweights, dy, dbias */
} fire_onednn_pass_t;

typedef struct fire_onednn_conv {
    const fire_window_t *window; /* 1 ... FIRE_ONEDNN_SPATIAL axes */
    int64_t              num, group, in_channels, out_channels;
    const int64_t       *in, *out; /* sizes along the axes */
    fire_dtype_t         dtype;    /* of all but the bias and the gradient of weights */
    bool                 bias;
    bool                 exact; /* no Winograd */
    bool                 relu;  /* y = max(y, 0) + relu_slope * min(y, 0) */
    float                relu_slope;
} fire_onednn_conv_t;

/* Make the operation for one pass; end it with fire_onednn_op_fini(). */
fire_status_t fire_onednn_conv_op(const fire_onednn_conv_t *conv,
                                  fire_onednn_pass_t pass, fire_onednn_op_t *op_p);

/* dst (n elements, plain) += src, which is in `format`. */
fire_status_t fire_onednn_add_plain(const fire_format_t *format, const void *src,
                                    int64_t n, float *dst);
#endif
