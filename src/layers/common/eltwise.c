/* eltwise.c - product, weighted sum or maximum of two or more bottoms of one shape; a
 * weighted sum may be of one, as in FlowNet2. */
#include <float.h>

#include "device/cpu/blas.h"
#include "device/cpu/raw.h"
#include "layers/common/eltwise.h"
#include "layers/activation/relu.h"

#define PROD FIRE_ELTWISE(PROD)
#define SUM  FIRE_ELTWISE(SUM)
#define MAX  FIRE_ELTWISE(MAX)

typedef fire_eltwise_t eltwise_t;

static fire_status_t eltwise_setup(fire_layer_t *l)
{
    eltwise_t *s      = l->state;
    int        ncoeff = 0;

    s->param = l->param->eltwise_param;
    s->op    = s->param != NULL ? s->param->operation : SUM;
    if (s->param != NULL) ncoeff = (int)s->param->n_coeff;
    if (ncoeff != 0 && ncoeff != l->nbottom)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d coeffs for %d bottoms; give none or one for each", ncoeff,
                         l->nbottom);
    if (ncoeff != 0 && s->op != SUM)
        return FIRE_FAIL(FIRE_ERR_INVALID, "coeff is for operation SUM only");
    if (l->nbottom < 2 && s->op != SUM)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "takes at least 2 bottom blobs, not 1, unless operation is SUM");
    return FIRE_OK;
}

static float coeff(const eltwise_t *s, int i)
{
    return fire_eltwise_coeffs(s) != NULL ? fire_eltwise_coeffs(s)[i] : 1.0f;
}

static fire_status_t eltwise_reshape(fire_layer_t *l)
{
    eltwise_t *s = l->state;
    char       want[FIRE_SHAPE_TEXT], got[FIRE_SHAPE_TEXT];

    for (int i = 0; i < l->nbottom; i++)
        if (!fire_blob_same_shape(l->bottom[0], l->bottom[i]))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "bottom 0 is %s, bottom %d is %s: all must have one shape",
                             fire_blob_shape_string(l->bottom[0], want, sizeof(want)),
                             i, fire_blob_shape_string(l->bottom[i], got, sizeof(got)));
    if (s->op == MAX)
        FIRE_TRY(fire_grow(&s->winner, &s->cap, fire_blob_count(l->bottom[0]),
                           sizeof(*s->winner)));
    return fire_layer_reshape_same(l);
}

/* Take bottom b's elements into the product y. */
static void multiply(int64_t n, const float *x, int b, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = b == 0 ? x[i] : y[i] * x[i];
}

/* Take bottom b's elements into the maximum y. Equal ones: of the first two the
 * second wins, later ones lose, as in Caffe. */
static void maximize(const eltwise_t *s, int64_t n, const float *x, int b, float *y)
{
    for (int64_t i = 0; i < n; i++)
        if (b == 0 || x[i] > y[i] || (b == 1 && !(y[i] > x[i]))) {
            y[i]         = x[i];
            s->winner[i] = b;
        }
}

static fire_status_t eltwise_forward(fire_layer_t *l)
{
    const eltwise_t *s = l->state;
    int64_t          n = fire_blob_count(l->top[0]);
    const float     *x;
    float           *y;

    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    if (s->op == SUM) fire_fill(n, 0.0f, y);
    for (int b = 0; b < l->nbottom; b++) {
        FIRE_IN(l, l->bottom[b], FIRE_DATA, &x);
        if (s->op == PROD)
            multiply(n, x, b, y);
        else if (s->op == SUM)
            fire_axpy(n, coeff(s, b), x, y);
        else
            maximize(s, n, x, b, y);
    }
    return FIRE_OK;
}

/* dx = product of the other bottoms: multiplied once more (stable_prod_grad, the
 * default), or y / x, where the user promises that no x is 0. */
static fire_status_t product_of_others(fire_layer_t *l, int b, float *dx)
{
    const eltwise_t *s = l->state;
    int64_t          n = fire_blob_count(l->top[0]);
    const float     *x, *y;

    if (s->param->stable_prod_grad) {
        for (int other = 0, factors = 0; other < l->nbottom; other++) {
            if (other == b) continue;
            FIRE_IN(l, l->bottom[other], FIRE_DATA, &x);
            multiply(n, x, factors++, dx);
        }
        return FIRE_OK;
    }
    FIRE_IN(l, l->bottom[b], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < n; i++)
        dx[i] = y[i] / x[i];
    return FIRE_OK;
}

