/* epilogue.h - what follows the matrix products of convolution and InnerProduct on a GPU:
 * the bias (blob 1, one number per channel) and a ReLU that the kernel has absorbed, in
 * one pass over y. */
#ifndef FIRE_LAYERS_EPILOGUE_H
#define FIRE_LAYERS_EPILOGUE_H
#include "layers/layer_cuda.h"

FIRE_BEGIN_C
/* For the fire_fusion_ops_t of these kernels: a ReLU with negative_slope 0 is absorbed;
 * backward then reads y, to see where the ReLU was active. */
bool     fire_gpu_epilogue_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned fire_gpu_epilogue_backward_reads(const fire_layer_t *l);

/* y = relu(y + bias), either of them only where the layer has it (bias NULL: none). */
fire_status_t fire_gpu_epilogue_forward(fire_layer_t *l, fire_gpu_view_t view,
                                        fire_dtype_t dtype, const float *bias, void *y);
/* *dy_p: the diff of top k in format f, after passing back through the ReLU (in place).
 * Adds to the diff of the bias, if the layer `has_bias` and its gradient is wanted. */
fire_status_t fire_gpu_epilogue_backward(fire_layer_t *l, int k, fire_gpu_view_t view,
                                         const fire_format_t *f, bool has_bias,
                                         void **dy_p);
FIRE_END_C
#endif
