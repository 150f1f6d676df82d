/* recurrent.h - what RNN and LSTM share: T time steps of N sequences, with D units and
 *
 *   gates_t = W_x x_t + b + W_s x_static + W_h (cont_t * h_{t-1})
 *
 * The state after the last step is the state before the first step of the next pass;
 * with expose_hidden it comes from extra bottoms and goes to extra tops instead.
 *
 *   bottoms  x (T N ...), cont (T N), [x_static (N ...)], [h0 (1 N D), [c0 (1 N D)]]
 *   tops     h (T N D), [hT (1 N D), [cT (1 N D)]]
 *   blobs    W_x (gates, inputs), b (gates), [W_s (gates, statics)], W_h (gates, D),
 *            then those of the layer
 *
 * cont is 0 at the first step of a sequence and 1 elsewhere. */
#ifndef FIRE_LAYERS_RECURRENT_RECURRENT_H
#define FIRE_LAYERS_RECURRENT_RECURRENT_H
#include "layers/layer.h"

enum { FIRE_RECURRENT_X, FIRE_RECURRENT_CONT, FIRE_RECURRENT_STATIC };
enum { FIRE_RECURRENT_STATES = 2 }; /* at most: h and c */

/* A buffer of floats on the place of the kernel. */
typedef struct fire_recurrent_buffer {
    float  *x;
    int64_t cap; /* floats allocated */
} fire_recurrent_buffer_t;

typedef struct fire_recurrent {
    int     nstate; /* 1: h; 2: h and c */
    bool    has_static, expose;
    int64_t units, gates; /* D; width of gates_t */
    int64_t steps, rows;  /* T, N */
    int64_t inputs, statics;
    int     w_static, w_hidden; /* numbers of these blobs */

    /* For each lane, the state after its last pass. */
    fire_recurrent_buffer_t *carry; /* [lane * nstate + i] */
    int64_t                  ncarry;

    /* Kept from forward to backward. state[i]: (T + 1, N, D), the first step is the
     * state before. gate: (T, N, gates). masked: (T, N, D), cont_t * h_{t-1}. */
    fire_recurrent_buffer_t state[FIRE_RECURRENT_STATES], gate, masked;
    /* Of backward. d_gate: (T, N, gates). d_state[i]: (N, D), the gradient of the state
     * after the current step. ones: (T * N) ones, to sum rows with a product. */
    fire_recurrent_buffer_t d_gate, d_state[FIRE_RECURRENT_STATES], d_static, ones;
    fire_recurrent_buffer_t work; /* N x (gates + D) */
} fire_recurrent_t;

/* Setup of both layers: checks bottoms and adds the common blobs. nstate: 1 for h, 2
 * for h and c. gates_per_unit: 4 for LSTM, 1 for RNN. */
fire_status_t fire_recurrent_setup(fire_layer_t *l, int nstate, int gates_per_unit);
/* With Caffe's random numbers: Caffe unrolls time into layers that share W_h and the
 * layer's own blobs, but fills these blobs in every step and keeps only the first. Draw
 * the numbers of the later steps, too. Call when all blobs exist. */
fire_status_t fire_recurrent_draw_steps(fire_layer_t *l);
fire_status_t fire_recurrent_reshape(fire_layer_t *l);
double        fire_recurrent_macs(const fire_layer_t *l); /* of the common part */

/* prepare and release of every kernel, on any place. */
fire_status_t fire_recurrent_prepare(fire_layer_t *l);
void          fire_recurrent_release(fire_layer_t *l);

/* ---- arithmetic where the kernel runs ---- */

/* Make room for n floats; old contents are kept, the rest is zero. */
fire_status_t fire_recurrent_fit(const fire_layer_t *l, fire_recurrent_buffer_t *r,
                                 int64_t n);
/* y = cont[row] * x for each row of one step. */
fire_status_t fire_recurrent_scale(const fire_layer_t *l, const float *cont,
                                   const float *x, float *y);
/* y = x and y += x */
fire_status_t fire_recurrent_copy(const fire_layer_t *l, int64_t n, const float *x,
                                  float *y);
fire_status_t fire_recurrent_add(const fire_layer_t *l, int64_t n, const float *x,
                                 float *y);
/* y = x W^T + b for `rows` rows; weights and bias are numbers of blobs (bias -1:
 * none). */
fire_status_t fire_recurrent_product(fire_layer_t *l, int weights, int bias,
                                     int64_t rows, const float *x, float *y);

/* ---- steps that both layers take ---- */

/* Forward: begin() loads the previous state and computes the inputs' part of all gates.
 * For each t, gates() adds the recurrent part, then the layer computes state[i] of step
 * t + 1. end() stores the last state. */
fire_status_t fire_recurrent_begin(fire_layer_t *l);
fire_status_t fire_recurrent_gates(fire_layer_t *l, int64_t t, float **gate_p);
fire_status_t fire_recurrent_end(fire_layer_t *l);

/* Backward: back_begin(), then for t = T-1 ... 0 the layer computes d_gate of step t,
 * and back_step() adds to W_h's gradient and sets d_state[0] to the gradient of
 * h_{t-1}. back_end() computes the gradients of inputs, static inputs and their
 * weights. */
fire_status_t fire_recurrent_back_begin(fire_layer_t *l);
fire_status_t fire_recurrent_back_step(fire_layer_t *l, int64_t t);
fire_status_t fire_recurrent_back_end(fire_layer_t *l);

/* Backward of fire_recurrent_product(): adds to the gradients of the blobs `weights`
 * and `bias` (-1: none) where they learn; overwrites dx (NULL: not wanted). */
fire_status_t fire_recurrent_product_back(fire_layer_t *l, int weights, int bias,
                                          int64_t rows, const float *x, const float *dy,
                                          float *dx);

/* Step t of a buffer (T, N, width). */
static inline float *fire_recurrent_at(const fire_recurrent_t        *s,
                                       const fire_recurrent_buffer_t *buffer, int64_t t,
                                       int64_t width)
{
    return buffer->x + t * s->rows * width;
}
#endif
