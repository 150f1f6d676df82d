#include "layers/recurrent/recurrent.h"

static fire_status_t check_bottoms(const fire_layer_t *l, const fire_recurrent_t *s)
{
    int want = 2 + (s->expose ? s->nstate : 0);

    if (l->nbottom != want && l->nbottom != want + 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d or %d bottoms are needed%s (x, cont, [static]%s), here "
                         "are %d",
                         want, want + 1, s->expose ? " with expose_hidden" : "",
                         !s->expose ? "" : (s->nstate > 1 ? ", h0, c0" : ", h0"),
                         l->nbottom);
    if (l->ntop != 1 + (s->expose ? s->nstate : 0))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%d tops are needed%s, here are %d",
                         1 + (s->expose ? s->nstate : 0),
                         s->expose ? " with expose_hidden" : "", l->ntop);
    if (l->bottom[FIRE_RECURRENT_X]->ndim < 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the first bottom must have at least 3 axes: time steps, "
                         "sequences, inputs");
    return FIRE_OK;
}

static int64_t inputs_of(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[FIRE_RECURRENT_X];

    return fire_blob_count_range(x, 2, x->ndim);
}

static int64_t statics_of(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[FIRE_RECURRENT_STATIC];

    return fire_blob_count_range(x, 1, x->ndim);
}

fire_status_t fire_recurrent_setup(fire_layer_t *l, int nstate, int gates_per_unit)
{
    const Caffe__RecurrentParameter *p = l->param->recurrent_param;
    fire_recurrent_t                *s = FIRE_STATE(l, fire_recurrent_t);

    if (p == NULL || p->num_output == 0 || p->num_output > INT32_MAX / 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "recurrent_param { num_output } must be given and at least 1");
    s->nstate = nstate;
    s->expose = p->expose_hidden;
    s->units  = p->num_output;
    s->gates  = gates_per_unit * s->units;
    FIRE_TRY(check_bottoms(l, s));
    s->has_static = l->nbottom > 2 + (s->expose ? nstate : 0);
    s->inputs     = inputs_of(l);
    FIRE_TRY(
        fire_layer_add_blob(l, 2, (int64_t[]){s->gates, s->inputs}, p->weight_filler));
    FIRE_TRY(fire_layer_add_blob(l, 1, &s->gates, p->bias_filler));
    if (s->has_static) {
        s->statics  = statics_of(l);
        s->w_static = l->nblob;
        FIRE_TRY(fire_layer_add_blob(l, 2, (int64_t[]){s->gates, s->statics},
                                     p->weight_filler));
    }
    s->w_hidden = l->nblob;
    return fire_layer_add_blob(l, 2, (int64_t[]){s->gates, s->units}, p->weight_filler);
}

static fire_status_t check_shape(const fire_blob_t *b, const char *what, int ndim,
                                 const int64_t *dim)
{
    char got[FIRE_SHAPE_TEXT], want[FIRE_SHAPE_TEXT];

    for (int i = 0; i < ndim; i++)
        if (b->ndim < ndim || b->dim[i] != dim[i]) {
            fire_blob_t expected = {.ndim = ndim, .count = 1};

            for (int k = 0; k < ndim; k++)
                expected.count *= expected.dim[k] = dim[k];
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%s has shape %s, it should begin with %s", what,
                             fire_blob_shape_string(b, got, sizeof(got)),
                             fire_blob_shape_string(&expected, want, sizeof(want)));
        }
    return FIRE_OK;
}

static fire_status_t check_shapes(const fire_layer_t *l, const fire_recurrent_t *s)
{
    const int64_t state[] = {1, s->rows, s->units};

    FIRE_TRY(check_shape(l->bottom[FIRE_RECURRENT_CONT], "the second bottom (cont)", 2,
                         (int64_t[]){s->steps, s->rows}));
    if (inputs_of(l) != s->inputs)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld inputs, the weights are for %lld",
                         (long long)inputs_of(l), (long long)s->inputs);
    if (s->has_static) {
        FIRE_TRY(check_shape(l->bottom[FIRE_RECURRENT_STATIC], "the static input", 1,
                             &s->rows));
        if (statics_of(l) != s->statics)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%lld static inputs, the weights are for %lld",
                             (long long)statics_of(l), (long long)s->statics);
    }
    for (int i = 0; s->expose && i < s->nstate; i++)
        FIRE_TRY(check_shape(l->bottom[l->nbottom - s->nstate + i],
                             i == 0 ? "h0" : "c0", 3, state));
    return FIRE_OK;
}

