/* lstm_cell.c - the LSTM cell for all cells of a time step, on CPU or GPU. */
#include "layers/recurrent/lstm_cell.h"

#include "layers/recurrent/recurrent_cuda.h"

fire_status_t fire_lstm_cell(const fire_layer_t *l, int64_t rows, int64_t units,
                             const float *c_prev, const float *x, const float *cont,
                             float *c, float *h)
{
    FIRE_IF_GPU(l, fire_gpu_lstm(l->ctx->stream, rows, units, c_prev, x, cont, c, h));
    for (int64_t k = 0; k < rows * units; k++)
        fire_lstm_one(units, k, c_prev, x, cont, c, h);
    (void)l;
    return FIRE_OK;
}

fire_status_t fire_lstm_cell_back(const fire_layer_t *l, int64_t rows, int64_t units,
                                  const float *c_prev, const float *x,
                                  const float *cont, const float *c, const float *dc,
                                  const float *dh, float *dc_prev, float *dx)
{
    FIRE_IF_GPU(l, fire_gpu_lstm_back(l->ctx->stream, rows, units, c_prev, x, cont, c,
                                      dc, dh, dc_prev, dx));
    for (int64_t k = 0; k < rows * units; k++)
        fire_lstm_one_back(units, k, c_prev, x, cont, c, dc, dh, dc_prev, dx);
    (void)l;
    return FIRE_OK;
}
