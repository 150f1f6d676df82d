/* normalize.c - Normalize, SSD's L2 normalisation: y = g x / norm, norm = sqrt(sum of
 * x^2 + eps), where the sum is over the channels of each place or, with across_spatial,
 * over the whole image.
 *
 *     bottom, top: (N, C, H, W)     blob 0: g, (C), or () with channel_shared */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/memory_cuda.h"
#include "layers/common/sums.h"

typedef fire_gpu_unit_t normalize_t;

static fire_status_t normalize_setup(fire_layer_t *l)
{
    const Caffe__NormalizeParameter *p =
        FIRE_PARAM(l, norm_param, CAFFE__NORMALIZE_PARAMETER__INIT);
    normalize_t           *s   = FIRE_STATE(l, normalize_t);
    Caffe__FillerParameter one = CAFFE__FILLER_PARAMETER__INIT;

    if (l->bottom[0]->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have at least 2 axes (num, channels)");
    one.value   = 1.0f;
    s->across   = p->across_spatial;
    s->shared   = p->channel_shared;
    s->eps      = p->eps;
    s->channels = l->bottom[0]->dim[1];
    return fire_layer_add_blob(l, s->shared ? 0 : 1, &s->channels,
                               p->scale_filler != NULL ? p->scale_filler : &one);
}

static fire_status_t normalize_reshape(fire_layer_t *l)
{
    normalize_t       *s = FIRE_STATE(l, normalize_t);
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim < 2 || x->dim[1] != s->channels)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the layer was made for %lld channels",
                         (long long)s->channels);
    s->images = x->dim[0];
    s->plane  = fire_blob_count_range(x, 2, x->ndim);
    return fire_layer_reshape_same(l);
}

/* Of `ref`. norm: (N, H, W), or (N) with across_spatial, kept for backward. sum: one
 * image's sums in backward. */
typedef struct normalize_ref {
    fire_scratch_t norm, sum;
} normalize_ref_t;

static int64_t norms_of(const normalize_t *s)
{
    return s->images * (s->across ? 1 : s->plane);
}

/* On a GPU both arrays are in one allocation. */
static fire_status_t normalize_prepare(fire_layer_t *l)
{
    const normalize_t *s = FIRE_STATE(l, normalize_t);
    normalize_ref_t   *r = l->kernel_state;

    FIRE_IF_GPU(l, fire_gpu_keep(l, 2 * (size_t)norms_of(s) * sizeof(float)));
    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    FIRE_TRY(fire_scratch_fit(&r->norm, norms_of(s)));
    return fire_scratch_fit(&r->sum, s->across ? 1 : s->plane);
}

static void normalize_release(fire_layer_t *l)
{
    normalize_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->norm);
    fire_scratch_free(&r->sum);
    fire_free(r);
    l->kernel_state = NULL;
}

/* sum[k] = start + the sum of a * b over the elements that share norm k. */
static void sum_products(const normalize_t *s, float start, const float *a,
                         const float *b, float *sum)
{
    fire_fill(s->across ? 1 : s->plane, start, sum);
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t i = 0; i < s->plane; i++, a++, b++)
            sum[s->across ? 0 : i] += *a * *b;
}

static fire_status_t normalize_forward(fire_layer_t *l)
{
    const normalize_t *s   = FIRE_STATE(l, normalize_t);
    normalize_ref_t   *r   = l->kernel_state;
    int64_t            dim = s->channels * s->plane, norms = s->across ? 1 : s->plane;
    const float       *x, *g;
    float             *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &g);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_unit(l->ctx->stream, s, g, x, fire_gpu_kept(l), y));
    for (int64_t n = 0; n < s->images; n++, x += dim, y += dim) {
        float *norm = r->norm.x + n * norms;

        sum_products(s, s->eps, x, x, norm);
        for (int64_t i = 0; i < norms; i++)
            norm[i] = sqrtf(norm[i]);
        for (int64_t i = 0; i < dim; i++)
            y[i] = x[i] / norm[s->across ? 0 : i % s->plane] *
                   g[s->shared ? 0 : i / s->plane];
    }
    return FIRE_OK;
}

static fire_status_t backward_gain(fire_layer_t *l, const float *x, const float *dy)
{
    const normalize_t     *s   = FIRE_STATE(l, normalize_t);
    const normalize_ref_t *r   = l->kernel_state;
    int64_t                dim = s->channels * s->plane;
    float                 *dg;

    if (!l->param_gradient[0]) return FIRE_OK;
    FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dg);
    FIRE_IF_GPU(l, fire_gpu_unit_dg(l->ctx->stream, s, fire_gpu_kept(l), x, dy, dg));
    for (int64_t i = 0; i < s->images * dim; i++) {
        int64_t norm = s->across ? i / dim : i / dim * s->plane + i % s->plane;

        dg[s->shared ? 0 : i % dim / s->plane] += dy[i] * x[i] / r->norm.x[norm];
    }
    return FIRE_OK;
}

/* With d = g dy: dx = (d - x sum(d x) / norm^2) / norm */
static void backward_image(const normalize_t *s, const float *x, const float *dy,
                           const float *g, const float *norm, float *sum, float *dx)
{
    int64_t dim = s->channels * s->plane;

    for (int64_t i = 0; i < dim; i++)
        dx[i] = dy[i] * g[s->shared ? 0 : i / s->plane];
    sum_products(s, 0.0f, dx, x, sum);
    for (int64_t i = 0; i < dim; i++) {
        int64_t k = s->across ? 0 : i % s->plane;

        dx[i] = (dx[i] - x[i] * sum[k] / (norm[k] * norm[k])) / norm[k];
    }
}

static fire_status_t normalize_backward(fire_layer_t *l)
{
    const normalize_t *s     = FIRE_STATE(l, normalize_t);
    normalize_ref_t   *r     = l->kernel_state;
    int64_t            dim   = s->channels * s->plane;
    int64_t            norms = s->across ? 1 : s->plane;
    const float       *x, *g, *dy;
    float             *dx;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &g);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_TRY(backward_gain(l, x, dy));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_unit_dx(l->ctx->stream, s, g, fire_gpu_kept(l), x, dy,
                                    (float *)fire_gpu_kept(l) + norms_of(s), dx));
    for (int64_t n = 0; n < s->images; n++)
        backward_image(s, x + n * dim, dy + n * dim, g, r->norm.x + n * norms, r->sum.x,
                       dx + n * dim);
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_normalize_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = normalize_prepare,
    .forward  = normalize_forward,
    .backward = normalize_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_normalize_ref = {
    .name     = "ref",
    .prepare  = normalize_prepare,
    .forward  = normalize_forward,
    .backward = normalize_backward,
    .release  = normalize_release,
};

static const fire_kernel_t *const normalize_kernels[] = {
    FIRE_IF_CUDA(fire_normalize_cuda) &fire_normalize_ref, NULL};

const fire_layer_ops_t fire_layer_normalize = {
    .type       = "Normalize",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(normalize_t),
    .setup      = normalize_setup,
    .reshape    = normalize_reshape,
    .kernels    = normalize_kernels,
};
