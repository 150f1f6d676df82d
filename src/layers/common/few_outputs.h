/* few_outputs.h - InnerProduct with few outputs on the GPU: too little work for cuBLAS,
 * which would split the sum over blocks and add the parts in a second launch. x: (rows,
 * inputs), y: (rows, outputs), weights: (outputs, inputs), of type dtype; sums are
 * float32. */
#ifndef FIRE_LAYERS_COMMON_FEW_OUTPUTS_H
#define FIRE_LAYERS_COMMON_FEW_OUTPUTS_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
typedef struct fire_gpu_few_outputs {
    int          rows, inputs, outputs;
    fire_dtype_t dtype;
} fire_gpu_few_outputs_t;

/* Is it small enough to be faster here? */
bool fire_gpu_few_outputs_fits(int64_t rows, int64_t inputs, int64_t outputs);

/* y = x weights' + bias, then ReLU if `relu`; bias: (outputs), NULL for none. */
fire_status_t fire_gpu_few_outputs_forward(fire_stream_t                *s,
                                           const fire_gpu_few_outputs_t *t,
                                           const void *x, const void *weights,
                                           const float *bias, bool relu, void *y);
/* dx = dy weights */
fire_status_t fire_gpu_few_outputs_backward_data(fire_stream_t                *s,
                                                 const fire_gpu_few_outputs_t *t,
                                                 const void *dy, const void *weights,
                                                 void *dx);
/* diff (outputs, inputs), float32, = (add ? diff : 0) + dy' x */
fire_status_t fire_gpu_few_outputs_backward_weights(fire_stream_t                *s,
                                                    const fire_gpu_few_outputs_t *t,
                                                    const void *dy, const void *x,
                                                    bool add, float *diff);
FIRE_END_C
#endif
