/* lstm_cell.h - one time step of an LSTM without its matrix products: from the cell
 * state before and the gates' inputs to the cell state and output after.
 *   i, f, o = sigmoid(x_i), cont * sigmoid(x_f), sigmoid(x_o);  g = tanh(x_g)
 *   c = f * c_prev + i * g;  h = o * tanh(c) */
#ifndef FIRE_LAYERS_RECURRENT_LSTM_CELL_H
#define FIRE_LAYERS_RECURRENT_LSTM_CELL_H
#include <fire/api.h>

/* rows sequences of `units` cells; x and dx are rows x 4 units: i, f, o, g. cont is 0
 * where a new sequence begins and 1 elsewhere. */
void fire_lstm_cell(int64_t rows, int64_t units, const float *c_prev, const float *x,
                    const float *cont, float *c, float *h);
void fire_lstm_cell_back(int64_t rows, int64_t units, const float *c_prev,
                         const float *x, const float *cont, const float *c,
                         const float *dc, const float *dh, float *dc_prev, float *dx);
#endif
