/* recurrent_run.c - forward and backward of what RNN and LSTM share: state, gates,
 * recurrent weights. */
#include "layers/recurrent/recurrent.h"

/* The state i that this lane's last pass ended with; zeros at first. */
static fire_status_t find_carry(fire_layer_t *l, int i, float **carry_p)
{
    fire_recurrent_t *s  = FIRE_STATE(l, fire_recurrent_t);
    int64_t           at = (int64_t)l->moment->lane * s->nstate + i;

    FIRE_TRY(fire_grow(&s->carry, &s->ncarry, at + 1, sizeof(*s->carry)));
    FIRE_TRY(fire_recurrent_fit(l, &s->carry[at], s->rows * s->units));
    *carry_p = s->carry[at].x;
    return FIRE_OK;
}

/* Copy the state before the first step to state[i]. */
static fire_status_t load_state(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    for (int i = 0; i < s->nstate; i++) {
        float       *carry;
        const float *from;

        if (s->expose) {
            FIRE_IN(l, l->bottom[l->nbottom - s->nstate + i], FIRE_DATA, &from);
        } else {
            FIRE_TRY(find_carry(l, i, &carry));
            from = carry;
        }
        FIRE_TRY(fire_recurrent_copy(l, s->rows * s->units, from, s->state[i].x));
    }
    return FIRE_OK;
}

/* One product for the inputs of all steps: it does not depend on the state. */
fire_status_t fire_recurrent_begin(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    const float      *x;

    FIRE_TRY(load_state(l));
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_X], FIRE_DATA, &x);
    FIRE_TRY(fire_recurrent_product(l, 0, 1, s->steps * s->rows, x, s->gate.x));
    if (!s->has_static) return FIRE_OK;
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_STATIC], FIRE_DATA, &x);
    return fire_recurrent_product(l, s->w_static, -1, s->rows, x,
                                  s->d_static.x); /* d_static is free until backward */
}

/* masked = cont * h; gate += W_h masked, plus the static part. */
fire_status_t fire_recurrent_gates(fire_layer_t *l, int64_t t, float **gate_p)
{
    fire_recurrent_t *s      = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n      = s->rows * s->gates;
    float            *gate   = fire_recurrent_at(s, &s->gate, t, s->gates);
    float            *masked = fire_recurrent_at(s, &s->masked, t, s->units);
    const float      *cont;

    FIRE_IN(l, l->bottom[FIRE_RECURRENT_CONT], FIRE_DATA, &cont);
    FIRE_TRY(fire_recurrent_scale(l, cont + t * s->rows,
                                  fire_recurrent_at(s, &s->state[0], t, s->units),
                                  masked));
    FIRE_TRY(fire_recurrent_product(l, s->w_hidden, -1, s->rows, masked, s->work.x));
    FIRE_TRY(fire_device_find(l->kernel->where)->add_left(gate, s->work.x, n));
    if (s->has_static) FIRE_TRY(fire_recurrent_add(l, n, s->d_static.x, gate));
    *gate_p = gate;
    return FIRE_OK;
}

/* Store the state of step T: in the tops, or for the next pass. */
fire_status_t fire_recurrent_end(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    for (int i = 0; i < s->nstate; i++) {
        float *to;

        if (s->expose)
            FIRE_OUT(l, l->top[1 + i], FIRE_DATA, &to);
        else
            FIRE_TRY(find_carry(l, i, &to));
        FIRE_TRY(fire_recurrent_copy(
            l, s->rows * s->units,
            fire_recurrent_at(s, &s->state[i], s->steps, s->units), to));
    }
    return FIRE_OK;
}

/* The gradient of the final state is 0, and none is passed to the first: Caffe cuts
 * gradients between passes, and also between layers that expose their state. */
fire_status_t fire_recurrent_back_begin(fire_layer_t *l)
{
    const fire_device_t *device = fire_device_find(l->kernel->where);
    fire_recurrent_t    *s      = FIRE_STATE(l, fire_recurrent_t);

    for (int i = 0; i < s->nstate; i++) {
        int from = l->nbottom - s->nstate + i;

        FIRE_TRY(device->fill(s->d_state[i].x, 0.0f, s->rows * s->units));
        if (s->expose && l->propagate_down[from])
            FIRE_TRY(
                fire_blob_fill(l->bottom[from], FIRE_DIFF, l->kernel->where, 0.0f));
    }
    return FIRE_OK;
}

/* d_state[0] = cont * (W_h^T d_gate): 0 where a new sequence began. */
fire_status_t fire_recurrent_back_step(fire_layer_t *l, int64_t t)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    const float      *cont;

    FIRE_IN(l, l->bottom[FIRE_RECURRENT_CONT], FIRE_DATA, &cont);
    FIRE_TRY(fire_recurrent_product_back(
        l, s->w_hidden, -1, s->rows, fire_recurrent_at(s, &s->masked, t, s->units),
        fire_recurrent_at(s, &s->d_gate, t, s->gates), s->work.x));
    return fire_recurrent_scale(l, cont + t * s->rows, s->work.x, s->d_state[0].x);
}

/* The static input was added to the gates of every step, so its gradient is a sum over
 * steps. */
static fire_status_t back_static(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n = s->rows * s->gates;
    const float      *x;
    float            *dx = NULL;

    FIRE_TRY(fire_recurrent_copy(l, n, s->d_gate.x, s->d_static.x));
    for (int64_t t = 1; t < s->steps; t++)
        FIRE_TRY(fire_recurrent_add(l, n, s->d_gate.x + t * n, s->d_static.x));
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_STATIC], FIRE_DATA, &x);
    if (l->propagate_down[FIRE_RECURRENT_STATIC])
        FIRE_OUT(l, l->bottom[FIRE_RECURRENT_STATIC], FIRE_DIFF, &dx);
    return fire_recurrent_product_back(l, s->w_static, -1, s->rows, x, s->d_static.x,
                                       dx);
}

/* One product for the inputs of all steps, as in begin(). */
fire_status_t fire_recurrent_back_end(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    const float      *x;
    float            *dx = NULL;

    if (s->has_static) FIRE_TRY(back_static(l));
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_X], FIRE_DATA, &x);
    if (l->propagate_down[FIRE_RECURRENT_X])
        FIRE_OUT(l, l->bottom[FIRE_RECURRENT_X], FIRE_DIFF, &dx);
    return fire_recurrent_product_back(l, 0, 1, s->steps * s->rows, x, s->d_gate.x, dx);
}
