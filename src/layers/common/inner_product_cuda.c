/* inner_product_cuda.c - InnerProduct by cuBLAS, or where there are few outputs by
 * kernels of our own, in the net's precision; gradients of the parameters are
 * float32. */
#include "layers/common/inner_product.h"

#include "device/cuda/cublas.h"
#include "layers/epilogue.h"
#include "layers/common/few_outputs.h"

/* The net's precision in the plain layout, where a row is one vector. */
static fire_format_t format_of(const fire_layer_t *l)
{
    return (fire_format_t){.place = FIRE_GPU, .dtype = l->ctx->precision};
}

static fire_gpu_view_t rows_of(const fire_inner_product_t *s)
{
    return (fire_gpu_view_t){s->rows, s->outputs, 1};
}

static bool has_few_outputs(const fire_inner_product_t *s)
{
    return !s->transpose && fire_gpu_few_outputs_fits(s->rows, s->inputs, s->outputs);
}

static fire_gpu_few_outputs_t few_outputs_of(const fire_layer_t *l)
{
    const fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);

    return (fire_gpu_few_outputs_t){(int)s->rows, (int)s->inputs, (int)s->outputs,
                                    l->ctx->precision};
}

static fire_status_t inner_product_cuda_forward(fire_layer_t *l)
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
    fire_gpu_few_outputs_t      t    = few_outputs_of(l);
    const float                *bias = NULL;
    void                       *x, *weights, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_IN_AS(l->blob[0], FIRE_DATA, &f, &weights);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    if (s->rows == 0) return FIRE_OK;
    if (s->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    if (has_few_outputs(s))
        return fire_gpu_few_outputs_forward(l->ctx->stream, &t, x, weights, bias,
                                            l->fusion.nfollower > 0, y);
    FIRE_TRY(fire_cuda_gemm_run(l->ctx->stream, &g, x, weights, y));
    return fire_gpu_epilogue_forward(l, rows_of(s), f.dtype, bias, y);
}

/* Weights' diff = (add ? diff : 0) + dy' x, or x' dy for weights of (inputs, outputs).
 * side_queue: on the side queue, so that it overlaps with the input's gradient. */
static fire_status_t weight_gradient(fire_layer_t *l, const void *dy, bool side_queue)
{
    const fire_inner_product_t *s     = FIRE_STATE(l, fire_inner_product_t);
    fire_format_t               f     = format_of(l);
    fire_gpu_few_outputs_t      t     = few_outputs_of(l);
    fire_cuda_gemm_t            g     = {.transpose_a = true,
                                         .m     = s->transpose ? s->inputs : s->outputs,
                                         .n     = s->transpose ? s->outputs : s->inputs,
                                         .k     = s->rows,
                                         .type  = f.dtype,
                                         .tf32  = l->ctx->tf32,
                                         .alpha = 1};
    fire_stream_t              *queue = l->ctx->stream;
    void                       *x;
    float                      *diff;
    bool                        add;
    fire_status_t               st;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_TRY(fire_gpu_gradient(l->blob[0], &add, &diff));
    g.beta = add ? 1 : 0;
    if (side_queue) FIRE_TRY(fire_cuda_side_queue_begin(queue));
    st = has_few_outputs(s)
             ? fire_gpu_few_outputs_backward_weights(queue, &t, dy, x, add, diff)
         : s->transpose ? fire_cuda_gemm_run(queue, &g, x, dy, diff)
                        : fire_cuda_gemm_run(queue, &g, dy, x, diff);
    return side_queue ? fire_cuda_side_queue_end(queue, st) : st;
}

/* Is a product so small that two of them fit on the GPU at the same time? */
static bool is_small(const fire_inner_product_t *s)
{
    return s->rows * s->inputs * s->outputs <= 64 << 20;
}

static fire_status_t inner_product_cuda_backward(fire_layer_t *l)
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
    fire_gpu_few_outputs_t      t = few_outputs_of(l);
    bool  side_queue = l->param_gradient[0] && l->propagate_down[0] && is_small(s);
    void *dy, *weights, *dx;

    if (s->rows == 0) return FIRE_OK;
    FIRE_TRY(fire_gpu_epilogue_backward(l, 0, rows_of(s), &f, s->bias, &dy));
    if (l->param_gradient[0]) FIRE_TRY(weight_gradient(l, dy, side_queue));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(l->blob[0], FIRE_DATA, &f, &weights);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_TRY(
        has_few_outputs(s)
            ? fire_gpu_few_outputs_backward_data(l->ctx->stream, &t, dy, weights, dx)
            : fire_cuda_gemm_run(l->ctx->stream, &g, dy, weights, dx));
    return side_queue ? fire_cuda_side_queue_join(l->ctx->stream) : FIRE_OK;
}

static const fire_fusion_ops_t inner_product_cuda_fusion = {
    .absorbs        = fire_gpu_epilogue_absorbs,
    .backward_reads = fire_gpu_epilogue_backward_reads,
};

const fire_kernel_t fire_inner_product_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = inner_product_cuda_forward,
    .backward = inner_product_cuda_backward,
    .fusion   = &inner_product_cuda_fusion,
};
