/* recurrent.c - LSTM and RNN, unrolled over their time steps: ONNX's own LSTM knows no
 * `cont`, which begins a new sequence anywhere. The state before the first step is zero,
 * or comes from bottoms with expose_hidden.
 *
 * Values of one step are (1, N, width), those of all steps (T, N, width). */
#include "base/alloc.h"
#include "layers/recurrent/recurrent.h"
#include "onnx/export/put.h"

/* A recurrent layer being unrolled. */
typedef struct unrolled {
    const fire_recurrent_t *s;
    const char            **gate, **cont, **h; /* [steps] */
    const char             *w_hidden;          /* transposed: (D, gates) */
} unrolled_t;

static const char *transposed(fire_onnx_export_t *x, int blob, const char *suffix)
{
    static const int64_t order[2] = {1, 0};
    const char          *v =
        fire_onnx_op(x, "Transpose", NULL, fire_onnx_param(x, blob, suffix), NULL);

    fire_onnx_ints(x, "perm", 2, order);
    return v;
}

/* Cut the first axis of `in` into `steps` values. */
static void cut_steps(fire_onnx_export_t *x, const char *in, int64_t steps,
                      const char **part)
{
    int64_t *one;

    if (steps == 1) {
        part[0] = in;
        return;
    }
    if (x->st >= 0) x->st = FIRE_NEW(&one, steps);
    if (x->st < 0) return;
    for (int64_t t = 0; t < steps; t++)
        one[t] = 1;
    part[0] =
        fire_onnx_op(x, "Split", NULL, in, fire_onnx_integers(x, steps, one), NULL);
    for (int64_t t = 1; t < steps; t++)
        part[t] = fire_onnx_more(x, NULL);
    fire_onnx_int(x, "axis", 0);
    fire_free(one);
}

/* The part of all gates that does not depend on the state: W_x x + b + W_s x_static. */
static const char *input_gates(fire_onnx_export_t *x, const fire_recurrent_t *s)
{
    int64_t     dim[3] = {s->steps, s->rows, s->gates};
    const char *v = fire_onnx_op(x, "Flatten", NULL, fire_onnx_in(x, 0), NULL), *more;

    fire_onnx_int(x, "axis", 2);
    v = fire_onnx_op(x, "Gemm", NULL, v, fire_onnx_param(x, 0, "w_input"),
                     fire_onnx_param(x, 1, "bias"), NULL);
    fire_onnx_int(x, "transB", 1);
    v = fire_onnx_op(x, "Reshape", NULL, v, fire_onnx_integers(x, 3, dim), NULL);
    if (!s->has_static) return v;
    more =
        fire_onnx_op(x, "Flatten", NULL, fire_onnx_in(x, FIRE_RECURRENT_STATIC), NULL);
    more = fire_onnx_op(x, "Gemm", NULL, more,
                        fire_onnx_param(x, s->w_static, "w_static"), NULL);
    fire_onnx_int(x, "transB", 1);
    return fire_onnx_op(x, "Add", NULL, v, more, NULL);
}

/* The state before the first step: number i of the layer's states. */
static const char *first_state(fire_onnx_export_t *x, const fire_recurrent_t *s, int i)
{
    int64_t dim[3] = {1, s->rows, s->units};

    if (s->expose) return fire_onnx_in(x, x->layer->nbottom - s->nstate + i);
    return fire_onnx_op(x, "Expand", NULL, fire_onnx_scalar(x, 0.0f),
                        fire_onnx_integers(x, 3, dim), NULL);
}

/* Fill *u; its lists are one allocation, which the caller frees as u->gate. */
static void begin(fire_onnx_export_t *x, unrolled_t *u)
{
    const fire_recurrent_t *s      = FIRE_STATE(x->layer, fire_recurrent_t);
    int64_t                 dim[3] = {s->steps, s->rows, 1};
    const char             *cont;

    *u = (unrolled_t){.s = s};
    for (int axis = 0; axis < 2; axis++)
        fire_onnx_needs_fixed(x, x->layer->bottom[0], axis);
    if (x->st >= 0) x->st = FIRE_NEW(&u->gate, 3 * s->steps);
    if (x->st < 0) return;
    u->cont = u->gate + s->steps;
    u->h    = u->cont + s->steps;
    cut_steps(x, input_gates(x, s), s->steps, u->gate);
    cont = fire_onnx_op(x, "Reshape", NULL, fire_onnx_in(x, FIRE_RECURRENT_CONT),
                        fire_onnx_integers(x, 3, dim), NULL);
    cut_steps(x, cont, s->steps, u->cont);
    u->w_hidden = transposed(x, s->w_hidden, "w_hidden");
}

