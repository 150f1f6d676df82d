/* matmul.c - products of matrices that are both computed by the net, as attention has
 * them: y = op(a) op(b), where op() transposes if mat_mul_param says so.
 *
 *   bottoms  a (..., rows, inner), b (..., inner, columns); all axes before agree
 *   top      y (..., rows, columns) */
#include "layers/common/matmul.h"

#include <string.h>

#include "device/cpu/blas.h"

static fire_status_t matmul_reshape(fire_layer_t *l)
{
    const Caffe__MatMulParameter *p =
        FIRE_PARAM(l, mat_mul_param, CAFFE__MAT_MUL_PARAMETER__INIT);
    const fire_blob_t *a = l->bottom[0], *b = l->bottom[1];
    fire_matmul_t     *s    = FIRE_STATE(l, fire_matmul_t);
    int                ndim = a->ndim;
    int64_t            dim[FIRE_MAX_DIMS];
    char               got[FIRE_SHAPE_TEXT], with[FIRE_SHAPE_TEXT];
    bool               fits = ndim >= 2 && b->ndim == ndim;

    for (int i = 0; fits && i < ndim - 2; i++)
        fits = a->dim[i] == b->dim[i];
    if (fits) {
        s->transpose_a = p->transpose_a;
        s->transpose_b = p->transpose_b;
        s->n           = fire_blob_count_range(a, 0, ndim - 2);
        s->rows        = a->dim[p->transpose_a ? ndim - 1 : ndim - 2];
        s->inner       = a->dim[p->transpose_a ? ndim - 2 : ndim - 1];
        s->columns     = b->dim[p->transpose_b ? ndim - 2 : ndim - 1];
        fits           = s->inner == b->dim[p->transpose_b ? ndim - 1 : ndim - 2];
    }
    if (!fits)
        return FIRE_FAIL(FIRE_ERR_INVALID, "matrices of %s and %s cannot be multiplied",
                         fire_blob_shape_string(a, got, sizeof(got)),
                         fire_blob_shape_string(b, with, sizeof(with)));
    memcpy(dim, a->dim, sizeof(dim));
    dim[ndim - 2] = s->rows;
    dim[ndim - 1] = s->columns;
    return fire_blob_reshape(l->top[0], ndim, dim);
}

static fire_trans_t trans(bool transpose)
{
    return transpose ? FIRE_TRANS : FIRE_NO_TRANS;
}

static fire_status_t matmul_forward(fire_layer_t *l)
{
    const fire_matmul_t *s = FIRE_STATE(l, fire_matmul_t);
    const float         *a, *b;
    float               *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < s->n; i++)
        fire_gemm(trans(s->transpose_a), trans(s->transpose_b), s->rows, s->columns,
                  s->inner, 1.0f, a + i * s->rows * s->inner,
                  b + i * s->inner * s->columns, 0.0f, y + i * s->rows * s->columns);
    return FIRE_OK;
}

/* da = dy op(b)', or its transpose op(b) dy'. */
static fire_status_t backward_a(fire_layer_t *l, const float *dy)
{
    const fire_matmul_t *s = FIRE_STATE(l, fire_matmul_t);
    const float         *b;
    float               *da;

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &da);
    for (int64_t i = 0; i < s->n; i++) {
        const float *y = dy + i * s->rows * s->columns,
                    *m = b + i * s->inner * s->columns;
        float *out     = da + i * s->rows * s->inner;

        if (s->transpose_a)
            fire_gemm(trans(s->transpose_b), FIRE_TRANS, s->inner, s->rows, s->columns,
                      1.0f, m, y, 0.0f, out);
        else
            fire_gemm(FIRE_NO_TRANS, trans(!s->transpose_b), s->rows, s->inner,
                      s->columns, 1.0f, y, m, 0.0f, out);
    }
    return FIRE_OK;
}

/* db = op(a)' dy, or its transpose dy' op(a). */
static fire_status_t backward_b(fire_layer_t *l, const float *dy)
{
    const fire_matmul_t *s = FIRE_STATE(l, fire_matmul_t);
    const float         *a;
    float               *db;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &db);
    for (int64_t i = 0; i < s->n; i++) {
        const float *y = dy + i * s->rows * s->columns, *m = a + i * s->rows * s->inner;
        float       *out = db + i * s->inner * s->columns;

        if (s->transpose_b)
            fire_gemm(FIRE_TRANS, trans(s->transpose_a), s->columns, s->inner, s->rows,
                      1.0f, y, m, 0.0f, out);
        else
            fire_gemm(trans(!s->transpose_a), FIRE_NO_TRANS, s->inner, s->columns,
                      s->rows, 1.0f, m, y, 0.0f, out);
    }
    return FIRE_OK;
}

static fire_status_t matmul_backward(fire_layer_t *l)
{
    const float *dy;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (l->propagate_down[0]) FIRE_TRY(backward_a(l, dy));
    if (l->propagate_down[1]) FIRE_TRY(backward_b(l, dy));
    return FIRE_OK;
}

const fire_kernel_t fire_matmul_ref = {
    .name     = "ref",
    .forward  = matmul_forward,
    .backward = matmul_backward,
};

#ifdef FIRE_HAVE_CUDA
extern const fire_kernel_t fire_matmul_cuda;
#endif

static const fire_kernel_t *const matmul_kernels[] = {
    FIRE_IF_CUDA(fire_matmul_cuda) &fire_matmul_ref, NULL};

const fire_layer_ops_t fire_layer_matmul = {
    .type       = "MatMul",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .state_size = sizeof(fire_matmul_t),
    .reshape    = matmul_reshape,
    .kernels    = matmul_kernels,
};
