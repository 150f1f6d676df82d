/* neuron.h - element-wise layers: the loop around one function of one element. A
 * layer gives that function; it is inlined, so the loop is as good as written out. */
#ifndef FIRE_LAYERS_NEURON_NEURON_H
#define FIRE_LAYERS_NEURON_NEURON_H
#include "layers/layer.h"
#include "layers/scalar.h"

FIRE_BEGIN_C
/* y of x; dx of x, y and dy. `state` is the layer's. */
typedef float fire_neuron_y_t(const void *state, float x);
typedef float fire_neuron_dx_t(const void *state, float x, float y, float dy);

/* In place, y takes the memory of x before backward comes. Layers whose gradient
 * needs x itself put this into their state: it keeps a copy, made in place only. */
typedef struct fire_kept {
    fire_blob_t *x;
} fire_kept_t;

/* Forward: put x aside if backward will find y in its place. */
fire_status_t fire_kept_save(fire_kept_t *kept, fire_layer_t *l);
/* Backward: the bottom as forward saw it. */
fire_blob_t *fire_kept_bottom(const fire_kept_t *kept, const fire_layer_t *l);
void         fire_kept_fini(fire_kept_t *kept);

__attribute__((always_inline)) static inline fire_status_t
fire_neuron_forward(fire_layer_t *l, fire_neuron_y_t *f)
{
    const void  *state = l->state;
    int64_t      n     = fire_blob_count(l->top[0]);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < n; i++)
        y[i] = f(state, x[i]);
    return FIRE_OK;
}

/* x_blob is the bottom, or what was kept of it. */
__attribute__((always_inline)) static inline fire_status_t
fire_neuron_backward(fire_layer_t *l, fire_blob_t *x_blob, fire_neuron_dx_t *f)
{
    const void  *state = l->state;
    int64_t      n     = fire_blob_count(l->top[0]);
    const float *x, *y, *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, x_blob, FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    for (int64_t i = 0; i < n; i++)
        dx[i] = f(state, x[i], y[i], dy[i]);
    return FIRE_OK;
}
FIRE_END_C
#endif
