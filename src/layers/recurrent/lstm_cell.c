#include "layers/recurrent/lstm_cell.h"

#include <math.h>

/* Constants in double, exp in the argument's precision: what Caffe's C++ comes to. */
static float sigmoid(float x)
{
    return (float)(1.0 / (1.0 + expf(-x)));
}

static float hyperbolic(float x)
{
    return (float)(2.0 * (1.0 / (1.0 + exp(-(2.0 * x)))) - 1.0);
}

typedef struct gates {
    float i, f, o, g;
} gates_t;

static gates_t open_gates(int64_t units, const float *x, float cont)
{
    return (gates_t){.i = sigmoid(x[0]),
                     .f = cont == 0 ? 0.0f : cont * sigmoid(x[units]),
                     .o = sigmoid(x[2 * units]),
                     .g = hyperbolic(x[3 * units])};
}

void fire_lstm_cell(int64_t rows, int64_t units, const float *c_prev, const float *x,
                    const float *cont, float *c, float *h)
{
    for (int64_t n = 0; n < rows; n++, x += 3 * units)
        for (int64_t d = 0; d < units; d++, x++, c_prev++, c++, h++) {
            gates_t a = open_gates(units, x, cont[n]);

            *c = a.f * *c_prev + a.i * a.g;
            *h = a.o * hyperbolic(*c);
        }
}

void fire_lstm_cell_back(int64_t rows, int64_t units, const float *c_prev,
                         const float *x, const float *cont, const float *c,
                         const float *dc, const float *dh, float *dc_prev, float *dx)
{
    for (int64_t n = 0; n < rows; n++, x += 3 * units, dx += 3 * units)
        for (int64_t d = 0; d < units; d++, x++, dx++) {
            int64_t k      = n * units + d;
            gates_t a      = open_gates(units, x, cont[n]);
            float   tanh_c = hyperbolic(c[k]);
            float   inside = dc[k] + dh[k] * a.o * (1 - tanh_c * tanh_c);

            dc_prev[k]    = inside * a.f;
            dx[0]         = inside * a.g * a.i * (1 - a.i);
            dx[units]     = inside * c_prev[k] * a.f * (1 - a.f);
            dx[2 * units] = dh[k] * tanh_c * a.o * (1 - a.o);
            dx[3 * units] = inside * a.i * (1 - a.g * a.g);
        }
}
