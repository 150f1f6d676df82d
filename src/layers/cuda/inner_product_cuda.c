/* inner_product_cuda.c - InnerProduct by cuBLAS, in the net's precision; gradients of the
 * parameters are float32. */
#include "layers/common/inner_product.h"

#include "device/cuda/cublas.h"
#include "layers/cuda/epilogue.h"
#include "layers/cuda/kernels.h"

/* Vectors are rows of the plain layout. */
static fire_format_t format_of(const fire_layer_t *l)
{
    return (fire_format_t){.place = FIRE_GPU, .dtype = l->ctx->precision};
}

static fire_gpu_view_t rows_of(const fire_inner_product_t *s)
{
    return (fire_gpu_view_t){s->rows, s->outputs, 1};
}

fire_status_t fire_inner_product_cuda_forward(fire_layer_t *l)
{
    const fire_inner_product_t *s    = FIRE_STATE(l, fire_inner_product_t);
    fire_format_t               f    = format_of(l);
    fire_cuda_gemm_t            g    = {.transpose_b = !s->transpose,
                                        .m           = s->rows,
                                        .n           = s->outputs,
                                        .k           = s->inputs,
                                        .type        = f.dtype,
                                        .c_type      = f.dtype,
                                        .tf32        = l->ctx->tf32,
                                        .alpha       = 1};
    const float                *bias = NULL;
    void                       *x, *weights, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_IN_AS(l->blob[0], FIRE_DATA, &f, &weights);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    if (s->rows == 0) return FIRE_OK;
    FIRE_TRY(fire_cuda_gemm_run(l->ctx->stream, &g, x, weights, y));
    if (s->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    return fire_gpu_epilogue_forward(l, rows_of(s), f.dtype, bias, y);
}

/* diff (+)= dy' x, or x' dy where weights are (inputs, outputs) */
static fire_status_t weight_gradient(fire_layer_t *l, const void *dy)
{
    const fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);
    fire_format_t               f = format_of(l), plain = FIRE_FORMAT_PLAIN(FIRE_GPU);
    bool             first = fire_storage_is_zero(l->blob[0]->part[FIRE_DIFF]);
    fire_cuda_gemm_t g     = {.transpose_a = true,
                              .m           = s->transpose ? s->inputs : s->outputs,
                              .n           = s->transpose ? s->outputs : s->inputs,
                              .k           = s->rows,
                              .type        = f.dtype,
                              .tf32        = l->ctx->tf32,
                              .alpha       = 1,
                              .beta        = first ? 0 : 1};
    void            *x, *diff;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_TRY(fire_blob_access(l->blob[0], FIRE_DIFF, first ? FIRE_WRITE : FIRE_UPDATE,
                              &plain, &diff));
    return s->transpose ? fire_cuda_gemm_run(l->ctx->stream, &g, x, dy, diff)
                        : fire_cuda_gemm_run(l->ctx->stream, &g, dy, x, diff);
}

fire_status_t fire_inner_product_cuda_backward(fire_layer_t *l)
{
    const fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);
    fire_format_t               f = format_of(l);
    fire_cuda_gemm_t            g = {.transpose_b = s->transpose,
                                     .m           = s->rows,
                                     .n           = s->inputs,
                                     .k           = s->outputs,
                                     .type        = f.dtype,
                                     .c_type      = f.dtype,
                                     .tf32        = l->ctx->tf32,
                                     .alpha       = 1};
    void                       *dy, *weights, *dx;

    if (s->rows == 0) return FIRE_OK;
    FIRE_TRY(fire_gpu_epilogue_backward(l, 0, rows_of(s), &f, s->bias, &dy));
    if (l->param_gradient[0]) FIRE_TRY(weight_gradient(l, dy));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(l->blob[0], FIRE_DATA, &f, &weights);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    return fire_cuda_gemm_run(l->ctx->stream, &g, dy, weights, dx);
}
