/* relu.h - what other kernels ask about a ReLU before they absorb it. */
#ifndef FIRE_LAYERS_ACTIVATION_RELU_H
#define FIRE_LAYERS_ACTIVATION_RELU_H
#include <string.h>

#include "layers/neuron/formulas.h"

/* Is it a ReLU with negative_slope 0? */
static inline bool fire_is_plain_relu(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "ReLU") == 0 &&
           ((const fire_relu_t *)l->state)->slope == 0;
}

/* Is it a ReLU whose output is positive exactly where its input is? Then
 * backward needs only the output. */
static inline bool fire_is_sign_relu(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "ReLU") == 0 &&
           ((const fire_relu_t *)l->state)->slope >= 0;
}

/* negative_slope of the ReLU that l has absorbed; 1, the identity, if there is none. */
static inline float fire_relu_follower_slope(const fire_layer_t *l)
{
    const fire_layer_t *relu = fire_layer_follower(l, "ReLU");

    return relu != NULL ? ((const fire_relu_t *)relu->state)->slope : 1.0f;
}
#endif
