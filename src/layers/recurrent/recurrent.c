/* recurrent.c - setup and shapes of recurrent layers. */
#include "layers/recurrent/recurrent.h"

/* Check the numbers of bottoms and tops. */
static fire_status_t check_bottoms(const fire_layer_t *l, const fire_recurrent_t *s)
{
    int want = 2 + (s->expose ? s->nstate : 0);

    if (l->nbottom != want && l->nbottom != want + 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d or %d bottoms are needed%s (x, cont, [static]%s), not "
                         "%d",
                         want, want + 1, s->expose ? " with expose_hidden" : "",
                         !s->expose ? "" : (s->nstate > 1 ? ", h0, c0" : ", h0"),
                         l->nbottom);
    if (l->ntop != 1 + (s->expose ? s->nstate : 0))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%d tops are needed%s, not %d",
                         1 + (s->expose ? s->nstate : 0),
                         s->expose ? " with expose_hidden" : "", l->ntop);
    if (l->bottom[FIRE_RECURRENT_X]->ndim < 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the first bottom must have at least 3 axes: time steps, "
                         "sequences, inputs");
    return FIRE_OK;
}

/* Inputs per sequence and step. */
static int64_t inputs_of(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[FIRE_RECURRENT_X];

    return fire_blob_count_range(x, 2, x->ndim);
}

/* Static inputs per sequence. */
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

/* Draw as many random numbers as filling a blob of this shape draws. */
static fire_status_t draw_again(fire_layer_t *l, const fire_blob_t *like)
{
    const Caffe__RecurrentParameter *p = l->param->recurrent_param;
    const Caffe__FillerParameter    *filler =
        like->ndim > 1 ? p->weight_filler : p->bias_filler;
    fire_blob_t  *b;
    fire_status_t st;

    if (filler == NULL) return FIRE_OK;
    FIRE_TRY(fire_blob_create(&b));
    st = fire_blob_reshape(b, like->ndim, like->dim);
    if (st >= 0) st = fire_filler_fill(filler, b, (fire_rng_key_t){0}, l->ctx->mt);
    fire_blob_destroy(b);
    return st;
}

fire_status_t fire_recurrent_draw_steps(fire_layer_t *l)
{
    int64_t steps = l->ctx->mt != NULL ? l->bottom[FIRE_RECURRENT_X]->dim[0] : 0;

    for (int64_t t = 1; t < steps; t++)
        for (int i = FIRE_STATE(l, fire_recurrent_t)->w_hidden; i < l->nblob; i++)
            FIRE_TRY(draw_again(l, l->blob[i]));
    return FIRE_OK;
}

/* Must the blob's shape begin with dim? It may have more axes. */
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

/* Check the shapes of all bottoms against x and the weights. */
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
    return FIRE_OK;
}

double fire_recurrent_macs(const fire_layer_t *l)
{
    const fire_recurrent_t *s    = FIRE_STATE(l, fire_recurrent_t);
    double                  rows = (double)s->rows, gates = (double)s->gates;

    return rows * gates *
           ((double)s->steps * (double)(s->inputs + s->units) + (double)s->statics);
}
