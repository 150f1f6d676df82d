/* kernels.h - the GPU kernels that layers list, one line for each. */
#ifndef FIRE_LAYERS_CUDA_KERNELS_H
#define FIRE_LAYERS_CUDA_KERNELS_H
#include "layers/layer.h"

FIRE_BEGIN_C
#define FIRE_CUDA_DECLARE(noun)                               \
    fire_status_t fire_##noun##_cuda_forward(fire_layer_t *); \
    fire_status_t fire_##noun##_cuda_backward(fire_layer_t *)

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
FIRE_CUDA_DECLARE(tanh);
FIRE_CUDA_DECLARE(threshold);
FIRE_END_C
#endif
