/* lstm_unit.c - LSTMUnit: one time step of an LSTM without weights; Caffe's LSTM layer
 * is built of these.
 *
 *   bottom 0: (1, N, D) previous cell state
 *   bottom 1: (1, N, 4 D) inputs of the gates i, f, o, g
 *   bottom 2: (1, N) cont: 0 where a new sequence begins, else 1
 *   top 0:    (1, N, D) cell state
 *   top 1:    (1, N, D) output */
#include "layers/layer.h"
#include "layers/recurrent/lstm_cell.h"

enum { C_PREV, X, CONT }; /* bottoms */
enum { C, H };            /* tops */

/* Must the bottom have shape (1, rows, width), or (1, rows) for ndim 2? */
static fire_status_t check(const fire_blob_t *b, const char *what, int ndim,
                           int64_t rows, int64_t width)
{
    char shape[FIRE_SHAPE_TEXT];

    if (b->ndim == ndim && b->dim[0] == 1 && b->dim[1] == rows &&
        (ndim < 3 || b->dim[2] == width))
        return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%s must have shape 1 %lld%s%.0lld, it is %s",
                     what, (long long)rows, ndim < 3 ? "" : " ",
                     (long long)(ndim < 3 ? 0 : width),
                     fire_blob_shape_string(b, shape, sizeof(shape)));
}

static fire_status_t lstm_unit_reshape(fire_layer_t *l)
{
    const fire_blob_t *c = l->bottom[C_PREV];

    if (c->ndim != 3 || c->dim[0] != 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the first bottom (cell state) must have shape 1 N D");
    FIRE_TRY(check(l->bottom[X], "the second bottom (gate inputs)", 3, c->dim[1],
                   4 * c->dim[2]));
    FIRE_TRY(check(l->bottom[CONT], "the third bottom (cont)", 2, c->dim[1], 0));
    FIRE_TRY(fire_blob_reshape_like(l->top[C], c));
    return fire_blob_reshape_like(l->top[H], c);
}

static fire_status_t lstm_unit_forward(fire_layer_t *l)
{
    const int64_t *dim = l->bottom[C_PREV]->dim;
    const float   *c_prev, *x, *cont;
    float         *c, *h;

    FIRE_IN(l, l->bottom[C_PREV], FIRE_DATA, &c_prev);
    FIRE_IN(l, l->bottom[X], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[CONT], FIRE_DATA, &cont);
    FIRE_OUT(l, l->top[C], FIRE_DATA, &c);
    FIRE_OUT(l, l->top[H], FIRE_DATA, &h);
    return fire_lstm_cell(l, dim[1], dim[2], c_prev, x, cont, c, h);
}

/* Both gradients are computed even if only one is wanted. */
static fire_status_t lstm_unit_backward(fire_layer_t *l)
{
    const int64_t *dim = l->bottom[C_PREV]->dim;
    const float   *c_prev, *x, *cont, *c, *dc, *dh;
    float         *dc_prev, *dx;

    if (!l->propagate_down[C_PREV] && !l->propagate_down[X]) return FIRE_OK;
    FIRE_IN(l, l->bottom[C_PREV], FIRE_DATA, &c_prev);
    FIRE_IN(l, l->bottom[X], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[CONT], FIRE_DATA, &cont);
    FIRE_IN(l, l->top[C], FIRE_DATA, &c);
    FIRE_IN(l, l->top[C], FIRE_DIFF, &dc);
    FIRE_IN(l, l->top[H], FIRE_DIFF, &dh);
    FIRE_OUT(l, l->bottom[C_PREV], FIRE_DIFF, &dc_prev);
    FIRE_OUT(l, l->bottom[X], FIRE_DIFF, &dx);
    return fire_lstm_cell_back(l, dim[1], dim[2], c_prev, x, cont, c, dc, dh, dc_prev,
                               dx);
}

const fire_kernel_t fire_lstm_unit_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = lstm_unit_forward,
    .backward = lstm_unit_backward,
};

const fire_kernel_t fire_lstm_unit_ref = {
    .name     = "ref",
    .forward  = lstm_unit_forward,
    .backward = lstm_unit_backward,
};

static const fire_kernel_t *const lstm_unit_kernels[] = {
    FIRE_IF_CUDA(fire_lstm_unit_cuda) &fire_lstm_unit_ref, NULL};

const fire_layer_ops_t fire_layer_lstm_unit = {
    .type        = "LSTMUnit",
    .bottoms     = {3, 3},
    .tops        = {2, 2},
    .no_gradient = 1u << CONT,
    .reshape     = lstm_unit_reshape,
    .kernels     = lstm_unit_kernels,
};
