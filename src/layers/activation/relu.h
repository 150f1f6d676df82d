/* relu.h - what the kernels of ReLU share. */
#ifndef FIRE_LAYERS_ACTIVATION_RELU_H
#define FIRE_LAYERS_ACTIVATION_RELU_H
#include <string.h>

#include "layers/neuron/formulas.h"

/* Is it a ReLU that leaves nothing of negative numbers? */
static inline bool fire_is_plain_relu(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "ReLU") == 0 &&
           ((const fire_relu_t *)l->state)->slope == 0;
}

/* Is it a ReLU whose output still tells the sign of its input? */
static inline bool fire_is_sign_relu(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "ReLU") == 0 &&
           ((const fire_relu_t *)l->state)->slope >= 0;
}

/* The slope of a ReLU among those that l does as well; 1, which changes nothing, if
 * there is none. */
static inline float fire_relu_behind(const fire_layer_t *l)
{
    const fire_layer_t *relu = fire_layer_follower(l, "ReLU");

    return relu != NULL ? ((const fire_relu_t *)relu->state)->slope : 1.0f;
}

#endif
