/* relu.h - what the kernels of ReLU share. */
#ifndef FIRE_LAYERS_NEURON_RELU_H
#define FIRE_LAYERS_NEURON_RELU_H
#include "layers/neuron/formulas.h"

const char   *fire_relu_simd_declines(const fire_layer_t *l);
fire_status_t fire_relu_simd_forward(fire_layer_t *l);
fire_status_t fire_relu_simd_backward(fire_layer_t *l);
#endif
