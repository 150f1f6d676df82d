/* matmul_cuda.c - MatMul by cuBLAS, all products in one call, in the net's precision. */
#include "layers/common/matmul.h"

#include "device/cuda/cublas.h"

static fire_format_t format_of(const fire_layer_t *l)
{
    return (fire_format_t){.place = FIRE_GPU, .dtype = l->ctx->precision};
}

/* n products m x k by k x columns. */
static fire_cuda_gemm_t product(const fire_layer_t *l, int64_t m, int64_t n, int64_t k)
{
    fire_dtype_t type = l->ctx->precision;

    return (fire_cuda_gemm_t){.m      = m,
                              .n      = n,
                              .k      = k,
                              .type   = type,
                              .c_type = type,
                              .tf32   = l->ctx->tf32,
                              .alpha  = 1,
                              .batch  = FIRE_STATE(l, fire_matmul_t)->n,
                              .a_step = m * k,
                              .b_step = k * n,
                              .c_step = m * n};
}

static fire_status_t matmul_cuda_forward(fire_layer_t *l)
{
    const fire_matmul_t *s = FIRE_STATE(l, fire_matmul_t);
    fire_format_t        f = format_of(l);
    fire_cuda_gemm_t     g = product(l, s->rows, s->columns, s->inner);
    void                *a, *b, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &a);
    FIRE_IN_AS(l->bottom[1], FIRE_DATA, &f, &b);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    g.transpose_a = s->transpose_a;
    g.transpose_b = s->transpose_b;
    return fire_cuda_gemm_run(l->ctx->stream, &g, a, b, y);
}

/* The products are those of matmul.c. */
static fire_status_t backward_a(fire_layer_t *l, const void *dy)
{
    const fire_matmul_t *s = FIRE_STATE(l, fire_matmul_t);
    fire_format_t        f = format_of(l);
    fire_cuda_gemm_t     g = product(l, s->rows, s->inner, s->columns);
    void                *b, *da;

    FIRE_IN_AS(l->bottom[1], FIRE_DATA, &f, &b);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &da);
    if (s->transpose_a) {
        g             = product(l, s->inner, s->rows, s->columns);
        g.transpose_a = s->transpose_b;
        g.transpose_b = true;
        return fire_cuda_gemm_run(l->ctx->stream, &g, b, dy, da);
    }
    g.transpose_b = !s->transpose_b;
    return fire_cuda_gemm_run(l->ctx->stream, &g, dy, b, da);
}

static fire_status_t backward_b(fire_layer_t *l, const void *dy)
{
    const fire_matmul_t *s = FIRE_STATE(l, fire_matmul_t);
    fire_format_t        f = format_of(l);
    fire_cuda_gemm_t     g = product(l, s->inner, s->columns, s->rows);
    void                *a, *db;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &a);
    FIRE_OUT_AS(l->bottom[1], FIRE_DIFF, &f, &db);
    if (s->transpose_b) {
        g             = product(l, s->columns, s->inner, s->rows);
        g.transpose_a = true;
        g.transpose_b = s->transpose_a;
        return fire_cuda_gemm_run(l->ctx->stream, &g, dy, a, db);
    }
    g.transpose_a = !s->transpose_a;
    return fire_cuda_gemm_run(l->ctx->stream, &g, a, dy, db);
}

static fire_status_t matmul_cuda_backward(fire_layer_t *l)
{
    fire_format_t f = format_of(l);
    void         *dy;

    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    if (l->propagate_down[0]) FIRE_TRY(backward_a(l, dy));
    if (l->propagate_down[1]) FIRE_TRY(backward_b(l, dy));
    return FIRE_OK;
}

const fire_kernel_t fire_matmul_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = matmul_cuda_forward,
    .backward = matmul_cuda_backward,
};
