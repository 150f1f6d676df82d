/* recurrent_math.c - memory and arithmetic of recurrent layers, on the place of their
 * kernel: each function runs on the CPU or calls the GPU's (recurrent_cuda.h). */
#include "device/cpu/blas.h"
#include "layers/recurrent/recurrent_cuda.h"
#include "layers/common/sums.h"
#include "layers/recurrent/recurrent.h"

static const fire_device_t *device_of(const fire_layer_t *l)
{
    return fire_device_find(l->kernel->where);
}

/* Old contents are kept; new memory is zero. */
fire_status_t fire_recurrent_fit(const fire_layer_t *l, fire_recurrent_buffer_t *r,
                                 int64_t n)
{
    const fire_device_t *device = device_of(l);
    void                *fresh;

    if (n <= r->cap) return FIRE_OK;
    FIRE_TRY(device->alloc((size_t)n * sizeof(float), &fresh));
    if (r->cap > 0) {
        fire_status_t st = device->copy(fresh, r->x, (size_t)r->cap * sizeof(float));

        device->free(st < 0 ? fresh : r->x);
        if (st < 0) return st;
    }
    *r = (fire_recurrent_buffer_t){fresh, n};
    return FIRE_OK;
}

static void release(const fire_layer_t *l, fire_recurrent_buffer_t *r)
{
    if (r->x != NULL) device_of(l)->free(r->x);
    *r = (fire_recurrent_buffer_t){0};
}

/* Allocate all buffers for the current shapes. */
fire_status_t fire_recurrent_prepare(fire_layer_t *l)
{
    fire_recurrent_t *s     = FIRE_STATE(l, fire_recurrent_t);
    int64_t           state = s->rows * s->units, gates = s->rows * s->gates;
    int64_t           n = s->steps * s->rows;

    for (int i = 0; i < s->nstate; i++) {
        FIRE_TRY(fire_recurrent_fit(l, &s->state[i], (s->steps + 1) * state));
        FIRE_TRY(fire_recurrent_fit(l, &s->d_state[i], state));
    }
    FIRE_TRY(fire_recurrent_fit(l, &s->gate, s->steps * gates));
    FIRE_TRY(fire_recurrent_fit(l, &s->d_gate, s->steps * gates));
    FIRE_TRY(fire_recurrent_fit(l, &s->masked, s->steps * state));
    FIRE_TRY(fire_recurrent_fit(l, &s->d_static, gates));
    FIRE_TRY(fire_recurrent_fit(l, &s->work, gates + state));
    FIRE_TRY(fire_recurrent_fit(l, &s->ones, n));
    return n > 0 ? device_of(l)->fill(s->ones.x, 1.0f, n) : FIRE_OK;
}

void fire_recurrent_release(fire_layer_t *l)
{
    fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    for (int64_t i = 0; i < s->ncarry; i++)
        release(l, &s->carry[i]);
    fire_free(s->carry);
    s->carry  = NULL;
    s->ncarry = 0;
    for (int i = 0; i < s->nstate; i++) {
        release(l, &s->state[i]);
        release(l, &s->d_state[i]);
    }
    release(l, &s->gate);
    release(l, &s->d_gate);
    release(l, &s->masked);
    release(l, &s->d_static);
    release(l, &s->work);
    release(l, &s->ones);
}

fire_status_t fire_recurrent_copy(const fire_layer_t *l, int64_t n, const float *x,
                                  float *y)
{
    return device_of(l)->copy(y, x, (size_t)n * sizeof(*y));
}

fire_status_t fire_recurrent_add(const fire_layer_t *l, int64_t n, const float *x,
                                 float *y)
{
    return device_of(l)->add_scaled(y, 1.0f, x, n);
}

