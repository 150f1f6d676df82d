/* kernels.h - the GPU kernels that layers list, one line for each. */
#ifndef FIRE_LAYERS_KERNELS_H
#define FIRE_LAYERS_KERNELS_H
#include "layers/layer.h"

FIRE_BEGIN_C
#define FIRE_CUDA_DECLARE(noun)                               \
    fire_status_t fire_##noun##_cuda_forward(fire_layer_t *); \
    fire_status_t fire_##noun##_cuda_backward(fire_layer_t *)

#define FIRE_CUDA_DECLARE_4(noun)                             \
    FIRE_CUDA_DECLARE(noun);                                  \
    fire_status_t fire_##noun##_cuda_prepare(fire_layer_t *); \
    void          fire_##noun##_cuda_release(fire_layer_t *)

/* neuron.cu */
FIRE_CUDA_DECLARE(absval);
FIRE_CUDA_DECLARE(bnll);
FIRE_CUDA_DECLARE(clip);
FIRE_CUDA_DECLARE(elu);
FIRE_CUDA_DECLARE(exp);
FIRE_CUDA_DECLARE(log);
FIRE_CUDA_DECLARE(power);
FIRE_CUDA_DECLARE(relu);
FIRE_CUDA_DECLARE(relu6);
FIRE_CUDA_DECLARE(sigmoid);
FIRE_CUDA_DECLARE(swish);
FIRE_CUDA_DECLARE(tanh);
FIRE_CUDA_DECLARE(threshold);

/* epilogue_cuda.c: a ReLU behind a convolution or an InnerProduct. */
bool     fire_gpu_epilogue_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned fire_gpu_epilogue_needs(const fire_layer_t *l);

FIRE_CUDA_DECLARE(inner_product);
#define FIRE_CUDA_INNER_PRODUCT                                 \
    FIRE_CUDA_ROW(.forward  = fire_inner_product_cuda_forward,  \
                  .backward = fire_inner_product_cuda_backward, \
                  .absorbs  = fire_gpu_epilogue_absorbs,        \
                  .needs    = fire_gpu_epilogue_needs)

/* norm_cuda.c */
fire_status_t fire_norm_cuda_prepare(fire_layer_t *l);
fire_status_t fire_norm_cuda_backward(fire_layer_t *l);
void          fire_norm_cuda_release(fire_layer_t *l);
fire_status_t fire_batch_norm_cuda_forward(fire_layer_t *l);
fire_status_t fire_scale_cuda_forward(fire_layer_t *l);
FIRE_CUDA_DECLARE(bias);

/* norm_group_cuda.c */
bool     fire_batch_norm_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next);
bool     fire_norm_cuda_continues(const fire_layer_t *l, const fire_layer_t *next);
bool     fire_norm_cuda_borrows(const fire_layer_t *l, const fire_layer_t *from);
bool     fire_norm_cuda_thins(const fire_layer_t *l);
bool     fire_scale_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned fire_norm_cuda_needs(const fire_layer_t *l);

#define FIRE_CUDA_NORM(noun)                                                        \
    FIRE_CUDA_ROW(.prepare   = fire_norm_cuda_prepare,                              \
                  .forward   = fire_##noun##_cuda_forward,                          \
                  .backward  = fire_norm_cuda_backward,                             \
                  .release   = fire_norm_cuda_release,                              \
                  .absorbs   = fire_##noun##_cuda_absorbs,                          \
                  .continues = fire_norm_cuda_continues,                            \
                  .borrows = fire_norm_cuda_borrows, .thins = fire_norm_cuda_thins, \
                  .needs = fire_norm_cuda_needs)

/* Where a value came from is kept beside the blobs. */
FIRE_CUDA_DECLARE_4(pooling);
#define FIRE_CUDA_POOLING                                 \
    FIRE_CUDA_ROW(.prepare  = fire_pooling_cuda_prepare,  \
                  .forward  = fire_pooling_cuda_forward,  \
                  .backward = fire_pooling_cuda_backward, \
                  .release = fire_pooling_cuda_release, .needs = fire_needs_nothing)

/* Memory on the GPU as the kernel_state of a layer's kernel; grows, contents are lost
 * then. The second fills it from the host. */
fire_status_t fire_gpu_keep(fire_layer_t *l, size_t bytes);
fire_status_t fire_gpu_keep_copy(fire_layer_t *l, const void *from, size_t bytes);
fire_status_t fire_gpu_keep_float(fire_layer_t *l); /* as a kernel's prepare() */
void         *fire_gpu_kept(const fire_layer_t *l);
void          fire_gpu_release(fire_layer_t *l);

FIRE_CUDA_DECLARE(dropout);
const char *fire_dropout_cuda_declines(const fire_layer_t *l);
FIRE_CUDA_DECLARE(lrn);
const char *fire_lrn_cuda_declines(const fire_layer_t *l);
FIRE_CUDA_DECLARE(lrn_within);
const char *fire_lrn_within_cuda_declines(const fire_layer_t *l);
FIRE_CUDA_DECLARE(softmax);
FIRE_CUDA_DECLARE(softmax_loss);
fire_status_t fire_accuracy_cuda_forward(fire_layer_t *l);

/* eltwise.cu */
FIRE_CUDA_DECLARE(eltwise);
const char *fire_eltwise_cuda_declines(const fire_layer_t *l);
bool        fire_eltwise_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next);
unsigned    fire_eltwise_cuda_needs(const fire_layer_t *l);
fire_status_t fire_split_cuda_backward(fire_layer_t *l);
FIRE_END_C
#endif
