/* mvn.c - MVN: y = (x - mean) / (deviation + eps), without the division if
 * normalize_variance is false, over each channel of each image or, with
 * across_channels, over each image.
 *
 *     bottom: (N, C, ...)     top: the same in 4 axes, as in Caffe */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/common/sums.h"

typedef struct mvn {
    bool    variance, across;
    float   eps;
    int64_t rows, width; /* x as (rows, width): a row is normalised together */
} mvn_t;

static fire_status_t mvn_setup(fire_layer_t *l)
{
    static const Caffe__MVNParameter defaults = CAFFE__MVNPARAMETER__INIT;
    const Caffe__MVNParameter       *p =
        l->param->mvn_param ? l->param->mvn_param : &defaults;
    mvn_t *s = FIRE_STATE(l, mvn_t);

    s->variance = p->normalize_variance;
    s->across   = p->across_channels;
    s->eps      = p->eps;
    return FIRE_OK;
}

static fire_status_t mvn_reshape(fire_layer_t *l)
{
    mvn_t             *s = FIRE_STATE(l, mvn_t);
    const fire_blob_t *x = l->bottom[0];
    int64_t            dim[4];

    if (x->ndim > 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input may have at most 4 axes, it has %d", x->ndim);
    for (int i = 0; i < 4; i++)
        dim[i] = fire_blob_dim_or_1(x, i);
    s->rows  = s->across ? dim[0] : dim[0] * dim[1];
    s->width = s->rows > 0 ? fire_blob_count(x) / s->rows : 0;
    return fire_blob_reshape(l->top[0], 4, dim); /* as Caffe: always 4 axes */
}

typedef struct mvn_ref {
    fire_scratch_t mean, deviation, work, ones;
} mvn_ref_t;

static fire_status_t mvn_prepare(fire_layer_t *l)
{
    const mvn_t *s = FIRE_STATE(l, mvn_t);
    mvn_ref_t   *r = l->kernel_state;

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    FIRE_TRY(fire_scratch_fit(&r->mean, s->rows));
    FIRE_TRY(fire_scratch_fit(&r->deviation, s->rows));
    FIRE_TRY(fire_scratch_fit(&r->work, s->rows * s->width));
    return fire_scratch_ones(&r->ones, s->width);
}

static void mvn_release(fire_layer_t *l)
{
    mvn_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->mean);
    fire_scratch_free(&r->deviation);
    fire_scratch_free(&r->work);
    fire_scratch_free(&r->ones);
    fire_free(r);
    l->kernel_state = NULL;
}

/* out[row] = weight * sum of the row */
static void sum_rows(const mvn_t *s, const mvn_ref_t *r, float weight, const float *x,
                     float *out)
{
    fire_gemv(FIRE_NO_TRANS, s->rows, s->width, weight, x, r->ones.x, 0.0f, out);
}

static fire_status_t mvn_forward(fire_layer_t *l)
{
    const mvn_t *s      = FIRE_STATE(l, mvn_t);
    mvn_ref_t   *r      = l->kernel_state;
    int64_t      n      = s->rows * s->width;
    float        weight = (float)(1.0 / (double)s->width);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(
        l, fire_gpu_mvn(l->ctx->stream, s->rows, s->width, s->variance, s->eps, x, y));
    sum_rows(s, r, weight, x, r->mean.x);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] - r->mean.x[i / s->width];
    if (!s->variance) return FIRE_OK;
    for (int64_t i = 0; i < n; i++)
        r->work.x[i] = powf(y[i], 2.0f);
    sum_rows(s, r, weight, r->work.x, r->deviation.x);
    for (int64_t k = 0; k < s->rows; k++)
        r->deviation.x[k] = powf(r->deviation.x[k], 0.5f) + s->eps;
    for (int64_t i = 0; i < n; i++)
        y[i] /= r->deviation.x[i / s->width];
    return FIRE_OK;
}

/* dx = (dy - mean(dy) - y mean(dy y)) / deviation */
static void backward_variance(const mvn_t *s, mvn_ref_t *r, const float *y,
                              const float *dy, float *dx)
{
    int64_t n    = s->rows * s->width;
    float  *work = r->work.x, *sum = r->mean.x;

    for (int64_t i = 0; i < n; i++)
        work[i] = y[i] * dy[i];
    sum_rows(s, r, 1.0f, work, sum);
    for (int64_t i = 0; i < n; i++)
        work[i] = y[i] * sum[i / s->width];
    sum_rows(s, r, 1.0f, dy, sum);
    for (int64_t i = 0; i < n; i++)
        work[i] += sum[i / s->width];
    fire_axpby(n, 1.0f, dy, (float)(-1.0 / (double)s->width), work);
    for (int64_t i = 0; i < n; i++)
        dx[i] = work[i] / r->deviation.x[i / s->width];
}

static fire_status_t mvn_backward(fire_layer_t *l)
{
    const mvn_t *s = FIRE_STATE(l, mvn_t);
    mvn_ref_t   *r = l->kernel_state;
    const float *x, *y, *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_mvn_back(l->ctx->stream, s->rows, s->width, s->variance,
                                     s->eps, x, y, dy, dx));
    if (s->variance) {
        backward_variance(s, r, y, dy, dx);
        return FIRE_OK;
    }
    sum_rows(s, r, (float)(1.0 / (double)s->width), dy, r->mean.x);
    for (int64_t i = 0; i < s->rows * s->width; i++)
        dx[i] = dy[i] - r->mean.x[i / s->width];
    return FIRE_OK;
}

const fire_kernel_t fire_mvn_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = mvn_forward,
    .backward = mvn_backward,
};

const fire_kernel_t fire_mvn_ref = {
    .name     = "ref",
    .prepare  = mvn_prepare,
    .forward  = mvn_forward,
    .backward = mvn_backward,
    .release  = mvn_release,
};

static const fire_kernel_t *const mvn_kernels[] = {
    FIRE_IF_CUDA(fire_mvn_cuda) &fire_mvn_ref, NULL};

const fire_layer_ops_t fire_layer_mvn = {
    .type       = "MVN",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(mvn_t),
    .setup      = mvn_setup,
    .reshape    = mvn_reshape,
    .kernels    = mvn_kernels,
};
