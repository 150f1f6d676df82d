/* neuron.h - element-wise layers, y[i] = f(x[i]): the loop around a function of one
 * element. A layer passes its function by name; it is inlined, so the loop is as fast as
 * one written out. neuron_cuda.h has the same for the GPU. */
#ifndef FIRE_LAYERS_NEURON_NEURON_H
#define FIRE_LAYERS_NEURON_NEURON_H
#include "layers/layer.h"
#include "layers/scalar.h"

FIRE_BEGIN_C
/* y of x; dx of x, y and dy. `state` is l->state, which holds the layer's settings. */
typedef float fire_neuron_y_t(const void *state, float x);
typedef float fire_neuron_dx_t(const void *state, float x, float y, float dy);

/* A layer that works in place overwrites x with y before backward runs. If its gradient
 * needs x itself and not only y, its state holds a fire_kept_t: a copy of x, made only
 * where the layer works in place and runs backward. */
typedef struct fire_kept {
    fire_blob_t *x; /* NULL: no copy was needed so far */
} fire_kept_t;

/* In forward, before y is written: copy the bottom if backward could not see it. */
fire_status_t fire_kept_save(fire_kept_t *kept, fire_layer_t *l);
/* In backward: the bottom as forward saw it. */
fire_blob_t *fire_kept_bottom(const fire_kept_t *kept, const fire_layer_t *l);
void         fire_kept_fini(fire_kept_t *kept);
void         fire_kept_teardown(fire_layer_t *l); /* of a layer with no other state */

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

/* x_blob: the bottom, or fire_kept_bottom() where f reads x. */
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