/* C = op(A) op(B) + beta C */
static fire_status_t multiply(const fire_layer_t *l, fire_trans_t ta, fire_trans_t tb,
                              int64_t m, int64_t n, int64_t k, const float *a,
                              const float *b, float beta, float *c)
{
    FIRE_IF_GPU(l, fire_gpu_product(l, ta, tb, m, n, k, a, b, beta, c));
    fire_gemm(ta, tb, m, n, k, 1.0f, a, b, beta, c);
    (void)l;
    return FIRE_OK;
}

/* y[row] += x for all rows */
static fire_status_t add_row(const fire_layer_t *l, int64_t rows, int64_t width,
                             const float *x, float *y)
{
    FIRE_IF_GPU(l, fire_gpu_add_row(l->ctx->stream, rows, width, x, y));
    for (int64_t k = 0; k < rows; k++)
        for (int64_t i = 0; i < width; i++)
            y[k * width + i] += x[i];
    (void)l;
    return FIRE_OK;
}

/* sum += x[row] over all rows */
static fire_status_t sum_rows(const fire_layer_t *l, int64_t rows, int64_t width,
                              const float *x, float *sum)
{
    const fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    FIRE_IF_GPU(l, fire_gpu_add_rows(l->ctx->stream, rows, width, x, sum));
    fire_gemv(FIRE_TRANS, rows, width, 1.0f, x, s->ones.x, 1.0f, sum);
    return FIRE_OK;
}

/* y[row] = cont[row] * x[row] */
fire_status_t fire_recurrent_scale(const fire_layer_t *l, const float *cont,
                                   const float *x, float *y)
{
    const fire_recurrent_t *s = FIRE_STATE(l, fire_recurrent_t);

    FIRE_IF_GPU(l, fire_gpu_scale_rows(l->ctx->stream, s->rows, s->units, cont, x, y));
    for (int64_t n = 0; n < s->rows; n++)
        for (int64_t d = 0; d < s->units; d++)
            y[n * s->units + d] = cont[n] * x[n * s->units + d];
    return FIRE_OK;
}

/* x: (rows, inputs). y: (rows, outputs). W: (outputs, inputs). */
fire_status_t fire_recurrent_product(fire_layer_t *l, int weights, int bias,
                                     int64_t rows, const float *x, float *y)
{
    int64_t      outputs = l->blob[weights]->dim[0], inputs = l->blob[weights]->dim[1];
    const float *w, *b;

    FIRE_IN(l, l->blob[weights], FIRE_DATA, &w);
    FIRE_TRY(
        multiply(l, FIRE_NO_TRANS, FIRE_TRANS, rows, outputs, inputs, x, w, 0.0f, y));
    if (bias < 0) return FIRE_OK;
    FIRE_IN(l, l->blob[bias], FIRE_DATA, &b);
    return add_row(l, rows, outputs, b, y);
}

/* dW += dy^T x, db += column sums of dy, dx = dy W. */
fire_status_t fire_recurrent_product_back(fire_layer_t *l, int weights, int bias,
                                          int64_t rows, const float *x, const float *dy,
                                          float *dx)
{
    int64_t      outputs = l->blob[weights]->dim[0], inputs = l->blob[weights]->dim[1];
    const float *w;
    float       *diff;

    if (l->param_gradient[weights]) {
        FIRE_INOUT(l, l->blob[weights], FIRE_DIFF, &diff);
        FIRE_TRY(multiply(l, FIRE_TRANS, FIRE_NO_TRANS, outputs, inputs, rows, dy, x,
                          1.0f, diff));
    }
    if (bias >= 0 && l->param_gradient[bias]) {
        FIRE_INOUT(l, l->blob[bias], FIRE_DIFF, &diff);
        FIRE_TRY(sum_rows(l, rows, outputs, dy, diff));
    }
    if (dx == NULL) return FIRE_OK;
    FIRE_IN(l, l->blob[weights], FIRE_DATA, &w);
    return multiply(l, FIRE_NO_TRANS, FIRE_NO_TRANS, rows, inputs, outputs, dy, w, 0.0f,
                    dx);
}
