/* scale.c - Scale: y = x * g (+ b), repeated along the axes that g does not have.
 *
 *     bottom 0, top: any shape
 *     g: num_axes axes of it from `axis` on, blob 0 or bottom 1
 *     b, with bias_term: shaped as g, the last blob */
#include "layers/norm/scale.h"

typedef fire_scale_t scale_t;

static fire_status_t add_gain(fire_layer_t *l, const Caffe__ScaleParameter *p)
{
    Caffe__FillerParameter one = CAFFE__FILLER_PARAMETER__INIT;

    one.value = 1.0f;
    return fire_affine_add_blob(l, p->axis, p->num_axes,
                                p->filler != NULL ? p->filler : &one);
}

static fire_status_t scale_setup(fire_layer_t *l)
{
    static const Caffe__ScaleParameter defaults = CAFFE__SCALE_PARAMETER__INIT;
    const Caffe__ScaleParameter       *p        = l->param->scale_param;
    scale_t                           *s        = FIRE_STATE(l, scale_t);

    if (p == NULL) p = &defaults;
    s->axis = p->axis;
    s->bias = -1;
    if (l->nbottom == 1) FIRE_TRY(add_gain(l, p));
    if (!p->bias_term) return FIRE_OK;
    s->bias = l->nblob;
    return fire_affine_add_blob(
        l, p->axis, l->nbottom > 1 ? l->bottom[1]->ndim : p->num_axes, p->bias_filler);
}

static fire_blob_t *gain(const fire_layer_t *l)
{
    return l->nbottom > 1 ? l->bottom[1] : l->blob[0];
}

static fire_status_t scale_reshape(fire_layer_t *l)
{
    scale_t *s = FIRE_STATE(l, scale_t);

    FIRE_TRY(fire_affine_match(l->bottom[0], gain(l), s->axis, &s->view));
    return fire_layer_reshape_same(l);
}

/* Of `ref`. input: a copy of x, where y overwrites it. product: x * dy. partial, sum,
 * ones: for sums of products. */
typedef struct scale_ref {
    fire_scratch_t input, product, partial, sum, ones;
} scale_ref_t;

static bool in_place(const fire_layer_t *l)
{
    return l->top[0] == l->bottom[0];
}

static fire_status_t scale_prepare(fire_layer_t *l)
{
    const fire_affine_t *a = &FIRE_STATE(l, scale_t)->view;
    scale_ref_t         *r = l->kernel_state;

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    if (in_place(l))
        FIRE_TRY(fire_scratch_fit(&r->input, fire_blob_count(l->bottom[0])));
    FIRE_TRY(fire_scratch_fit(&r->product, fire_blob_count(l->bottom[0])));
    FIRE_TRY(fire_scratch_fit(&r->partial, a->outer * a->dim));
    FIRE_TRY(fire_scratch_fit(&r->sum, a->dim));
    return fire_scratch_ones(&r->ones, a->outer > a->inner ? a->outer : a->inner);
}

static void scale_release(fire_layer_t *l)
{
    scale_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->input);
    fire_scratch_free(&r->product);
    fire_scratch_free(&r->partial);
    fire_scratch_free(&r->sum);
    fire_scratch_free(&r->ones);
    fire_free(r);
    l->kernel_state = NULL;
}

static fire_status_t scale_forward(fire_layer_t *l)
{
    const scale_t *s = FIRE_STATE(l, scale_t);
    scale_ref_t   *r = l->kernel_state;
    const float   *x, *g, *b;
    float         *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, gain(l), FIRE_DATA, &g);
    if (in_place(l)) fire_copy(fire_blob_count(l->bottom[0]), x, r->input.x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    fire_affine_scale(&s->view, x, g, y);
    if (s->bias < 0) return FIRE_OK;
    FIRE_IN(l, l->blob[s->bias], FIRE_DATA, &b);
    fire_affine_shift(&s->view, y, b, y);
    return FIRE_OK;
}

/* sum[d] = sum over o and i of product(o, d, i), over inner axes first. Chooses among
 * copy, dot and gemv as Caffe does, which decides the order of additions. */
static const float *sum_product(const fire_affine_t *a, scale_ref_t *r)
{
    const float *partial = r->product.x, *ones = r->ones.x;

    if (a->inner != 1) {
        partial = r->partial.x;
        if (a->outer * a->dim == 1)
            r->partial.x[0] = fire_dot(a->inner, r->product.x, ones);
        else
            fire_gemv(FIRE_NO_TRANS, a->outer * a->dim, a->inner, 1.0f, r->product.x,
                      ones, 0.0f, r->partial.x);
    }
    if (a->outer == 1) return partial;
    if (a->dim == 1)
        r->sum.x[0] = fire_dot(a->outer, ones, partial);
    else
        fire_gemv(FIRE_TRANS, a->outer, a->dim, 1.0f, partial, ones, 0.0f, r->sum.x);
    return r->sum.x;
}

static fire_status_t backward_gain(fire_layer_t *l, const float *dy)
{
    const scale_t *s     = FIRE_STATE(l, scale_t);
    scale_ref_t   *r     = l->kernel_state;
    bool           param = l->nbottom == 1;
    const float   *x     = r->input.x, *sum;
    float         *dg;

    if (param ? !l->param_gradient[0] : !l->propagate_down[1]) return FIRE_OK;
    if (!in_place(l)) FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    for (int64_t i = 0; i < fire_blob_count(l->bottom[0]); i++)
        r->product.x[i] = dy[i] * x[i];
    sum = sum_product(&s->view, r);
    FIRE_INOUT(l, gain(l), FIRE_DIFF, &dg);
    for (int64_t d = 0; d < s->view.dim; d++)
        dg[d] = param ? dg[d] + sum[d] : sum[d];
    return FIRE_OK;
}

static fire_status_t scale_backward(fire_layer_t *l)
{
    const scale_t     *s = FIRE_STATE(l, scale_t);
    const scale_ref_t *r = l->kernel_state;
    const float       *dy, *g;
    float             *dx, *db;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (s->bias >= 0 && l->param_gradient[s->bias]) {
        FIRE_INOUT(l, l->blob[s->bias], FIRE_DIFF, &db);
        fire_affine_shift_back(&s->view, r->ones.x, dy, true, db);
    }
    FIRE_TRY(backward_gain(l, dy));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, gain(l), FIRE_DATA, &g);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    fire_affine_scale(&s->view, dy, g, dx);
    return FIRE_OK;
}

const fire_kernel_t fire_scale_ref = {
    .name     = "ref",
    .prepare  = scale_prepare,
    .forward  = scale_forward,
    .backward = scale_backward,
    .release  = scale_release,
};

extern const fire_kernel_t fire_scale_cuda; /* norm_cuda.c */
extern const fire_kernel_t fire_scale_simd; /* norm_simd.c */

static const fire_kernel_t *const scale_kernels[] = {
    FIRE_IF_CUDA(fire_scale_cuda) &fire_scale_simd, &fire_scale_ref, NULL};

const fire_layer_ops_t fire_layer_scale = {
    .type       = "Scale",
    .bottoms    = {1, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(scale_t),
    .setup      = scale_setup,
    .reshape    = scale_reshape,
    .kernels    = scale_kernels,
};