static fire_status_t fit(fire_recurrent_t *s)
{
    int64_t state = s->rows * s->units, gates = s->rows * s->gates;

    for (int i = 0; i < s->nstate; i++) {
        FIRE_TRY(fire_scratch_fit(&s->state[i], (s->steps + 1) * state));
        FIRE_TRY(fire_scratch_fit(&s->d_state[i], state));
    }
    FIRE_TRY(fire_scratch_fit(&s->gate, s->steps * gates));
    FIRE_TRY(fire_scratch_fit(&s->d_gate, s->steps * gates));
    FIRE_TRY(fire_scratch_fit(&s->conted, s->steps * state));
    FIRE_TRY(fire_scratch_fit(&s->d_static, gates));
    FIRE_TRY(fire_scratch_fit(&s->work, gates + state));
    return fire_scratch_ones(&s->ones, s->steps * s->rows);
}

fire_status_t fire_recurrent_reshape(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    FIRE_TRY(check_bottoms(l, s));
    s->steps = l->bottom[FIRE_RECURRENT_X]->dim[0];
    s->rows  = l->bottom[FIRE_RECURRENT_X]->dim[1];
    if (s->steps == 0) return FIRE_FAIL(FIRE_ERR_INVALID, "there are no time steps");
    FIRE_TRY(check_shapes(l, s));
    FIRE_TRY(fire_blob_reshape(l->top[0], 3, (int64_t[]){s->steps, s->rows, s->units}));
    for (int i = 1; i < l->ntop; i++)
        FIRE_TRY(fire_blob_reshape(l->top[i], 3, (int64_t[]){1, s->rows, s->units}));
    return fit(s);
}

void fire_recurrent_teardown(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    for (int64_t i = 0; i < s->ncarry; i++)
        fire_scratch_free(&s->carry[i]);
    fire_free(s->carry);
    for (int i = 0; i < s->nstate; i++) {
        fire_scratch_free(&s->state[i]);
        fire_scratch_free(&s->d_state[i]);
    }
    fire_scratch_free(&s->gate);
    fire_scratch_free(&s->d_gate);
    fire_scratch_free(&s->conted);
    fire_scratch_free(&s->d_static);
    fire_scratch_free(&s->work);
    fire_scratch_free(&s->ones);
}

double fire_recurrent_macs(const fire_layer_t *l)
{
    const fire_recurrent_t *s    = FIRE_STATE(l, fire_recurrent_t);
    double                  rows = (double)s->rows, gates = (double)s->gates;

    return rows * gates *
           ((double)s->steps * (double)(s->inputs + s->units) + (double)s->statics);
}

/* This lane's carried state i, zeros at first. */
static fire_status_t find_carry(fire_layer_t *l, int i, float **carry_p)
{
    fire_recurrent_t *s  = FIRE_STATE(l, fire_recurrent_t);
    int64_t           at = (int64_t)l->moment->lane * s->nstate + i;

    FIRE_TRY(fire_grow(&s->carry, &s->ncarry, at + 1, sizeof(*s->carry)));
    FIRE_TRY(fire_scratch_fit(&s->carry[at], s->rows * s->units));
    *carry_p = s->carry[at].x;
    return FIRE_OK;
}

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
        fire_copy(s->rows * s->units, from, s->state[i].x);
    }
    return FIRE_OK;
}

fire_status_t fire_recurrent_begin(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n = s->steps * s->rows;
    const float      *x, *weights, *bias;

    FIRE_TRY(load_state(l));
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_X], FIRE_DATA, &x);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    fire_gemm(FIRE_NO_TRANS, FIRE_TRANS, n, s->gates, s->inputs, 1.0f, x, weights, 0.0f,
              s->gate.x);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < s->gates; i++)
            s->gate.x[k * s->gates + i] += bias[i];
    if (!s->has_static) return FIRE_OK;
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_STATIC], FIRE_DATA, &x);
    FIRE_IN(l, l->blob[s->w_static], FIRE_DATA, &weights);
    fire_gemm(FIRE_NO_TRANS, FIRE_TRANS, s->rows, s->gates, s->statics, 1.0f, x,
              weights, 0.0f, s->d_static.x); /* free until backward */
    return FIRE_OK;
}

static void scale_rows(const fire_recurrent_t *s, const float *cont, const float *x,
                       float *y)
{
    for (int64_t n = 0; n < s->rows; n++)
        for (int64_t d = 0; d < s->units; d++)
            y[n * s->units + d] = cont[n] * x[n * s->units + d];
}

