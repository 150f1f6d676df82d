/* recurrent.cu - GPU kernels of recurrent layers. The formulas of a cell are those of
 * the CPU (lstm_cell.h). */
#include "layers/recurrent/recurrent_cuda.h"

#include "device/cuda/cublas.h"
#include "device/cuda/kernel/each.h"
#include "layers/recurrent/lstm_cell.h"

/* cuBLAS; TF32 only if the net allows it. */
fire_status_t fire_gpu_product(const fire_layer_t *l, fire_trans_t ta, fire_trans_t tb,
                               int64_t m, int64_t n, int64_t k, const float *a,
                               const float *b, float beta, float *c)
{
    fire_cuda_gemm_t g = {};

    g.transpose_a = ta == FIRE_TRANS;
    g.transpose_b = tb == FIRE_TRANS;
    g.m           = m;
    g.n           = n;
    g.k           = k;
    g.alpha       = 1.0f;
    g.beta        = beta;
    g.tf32        = l->ctx->tf32;
    return fire_cuda_gemm_run(l->ctx->stream, &g, a, b, c);
}

fire_status_t fire_gpu_scale_rows(fire_stream_t *s, int64_t rows, int64_t width,
                                  const float *factor, const float *x, float *y)
{
    return fire_each(s, rows * width,
                     [=] __device__(int64_t i) { y[i] = factor[i / width] * x[i]; });
}

fire_status_t fire_gpu_add_row(fire_stream_t *s, int64_t rows, int64_t width,
                               const float *x, float *y)
{
    return fire_each(s, rows * width,
                     [=] __device__(int64_t i) { y[i] += x[i % width]; });
}

fire_status_t fire_gpu_tanh(fire_stream_t *s, int64_t n, const float *x, float *y)
{
    return fire_each(s, n, [=] __device__(int64_t i) { y[i] = tanhf(x[i]); });
}

fire_status_t fire_gpu_tanh_back(fire_stream_t *s, int64_t n, const float *y,
                                 const float *dy, const float *more, float *dx)
{
    return fire_each(s, n, [=] __device__(int64_t i) {
        float d = more != NULL ? dy[i] + more[i] : dy[i];

        dx[i] = d * (1 - y[i] * y[i]);
    });
}

/* A thread per cell. */
fire_status_t fire_gpu_lstm(fire_stream_t *s, int64_t rows, int64_t units,
                            const float *c_prev, const float *x, const float *cont,
                            float *c, float *h)
{
    return fire_each(s, rows * units, [=] __device__(int64_t k) {
        fire_lstm_one(units, k, c_prev, x, cont, c, h);
    });
}

fire_status_t fire_gpu_lstm_back(fire_stream_t *s, int64_t rows, int64_t units,
                                 const float *c_prev, const float *x, const float *cont,
                                 const float *c, const float *dc, const float *dh,
                                 float *dc_prev, float *dx)
{
    return fire_each(s, rows * units, [=] __device__(int64_t k) {
        fire_lstm_one_back(units, k, c_prev, x, cont, c, dc, dh, dc_prev, dx);
    });
}
