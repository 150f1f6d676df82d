/* recurrent.h - what RNN and LSTM share: T time steps over N sequences, with
 *   gates_t = W_x x_t + b + W_s x_static + W_h (cont_t * h_t-1)
 * and a state that is carried from one pass to the next, or, with expose_hidden, comes
 * in through extra bottoms and goes out through extra tops.
 *
 *   bottoms  x (T N ...), cont (T N), [x_static (N ...)], [h0 (1 N D), [c0 (1 N D)]]
 *   tops     h (T N D), [hT (1 N D), [cT (1 N D)]]
 *   blobs    W_x, b, [W_s], W_h, then those of the layer */
#ifndef FIRE_LAYERS_RECURRENT_RECURRENT_H
#define FIRE_LAYERS_RECURRENT_RECURRENT_H
#include "layers/layer.h"

enum { FIRE_RECURRENT_X, FIRE_RECURRENT_CONT, FIRE_RECURRENT_STATIC };
enum { FIRE_RECURRENT_STATES = 2 }; /* at most: h and c */

/* Memory where the kernel runs. */
typedef struct fire_room {
    float  *x;
    int64_t cap;
} fire_room_t;

typedef struct fire_recurrent {
    int     nstate; /* 1: h; 2: h and c */
    bool    has_static, expose;
    int64_t units, gates; /* D; width of gates_t */
    int64_t steps, rows;  /* T, N */
    int64_t inputs, statics;
    int     w_static, w_hidden; /* numbers of these blobs */

    /* For each lane, what its last pass ended with. */
    fire_room_t *carry; /* [lane * nstate + i] */
    int64_t      ncarry;

    /* Kept from forward to backward. state[i] has T + 1 steps, the first from before;
     * conted: cont_t * h_t-1. */
    fire_room_t state[FIRE_RECURRENT_STATES], gate, conted;
    /* Backward's. d_gate like gate; d_state: gradients arriving at one step. */
    fire_room_t d_gate, d_state[FIRE_RECURRENT_STATES], d_static, ones;
    fire_room_t work; /* N x (gates + D) */
} fire_recurrent_t;

/* gates per unit: 4 for LSTM, 1 for RNN. Adds the common blobs. */
fire_status_t fire_recurrent_setup(fire_layer_t *l, int nstate, int gates_per_unit);
/* With Caffe's random numbers: Caffe unrolls time into layers that share W_h and the
 * layer's own blobs, yet fills these for every step, though only the first step's stay.
 * Draw what the later steps draw. Call it when all blobs are there. */
fire_status_t fire_recurrent_draw_steps(fire_layer_t *l);
fire_status_t fire_recurrent_reshape(fire_layer_t *l);
double        fire_recurrent_macs(const fire_layer_t *l); /* of the common part */

/* prepare and release of every kernel, on any place. */
fire_status_t fire_recurrent_prepare(fire_layer_t *l);
void          fire_recurrent_release(fire_layer_t *l);

/* ---- arithmetic where the kernel runs ---- */

/* Room for n; what was there stays, the rest is zero. */
fire_status_t fire_recurrent_fit(const fire_layer_t *l, fire_room_t *r, int64_t n);
/* y = cont[row] * x for each row of one step. */
fire_status_t fire_recurrent_scale(const fire_layer_t *l, const float *cont,
                                   const float *x, float *y);
/* y = x and y += x */
fire_status_t fire_recurrent_copy(const fire_layer_t *l, int64_t n, const float *x,
                                  float *y);
fire_status_t fire_recurrent_add(const fire_layer_t *l, int64_t n, const float *x,
                                 float *y);
/* y = x W' + b for `rows` rows, with the blobs numbered so (bias -1: none). */
fire_status_t fire_recurrent_product(fire_layer_t *l, int weights, int bias,
                                     int64_t rows, const float *x, float *y);

/* ---- steps that both layers take ---- */

/* Forward: load the state from before and the inputs' part of all gates; for each t add
 * the recurrent part, then the layer computes state[i] of step t + 1; in the end hand
 * the state on. */
fire_status_t fire_recurrent_begin(fire_layer_t *l);
fire_status_t fire_recurrent_gates(fire_layer_t *l, int64_t t, float **gate_p);
fire_status_t fire_recurrent_end(fire_layer_t *l);

/* Backward: for t = T-1 ... 0 the layer writes d_gate of step t, and back_step() passes
 * it on: into W_h's diff, and into d_state[0], the gradient of h_t-1. back_end() does
 * the rest: inputs, static inputs and their weights. */
fire_status_t fire_recurrent_back_begin(fire_layer_t *l);
fire_status_t fire_recurrent_back_step(fire_layer_t *l, int64_t t);
fire_status_t fire_recurrent_back_end(fire_layer_t *l);

/* Backward of y = x W' (+ b) for `rows` rows: adds to the diffs of the blobs numbered
 * weights and bias (-1: none) where wanted, overwrites dx (NULL: not wanted). */
fire_status_t fire_recurrent_product_back(fire_layer_t *l, int weights, int bias,
                                          int64_t rows, const float *x, const float *dy,
                                          float *dx);

/* Step t of a buffer with `width` numbers per sequence. */
static inline float *fire_recurrent_at(const fire_recurrent_t *s,
                                       const fire_room_t *buffer, int64_t t,
                                       int64_t width)
{
    return buffer->x + t * s->rows * width;
}
#endif
