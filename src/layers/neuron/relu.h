/* relu.h - what the kernels of ReLU share. */
#ifndef FIRE_LAYERS_NEURON_RELU_H
#define FIRE_LAYERS_NEURON_RELU_H
#include <string.h>

#include "layers/neuron/formulas.h"

/* Is it a ReLU that leaves nothing of negative numbers? */
static inline bool fire_is_plain_relu(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "ReLU") == 0 &&
           ((const fire_relu_t *)l->state)->slope == 0;
}

const char   *fire_relu_simd_declines(const fire_layer_t *l);
fire_status_t fire_relu_simd_forward(fire_layer_t *l);
fire_status_t fire_relu_simd_backward(fire_layer_t *l);
#endif
