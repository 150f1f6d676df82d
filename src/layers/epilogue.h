/* epilogue.h - what comes behind the products of convolutions and InnerProduct: a bias per
 * channel, blob 1, and a ReLU that follows in place. */
#ifndef FIRE_LAYERS_EPILOGUE_H
#define FIRE_LAYERS_EPILOGUE_H
#include "layers/layer_cuda.h"

FIRE_BEGIN_C
/* Fusion ops of the kernels that use it: a ReLU without a slope follows. */
bool     fire_gpu_epilogue_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned fire_gpu_epilogue_backward_reads(const fire_layer_t *l);

/* y, of this view and format, gets both; bias: NULL if there is none. */
fire_status_t fire_gpu_epilogue_forward(fire_layer_t *l, fire_gpu_view_t view,
                                        fire_dtype_t dtype, const float *bias, void *y);
/* The gradient of top k before both; the bias's, if it `has_bias` and one is wanted. */
fire_status_t fire_gpu_epilogue_backward(fire_layer_t *l, int k, fire_gpu_view_t view,
                                         const fire_format_t *f, bool has_bias,
                                         void **dy_p);
FIRE_END_C
#endif
