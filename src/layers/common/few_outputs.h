/* few_outputs.h - products of InnerProduct where there are few outputs: too little work for a
 * library's matrix product, which would be cut into pieces and put together again. Weights
 * are (outputs, inputs); sums are float32. */
#ifndef FIRE_LAYERS_COMMON_FEW_OUTPUTS_H
#define FIRE_LAYERS_COMMON_FEW_OUTPUTS_H
#include "device/cuda/cuda.h"

FIRE_BEGIN_C
typedef struct fire_gpu_thin {
    int          rows, inputs, outputs;
    fire_dtype_t dtype;
} fire_gpu_few_outputs_t;

bool fire_gpu_few_outputs_fits(int64_t rows, int64_t inputs, int64_t outputs);

/* y = x weights' + bias, with a ReLU behind it; bias: NULL for none. */
fire_status_t fire_gpu_few_outputs_forward(fire_stream_t                *s,
                                           const fire_gpu_few_outputs_t *t,
                                           const void *x, const void *weights,
                                           const float *bias, bool relu, void *y);
/* dx = dy weights */
fire_status_t fire_gpu_few_outputs_backward_data(fire_stream_t                *s,
                                                 const fire_gpu_few_outputs_t *t,
                                                 const void *dy, const void *weights,
                                                 void *dx);
/* diff = (add ? diff : 0) + dy' x */
fire_status_t fire_gpu_few_outputs_backward_weights(fire_stream_t                *s,
                                                    const fire_gpu_few_outputs_t *t,
                                                    const void *dy, const void *x,
                                                    bool add, float *diff);
FIRE_END_C
#endif
