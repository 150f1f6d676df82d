/* selu.h - SeLu (Klambauer et al. 2017); inline for CPU and GPU. */
#ifndef FIRE_LAYERS_ACTIVATION_SELU_H
#define FIRE_LAYERS_ACTIVATION_SELU_H
#include <math.h>

#include "base/everywhere.h"
#include "layers/neuron/neuron.h"

typedef struct fire_selu {
    float       lambda, alpha;
    fire_kept_t kept;
} fire_selu_t;

FIRE_EVERYWHERE float fire_selu_y(const void *state, float x)
{
    const fire_selu_t *s = (const fire_selu_t *)state;

    return s->lambda * (x > 0.0f ? x : s->alpha * (expf(x) - 1.0f));
}

FIRE_EVERYWHERE float fire_selu_dx(const void *state, float x, float y, float dy)
{
    const fire_selu_t *s = (const fire_selu_t *)state;

    (void)y;
    return dy * s->lambda * (x > 0.0f ? 1.0f : s->alpha * expf(x));
}
#endif