fire_status_t fire_recurrent_gates(fire_layer_t *l, int64_t t, float **gate_p)
{
    fire_recurrent_t *s      = FIRE_STATE(l, fire_recurrent_t);
    float            *gate   = fire_recurrent_at(s, &s->gate, t, s->gates);
    float            *conted = fire_recurrent_at(s, &s->conted, t, s->units);
    const float      *cont, *weights;

    FIRE_IN(l, l->bottom[FIRE_RECURRENT_CONT], FIRE_DATA, &cont);
    FIRE_IN(l, l->blob[s->w_hidden], FIRE_DATA, &weights);
    scale_rows(s, cont + t * s->rows, fire_recurrent_at(s, &s->state[0], t, s->units),
               conted);
    fire_gemm(FIRE_NO_TRANS, FIRE_TRANS, s->rows, s->gates, s->units, 1.0f, conted,
              weights, 0.0f, s->work.x);
    for (int64_t i = 0; i < s->rows * s->gates; i++) {
        gate[i] = s->work.x[i] + gate[i];
        if (s->has_static) gate[i] += s->d_static.x[i];
    }
    *gate_p = gate;
    return FIRE_OK;
}

fire_status_t fire_recurrent_end(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    for (int i = 0; i < s->nstate; i++) {
        float *to;

        if (s->expose)
            FIRE_OUT(l, l->top[1 + i], FIRE_DATA, &to);
        else
            FIRE_TRY(find_carry(l, i, &to));
        fire_copy(s->rows * s->units,
                  fire_recurrent_at(s, &s->state[i], s->steps, s->units), to);
    }
    return FIRE_OK;
}

/* Nothing flows in through the final state, nor out through the first: Caffe cuts
 * gradients between passes, and also between layers that expose their state. */
fire_status_t fire_recurrent_back_begin(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    float            *dx;

    for (int i = 0; i < s->nstate; i++) {
        fire_fill(s->rows * s->units, 0.0f, s->d_state[i].x);
        if (!s->expose || !l->propagate_down[l->nbottom - s->nstate + i]) continue;
        FIRE_OUT(l, l->bottom[l->nbottom - s->nstate + i], FIRE_DIFF, &dx);
        fire_fill(s->rows * s->units, 0.0f, dx);
    }
    return FIRE_OK;
}

fire_status_t fire_recurrent_product_back(fire_layer_t *l, int weights, int bias,
                                          int64_t rows, const float *x, const float *dy,
                                          float *dx)
{
    fire_recurrent_t *s       = FIRE_STATE(l, fire_recurrent_t);
    int64_t           outputs = l->blob[weights]->dim[0];
    int64_t           inputs  = l->blob[weights]->dim[1];
    const float      *w;
    float            *diff;

    if (l->param_gradient[weights]) {
        FIRE_INOUT(l, l->blob[weights], FIRE_DIFF, &diff);
        fire_gemm(FIRE_TRANS, FIRE_NO_TRANS, outputs, inputs, rows, 1.0f, dy, x, 1.0f,
                  diff);
    }
    if (bias >= 0 && l->param_gradient[bias]) {
        FIRE_INOUT(l, l->blob[bias], FIRE_DIFF, &diff);
        fire_gemv(FIRE_TRANS, rows, outputs, 1.0f, dy, s->ones.x, 1.0f, diff);
    }
    if (dx == NULL) return FIRE_OK;
    FIRE_IN(l, l->blob[weights], FIRE_DATA, &w);
    fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, rows, inputs, outputs, 1.0f, dy, w, 0.0f,
              dx);
    return FIRE_OK;
}

fire_status_t fire_recurrent_back_step(fire_layer_t *l, int64_t t)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    const float      *cont;

    FIRE_IN(l, l->bottom[FIRE_RECURRENT_CONT], FIRE_DATA, &cont);
    FIRE_TRY(fire_recurrent_product_back(
        l, s->w_hidden, -1, s->rows, fire_recurrent_at(s, &s->conted, t, s->units),
        fire_recurrent_at(s, &s->d_gate, t, s->gates), s->work.x));
    scale_rows(s, cont + t * s->rows, s->work.x, s->d_state[0].x);
    return FIRE_OK;
}

/* The static input met the gates of every step. */
static fire_status_t back_static(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n = s->rows * s->gates;
    const float      *x;
    float            *dx = NULL;

    fire_copy(n, s->d_gate.x, s->d_static.x);
    for (int64_t t = 1; t < s->steps; t++)
        fire_axpy(n, 1.0f, s->d_gate.x + t * n, s->d_static.x);
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_STATIC], FIRE_DATA, &x);
    if (l->propagate_down[FIRE_RECURRENT_STATIC])
        FIRE_OUT(l, l->bottom[FIRE_RECURRENT_STATIC], FIRE_DIFF, &dx);
    return fire_recurrent_product_back(l, s->w_static, -1, s->rows, x, s->d_static.x,
                                       dx);
}

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