static fire_status_t eltwise_backward(fire_layer_t *l)
{
    const eltwise_t *s = l->state;
    int64_t          n = fire_blob_count(l->top[0]);
    const float     *dy;
    float           *dx;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    for (int b = 0; b < l->nbottom; b++) {
        if (!l->propagate_down[b]) continue;
        FIRE_OUT(l, l->bottom[b], FIRE_DIFF, &dx);
        if (s->op == PROD) FIRE_TRY(product_of_others(l, b, dx));
        for (int64_t i = 0; i < n; i++)
            dx[i] = s->op == PROD  ? dx[i] * dy[i]
                    : s->op == SUM ? coeff(s, b) * dy[i]
                                   : (s->winner[i] == b ? dy[i] : 0.0f);
    }
    return FIRE_OK;
}

/* ---- a sum in the format of the first bottom, with a ReLU that follows in place
 * ---- */

static const char *eltwise_simd_declines(const fire_layer_t *l)
{
    if (FIRE_STATE(l, eltwise_t)->op != SUM) return "it only adds";
    return fire_eltwise_declines(l);
}

/* Only in a lean net: a ReLU that runs by itself leaves in the top's diff the gradient
 * before it; absorbed, it does not, and somebody who looks at the blob would see
 * that. */
static bool eltwise_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return l->ctx->lean && l->fusion.nfollower == 0 && next->top[0] == l->top[0] &&
           fire_is_sign_relu(next);
}

static unsigned eltwise_simd_backward_reads(const fire_layer_t *l)
{
    return l->fusion.nfollower > 0 ? FIRE_READS_TOP : 0;
}

static fire_status_t eltwise_simd_forward(fire_layer_t *l)
{
    const eltwise_t *s = l->state;
    fire_format_t    f = fire_blob_format(l->bottom[0], FIRE_DATA);
    const float     *c = fire_eltwise_coeffs(s);
    const void      *x[FIRE_ELTWISE_MOST];
    void            *y;

    for (int b = 0; b < l->nbottom; b++)
        FIRE_IN_AS(l->bottom[b], FIRE_DATA, &f, &x[b]);
    if (l->fusion.spare != NULL)
        FIRE_TRY(fire_storage_swap(l->top[0]->part[FIRE_DATA],
                                   l->fusion.spare->part[FIRE_DATA]));
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    fire_raw_sum(f.dtype, fire_blob_raw_count(l->top[0], &f), l->nbottom, c, x,
                 fire_relu_follower_slope(l), y);
    return FIRE_OK;
}

static fire_status_t eltwise_simd_backward(fire_layer_t *l)
{
    fire_format_t f = fire_blob_format(l->top[0], FIRE_DIFF);
    void         *y = NULL, *dy, *dx[FIRE_ELTWISE_MOST];
    float         c[FIRE_ELTWISE_MOST];
    int           k = 0;

    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    if (l->fusion.nfollower > 0) FIRE_IN_AS(l->top[0], FIRE_DATA, &f, &y);
    for (int b = 0; b < l->nbottom; b++) {
        if (!l->propagate_down[b]) continue;
        FIRE_OUT_AS(l->bottom[b], FIRE_DIFF, &f, &dx[k]);
        c[k++] = coeff(l->state, b);
    }
    fire_raw_spread(f.dtype, fire_blob_raw_count(l->top[0], &f),
                    fire_relu_follower_slope(l), y, dy, k, c, dx);
    return FIRE_OK;
}

static void eltwise_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, eltwise_t)->winner);
}

static const fire_fusion_ops_t eltwise_simd_fusion = {
    .absorbs        = eltwise_simd_absorbs,
    .backward_reads = eltwise_simd_backward_reads,
    .reuses_bottom  = true,
};

const fire_kernel_t fire_eltwise_simd = {
    .name     = "simd",
    .declines = eltwise_simd_declines,
    .forward  = eltwise_simd_forward,
    .backward = eltwise_simd_backward,
    .fusion   = &eltwise_simd_fusion,
};

const fire_kernel_t fire_eltwise_ref = {
    .name     = "ref",
    .forward  = eltwise_forward,
    .backward = eltwise_backward,
};

extern const fire_kernel_t fire_eltwise_cuda; /* eltwise.cu */

static const fire_kernel_t *const eltwise_kernels[] = {
    FIRE_IF_CUDA(fire_eltwise_cuda) &fire_eltwise_simd, &fire_eltwise_ref, NULL};

const fire_layer_ops_t fire_layer_eltwise = {
    .type       = "Eltwise",
    .bottoms    = {1, -1},
    .tops       = {1, 1},
    .state_size = sizeof(eltwise_t),
    .setup      = eltwise_setup,
    .reshape    = eltwise_reshape,
    .teardown   = eltwise_teardown,
    .kernels    = eltwise_kernels,
};
