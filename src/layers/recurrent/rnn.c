/* rnn.c - RNN: h_t = tanh(gates_t), output o_t = tanh(W_o h_t + b_o), unrolled over T
 * time steps. Bottoms, tops and blobs: recurrent.h, then W_o (D, D) and b_o (D). */
#include <math.h>

#include "layers/recurrent/recurrent_cuda.h"
#include "layers/recurrent/recurrent.h"

/* One state, one gate per unit; W_o and b_o after the common blobs. */
static fire_status_t rnn_setup(fire_layer_t *l)
{
    const Caffe__RecurrentParameter *p = l->param->recurrent_param;
    fire_recurrent_t                *s = FIRE_STATE(l, fire_recurrent_t);

    FIRE_TRY(fire_recurrent_setup(l, 1, 1));
    FIRE_TRY(
        fire_layer_add_blob(l, 2, (int64_t[]){s->units, s->units}, p->weight_filler));
    FIRE_TRY(fire_layer_add_blob(l, 1, &s->units, p->bias_filler));
    return fire_recurrent_draw_steps(l);
}

static double rnn_macs(const fire_layer_t *l)
{
    const fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    return fire_recurrent_macs(l) +
           (double)(s->steps * s->rows) * (double)s->units * (double)s->units;
}

/* y = tanh(x) */
static fire_status_t squash(const fire_layer_t *l, int64_t n, const float *x, float *y)
{
    FIRE_IF_GPU(l, fire_gpu_tanh(l->ctx->stream, n, x, y));
    for (int64_t i = 0; i < n; i++)
        y[i] = tanhf(x[i]);
    (void)l;
    return FIRE_OK;
}

/* dx = (dy + more) (1 - y^2); more may be NULL. */
static fire_status_t squash_back(const fire_layer_t *l, int64_t n, const float *y,
                                 const float *dy, const float *more, float *dx)
{
    FIRE_IF_GPU(l, fire_gpu_tanh_back(l->ctx->stream, n, y, dy, more, dx));
    for (int64_t i = 0; i < n; i++)
        dx[i] = (more != NULL ? dy[i] + more[i] : dy[i]) * (1 - y[i] * y[i]);
    (void)l;
    return FIRE_OK;
}

/* Per step: gates, h = tanh(gates), o = tanh(W_o h + b_o) in the top. */
static fire_status_t rnn_forward(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n = s->rows * s->units;
    float            *gate, *y;

    FIRE_TRY(fire_recurrent_begin(l));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t t = 0; t < s->steps; t++, y += n) {
        float *h = fire_recurrent_at(s, &s->state[0], t + 1, s->units);

        FIRE_TRY(fire_recurrent_gates(l, t, &gate));
        FIRE_TRY(squash(l, n, gate, h));
        FIRE_TRY(
            fire_recurrent_product(l, s->w_hidden + 1, s->w_hidden + 2, s->rows, h, y));
        FIRE_TRY(squash(l, n, y, y));
    }
    return fire_recurrent_end(l);
}

/* The gradient of h_t that comes through the output o_t, to s->work. */
static fire_status_t output_back(fire_layer_t *l, int64_t t, const float *y,
                                 const float *dy)
{
    fire_recurrent_t *s     = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n     = s->rows * s->units;
    float            *d_sum = s->work.x + n;

    FIRE_TRY(squash_back(l, n, y, dy, NULL, d_sum));
    return fire_recurrent_product_back(
        l, s->w_hidden + 1, s->w_hidden + 2, s->rows,
        fire_recurrent_at(s, &s->state[0], t + 1, s->units), d_sum, s->work.x);
}

/* Per step: the gradient through the output, plus that of the next step's state. */
static fire_status_t rnn_backward(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n = s->rows * s->units;
    const float      *y, *dy;

    FIRE_TRY(fire_recurrent_back_begin(l));
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        const float *h = fire_recurrent_at(s, &s->state[0], t + 1, s->units);

        FIRE_TRY(output_back(l, t, y + t * n, dy + t * n));
        FIRE_TRY(squash_back(l, n, h, s->d_state[0].x, s->work.x,
                             fire_recurrent_at(s, &s->d_gate, t, s->gates)));
        FIRE_TRY(fire_recurrent_back_step(l, t));
    }
    return fire_recurrent_back_end(l);
}

const fire_kernel_t fire_rnn_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = fire_recurrent_prepare,
    .forward  = rnn_forward,
    .backward = rnn_backward,
    .release  = fire_recurrent_release,
};

const fire_kernel_t fire_rnn_ref = {
    .name     = "ref",
    .prepare  = fire_recurrent_prepare,
    .forward  = rnn_forward,
    .backward = rnn_backward,
    .release  = fire_recurrent_release,
};

static const fire_kernel_t *const rnn_kernels[] = {
    FIRE_IF_CUDA(fire_rnn_cuda) &fire_rnn_ref, NULL};

const fire_layer_ops_t fire_layer_rnn = {
    .type        = "RNN",
    .bottoms     = {2, 4},
    .tops        = {1, 2},
    .no_gradient = 1u << FIRE_RECURRENT_CONT,
    .state_size  = sizeof(fire_recurrent_t),
    .setup       = rnn_setup,
    .reshape     = fire_recurrent_reshape,
    .macs        = rnn_macs,
    .kernels     = rnn_kernels,
};