/* All gates of step t: the inputs' part plus W_h (cont h). */
static const char *gates(fire_onnx_export_t *x, const unrolled_t *u, int64_t t,
                         const char *h)
{
    h = fire_onnx_op(x, "Mul", NULL, h, u->cont[t], NULL);
    h = fire_onnx_op(x, "MatMul", NULL, h, u->w_hidden, NULL);
    return fire_onnx_op(x, "Add", NULL, u->gate[t], h, NULL);
}

/* The outputs of all steps as one value. */
static const char *join(fire_onnx_export_t *x, const unrolled_t *u, const char *out)
{
    out = fire_onnx_op(x, "Concat", out, NULL);
    for (int64_t t = 0; t < u->s->steps; t++)
        fire_onnx_also(x, u->h[t]);
    fire_onnx_int(x, "axis", 0);
    return out;
}

/* c = cont f c_prev + i g and h = o tanh(c); the gates lie on axis 2 as i, f, o, g. */
static void lstm_cell(fire_onnx_export_t *x, int64_t units, const char *gate,
                      const char *cont, const char **c, const char **h)
{
    int64_t     part[4] = {units, units, units, units};
    const char *v[4], *keep;

    v[0] = fire_onnx_op(x, "Split", NULL, gate, fire_onnx_integers(x, 4, part), NULL);
    for (int i = 1; i < 4; i++)
        v[i] = fire_onnx_more(x, NULL);
    fire_onnx_int(x, "axis", 2);
    for (int i = 0; i < 4; i++)
        v[i] = fire_onnx_op(x, i < 3 ? "Sigmoid" : "Tanh", NULL, v[i], NULL);
    keep = fire_onnx_op(x, "Mul", NULL, v[1], cont, NULL);
    keep = fire_onnx_op(x, "Mul", NULL, keep, *c, NULL);
    v[0] = fire_onnx_op(x, "Mul", NULL, v[0], v[3], NULL);
    *c   = fire_onnx_op(x, "Add", NULL, keep, v[0], NULL);
    v[1] = fire_onnx_op(x, "Tanh", NULL, *c, NULL);
    *h   = fire_onnx_op(x, "Mul", NULL, v[2], v[1], NULL);
}

void fire_onnx_put_lstm(fire_onnx_export_t *x)
{
    unrolled_t  u;
    const char *h, *c;

    begin(x, &u);
    if (x->st >= 0) {
        h = first_state(x, u.s, 0);
        c = first_state(x, u.s, 1);
        for (int64_t t = 0; t < u.s->steps; t++) {
            lstm_cell(x, u.s->units, gates(x, &u, t, h), u.cont[t], &c, &h);
            u.h[t] = h;
        }
        join(x, &u, fire_onnx_out(x, 0));
        if (u.s->expose) {
            fire_onnx_same(x, h, 1);
            fire_onnx_same(x, c, 2);
        }
    }
    fire_free(u.gate);
}

/* h = tanh(gates), then o = tanh(W_o h + b_o) for all steps at once */
void fire_onnx_put_rnn(fire_onnx_export_t *x)
{
    unrolled_t  u;
    const char *h, *v;

    begin(x, &u);
    if (x->st >= 0) {
        h = first_state(x, u.s, 0);
        for (int64_t t = 0; t < u.s->steps; t++)
            u.h[t] = h = fire_onnx_op(x, "Tanh", NULL, gates(x, &u, t, h), NULL);
        v = join(x, &u, NULL);
        v = fire_onnx_op(x, "MatMul", NULL, v,
                         transposed(x, u.s->w_hidden + 1, "w_output"), NULL);
        v = fire_onnx_op(x, "Add", NULL, v,
                         fire_onnx_param(x, u.s->w_hidden + 2, "b_output"), NULL);
        fire_onnx_op(x, "Tanh", fire_onnx_out(x, 0), v, NULL);
        if (u.s->expose) fire_onnx_same(x, h, 1);
    }
    fire_free(u.gate);
}

/* Bottoms c_prev (1, N, D), gates (1, N, 4 D), cont (1, N); tops c and h. */
void fire_onnx_put_lstm_unit(fire_onnx_export_t *x)
{
    const fire_blob_t *b      = x->layer->bottom[0];
    int64_t            dim[3] = {1, b->dim[1], 1};
    const char        *c = fire_onnx_in(x, 0), *h, *cont = fire_onnx_in(x, 2);

    fire_onnx_needs_fixed(x, b, 0);
    cont = fire_onnx_op(x, "Reshape", NULL, cont, fire_onnx_integers(x, 3, dim), NULL);
    lstm_cell(x, b->dim[2], fire_onnx_in(x, 1), cont, &c, &h);
    fire_onnx_op(x, "Identity", fire_onnx_out(x, 0), c, NULL);
    fire_onnx_op(x, "Identity", fire_onnx_out(x, 1), h, NULL);
}
