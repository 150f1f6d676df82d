/* softmax.c - y = exp(x - max) / sum(exp(x - max)) along an axis; max, the largest x of
 * the axis, keeps exp() from overflowing */
#include "layers/common/softmax.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "device/cpu/blas.h"
#include "layers/scalar.h"

fire_status_t fire_softmax_reshape(fire_softmax_t *s, const fire_blob_t *x, int axis)
{
    FIRE_TRY(fire_blob_axis(x, axis, "softmax_param", &s->axis));
    s->outer   = fire_blob_count_range(x, 0, s->axis);
    s->classes = x->dim[s->axis];
    s->inner   = fire_blob_count_range(x, s->axis + 1, x->ndim);
    if (s->classes > INT32_MAX || s->inner > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "%lld classes at %lld places are too "
                         "many",
                         (long long)s->classes, (long long)s->inner);
    fire_softmax_fini(s);
    FIRE_TRY(FIRE_NEW(&s->ones, s->classes));
    FIRE_TRY(FIRE_NEW(&s->scale, s->inner));
    for (int64_t c = 0; c < s->classes; c++)
        s->ones[c] = 1.0f;
    return FIRE_OK;
}

void fire_softmax_fini(fire_softmax_t *s)
{
    fire_free(s->ones);
    fire_free(s->scale);
    s->ones = s->scale = NULL;
}

static void subtract_max(const fire_softmax_t *s, const float *x, float *y)
{
    memcpy(s->scale, x, (size_t)s->inner * sizeof(*x));
    for (int64_t c = 0; c < s->classes; c++)
        for (int64_t k = 0; k < s->inner; k++)
            s->scale[k] = fire_max(s->scale[k], x[c * s->inner + k]);
    for (int64_t c = 0; c < s->classes; c++)
        for (int64_t k = 0; k < s->inner; k++)
            y[c * s->inner + k] = x[c * s->inner + k] - s->scale[k];
}

void fire_softmax_forward(const fire_softmax_t *s, const float *x, float *y)
{
    int64_t dim = s->classes * s->inner;

    if (dim == 0) return;
    for (int64_t i = 0; i < s->outer; i++, x += dim, y += dim) {
        subtract_max(s, x, y);
        for (int64_t k = 0; k < dim; k++)
            y[k] = expf(y[k]);
        fire_gemv(FIRE_TRANS, s->classes, s->inner, 1.0f, y, s->ones, 0.0f, s->scale);
        for (int64_t c = 0; c < s->classes; c++)
            for (int64_t k = 0; k < s->inner; k++)
                y[c * s->inner + k] /= s->scale[k];
    }
}

/* dx = (dy - sum(dy * y)) * y */
static void softmax_gradient(const fire_softmax_t *s, const float *y, const float *dy,
                             float *dx)
{
    int64_t dim = s->classes * s->inner;

    for (int64_t i = 0; i < s->outer; i++, y += dim, dy += dim, dx += dim) {
        for (int64_t k = 0; k < s->inner; k++)
            s->scale[k] = cblas_sdot((int)s->classes, dy + k, (int)s->inner, y + k,
                                     (int)s->inner);
        for (int64_t c = 0; c < s->classes; c++)
            for (int64_t k = 0; k < s->inner; k++) {
                int64_t at = c * s->inner + k;

                dx[at] = (dy[at] - s->scale[k]) * y[at];
            }
    }
}

static fire_status_t softmax_reshape(fire_layer_t *l)
{
    const Caffe__SoftmaxParameter *p =
        FIRE_PARAM(l, softmax_param, CAFFE__SOFTMAX_PARAMETER__INIT);

    FIRE_TRY(
        fire_softmax_reshape(FIRE_STATE(l, fire_softmax_t), l->bottom[0], p->axis));
    return fire_layer_reshape_same(l);
}

static fire_status_t softmax_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    fire_softmax_forward(FIRE_STATE(l, fire_softmax_t), x, y);
    return FIRE_OK;
}

static fire_status_t softmax_backward(fire_layer_t *l)
{
    const float *y, *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    softmax_gradient(FIRE_STATE(l, fire_softmax_t), y, dy, dx);
    return FIRE_OK;
}

static void softmax_teardown(fire_layer_t *l)
{
    fire_softmax_fini(FIRE_STATE(l, fire_softmax_t));
}

const fire_kernel_t fire_softmax_ref = {
    .name     = "ref",
    .forward  = softmax_forward,
    .backward = softmax_backward,
};

extern const fire_kernel_t fire_softmax_cuda; /* softmax.cu */

static const fire_kernel_t *const softmax_kernels[] = {
    FIRE_IF_CUDA(fire_softmax_cuda) &fire_softmax_ref, NULL};

const fire_layer_ops_t fire_layer_softmax = {
    .type       = "Softmax",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_softmax_t),
    .reshape    = softmax_reshape,
    .teardown   = softmax_teardown,
    .kernels    = softmax_kernels,
};
