/* lstm_cell.h - one time step of an LSTM without its matrix products: from the previous
 * cell state and the gates' inputs to the new cell state and output.
 *
 *   i, f, o = sigmoid(x_i), cont * sigmoid(x_f), sigmoid(x_o);  g = tanh(x_g)
 *   c = f * c_prev + i * g;  h = o * tanh(c) */
#ifndef FIRE_LAYERS_RECURRENT_LSTM_CELL_H
#define FIRE_LAYERS_RECURRENT_LSTM_CELL_H
#include <math.h>

#include "base/everywhere.h"
#include "layers/layer.h"

/* One step of `rows` sequences with `units` cells each, on the place of l's kernel.
 * c_prev, c, h and their gradients: (rows, units). x, dx: (rows, 4, units) in the order
 * i, f, o, g. cont: (rows), 0 where a new sequence begins, else 1. */
fire_status_t fire_lstm_cell(const fire_layer_t *l, int64_t rows, int64_t units,
                             const float *c_prev, const float *x, const float *cont,
                             float *c, float *h);
fire_status_t fire_lstm_cell_back(const fire_layer_t *l, int64_t rows, int64_t units,
                                  const float *c_prev, const float *x,
                                  const float *cont, const float *c, const float *dc,
                                  const float *dh, float *dc_prev, float *dx);

/* ---- one cell, k = row * units + unit ---- */

typedef struct fire_lstm_gates {
    float i, f, o, g;
} fire_lstm_gates_t;

/* Constants are double and exp has the argument's precision, as in Caffe's C++. */
FIRE_EVERYWHERE float fire_lstm_sigmoid(float x)
{
    return (float)(1.0 / (1.0 + expf(-x)));
}

FIRE_EVERYWHERE float fire_lstm_tanh(float x)
{
    return (float)(2.0 * (1.0 / (1.0 + exp(-(2.0 * x)))) - 1.0);
}

FIRE_EVERYWHERE fire_lstm_gates_t fire_lstm_open(int64_t units, const float *x,
                                                 float cont)
{
    fire_lstm_gates_t a;

    a.i = fire_lstm_sigmoid(x[0]);
    a.f = cont == 0 ? 0.0f : cont * fire_lstm_sigmoid(x[units]);
    a.o = fire_lstm_sigmoid(x[2 * units]);
    a.g = fire_lstm_tanh(x[3 * units]);
    return a;
}

FIRE_EVERYWHERE void fire_lstm_one(int64_t units, int64_t k, const float *c_prev,
                                   const float *x, const float *cont, float *c,
                                   float *h)
{
    int64_t           row = k / units;
    fire_lstm_gates_t a   = fire_lstm_open(units, x + k + 3 * row * units, cont[row]);

    c[k] = a.f * c_prev[k] + a.i * a.g;
    h[k] = a.o * fire_lstm_tanh(c[k]);
}

FIRE_EVERYWHERE void fire_lstm_one_back(int64_t units, int64_t k, const float *c_prev,
                                        const float *x, const float *cont,
                                        const float *c, const float *dc,
                                        const float *dh, float *dc_prev, float *dx)
{
    int64_t           row = k / units, at = k + 3 * row * units;
    fire_lstm_gates_t a      = fire_lstm_open(units, x + at, cont[row]);
    float             tanh_c = fire_lstm_tanh(c[k]);
    float             inside = dc[k] + dh[k] * a.o * (1 - tanh_c * tanh_c);

    dc_prev[k]         = inside * a.f;
    dx[at]             = inside * a.g * a.i * (1 - a.i);
    dx[at + units]     = inside * c_prev[k] * a.f * (1 - a.f);
    dx[at + 2 * units] = dh[k] * tanh_c * a.o * (1 - a.o);
    dx[at + 3 * units] = inside * a.i * (1 - a.g * a.g);
}
#endif
