/* lstm.c - LSTM: long short-term memory (Hochreiter and Schmidhuber, 1997; in the form
 * of Zaremba and Sutskever, 2014), unrolled over T time steps. Bottoms, tops and blobs:
 * recurrent.h. The 4 D gates of a step are in the order i, f, o, g; lstm_cell.h has the
 * formulas. */
#include "layers/recurrent/lstm_cell.h"
#include "layers/recurrent/recurrent.h"

/* Indices of the states: output and cell. */
enum { H, C };

/* Two states (h and c), four gates per unit. */
static fire_status_t lstm_setup(fire_layer_t *l)
{
    FIRE_TRY(fire_recurrent_setup(l, 2, 4));
    return fire_recurrent_draw_steps(l);
}

/* Per step: gates (4 D), then the cell state and output of all cells. */
static fire_status_t lstm_forward(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);
    const float      *cont;
    float            *gate, *y;

    FIRE_TRY(fire_recurrent_begin(l));
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_CONT], FIRE_DATA, &cont);
    for (int64_t t = 0; t < s->steps; t++) {
        FIRE_TRY(fire_recurrent_gates(l, t, &gate));
        FIRE_TRY(fire_lstm_cell(
            l, s->rows, s->units, fire_recurrent_at(s, &s->state[C], t, s->units), gate,
            cont + t * s->rows, fire_recurrent_at(s, &s->state[C], t + 1, s->units),
            fire_recurrent_at(s, &s->state[H], t + 1, s->units)));
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_TRY(fire_recurrent_copy(l, s->steps * s->rows * s->units,
                                 fire_recurrent_at(s, &s->state[H], 1, s->units), y));
    return fire_recurrent_end(l);
}

/* dc and dh are overwritten by the gradients of the previous step's state. */
static fire_status_t lstm_backward(fire_layer_t *l)
{
    fire_recurrent_t *s  = FIRE_STATE(l, fire_recurrent_t);
    int64_t           n  = s->rows * s->units;
    float            *dh = s->d_state[H].x, *dc = s->d_state[C].x;
    const float      *cont, *dy;

    FIRE_TRY(fire_recurrent_back_begin(l));
    FIRE_IN(l, l->bottom[FIRE_RECURRENT_CONT], FIRE_DATA, &cont);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        FIRE_TRY(fire_recurrent_add(l, n, dy + t * n, dh));
        FIRE_TRY(fire_lstm_cell_back(
            l, s->rows, s->units, fire_recurrent_at(s, &s->state[C], t, s->units),
            fire_recurrent_at(s, &s->gate, t, s->gates), cont + t * s->rows,
            fire_recurrent_at(s, &s->state[C], t + 1, s->units), dc, dh, dc,
            fire_recurrent_at(s, &s->d_gate, t, s->gates)));
        FIRE_TRY(fire_recurrent_back_step(l, t));
    }
    return fire_recurrent_back_end(l);
}

const fire_kernel_t fire_lstm_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = fire_recurrent_prepare,
    .forward  = lstm_forward,
    .backward = lstm_backward,
    .release  = fire_recurrent_release,
};

const fire_kernel_t fire_lstm_ref = {
    .name     = "ref",
    .prepare  = fire_recurrent_prepare,
    .forward  = lstm_forward,
    .backward = lstm_backward,
    .release  = fire_recurrent_release,
};

static const fire_kernel_t *const lstm_kernels[] = {
    FIRE_IF_CUDA(fire_lstm_cuda) &fire_lstm_ref, NULL};

const fire_layer_ops_t fire_layer_lstm = {
    .type        = "LSTM",
    .bottoms     = {2, 5},
    .tops        = {1, 3},
    .no_gradient = 1u << FIRE_RECURRENT_CONT,
    .state_size  = sizeof(fire_recurrent_t),
    .setup       = lstm_setup,
    .reshape     = fire_recurrent_reshape,
    .macs        = fire_recurrent_macs,
    .kernels     = lstm_kernels,
};
