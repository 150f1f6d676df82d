/* scale_route.c - ScaleRoute of Cascade R-CNN: the regions for one map of a pyramid, by
 * the root of their area.
 *
 *   bottom 0: (R, 5) regions: image, x1, y1, x2, y2
 *   bottoms:  (R, ...) what goes with them
 *   tops:     the rows of the bottoms whose region is of low_scale (inclusive) to
 *             high_scale; if there is none, the region that is nearest to their middle */
#include <float.h>
#include <math.h>
#include <string.h>

#include "layers/detection/bbox.h"

enum { ROI_ROW = 5 };
#define MIDDLE 256.0f /* without limits */

typedef struct route {
    float    low, high, middle;
    int64_t *chosen;
    int64_t  n, cap;
} route_t;

static fire_status_t route_setup(fire_layer_t *l)
{
    const Caffe__ScaleRouteParameter *p =
        FIRE_PARAM(l, scale_route_param, CAFFE__SCALE_ROUTE_PARAMETER__INIT);
    route_t *s = FIRE_STATE(l, route_t);

    if (l->nbottom != l->ntop)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%d bottoms need as many tops, not %d",
                         l->nbottom, l->ntop);
    s->low    = p->has_low_scale ? p->low_scale : 0.0f;
    s->high   = p->has_high_scale ? p->high_scale : FLT_MAX;
    s->middle = p->has_low_scale ? s->low : MIDDLE;
    if (p->has_high_scale)
        s->middle = p->has_low_scale ? sqrtf(s->low * s->high) : s->high;
    if (!(s->low <= s->high && s->middle > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "low_scale %g and high_scale %g must be positive and in order",
                         (double)s->low, (double)s->high);
    return FIRE_OK;
}

static fire_status_t shape_top(fire_layer_t *l, int i, int64_t rows)
{
    int64_t dim[FIRE_MAX_DIMS];

    memcpy(dim, l->bottom[i]->dim, (size_t)l->bottom[i]->ndim * sizeof(*dim));
    dim[0] = rows;
    return fire_blob_reshape(l->top[i], l->bottom[i]->ndim, dim);
}

static fire_status_t route_reshape(fire_layer_t *l)
{
    route_t *s = FIRE_STATE(l, route_t);
    int64_t  n = fire_blob_dim_or_1(l->bottom[0], 0);

    if (fire_blob_count(l->bottom[0]) != n * ROI_ROW)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the first bottom must have rows of %d numbers: image, x1, y1, "
            "x2, y2",
            ROI_ROW);
    for (int i = 0; i < l->nbottom; i++) {
        if (l->bottom[i]->ndim < 1 || l->bottom[i]->dim[0] != n)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "bottom %d has not the %lld rows of regions", i,
                             (long long)n);
        FIRE_TRY(shape_top(l, i, n > 0 ? 1 : 0));
    }
    return fire_grow(&s->chosen, &s->cap, n, sizeof(*s->chosen));
}

static void route_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, route_t)->chosen);
}

static void choose(route_t *s, const float *roi, int64_t n)
{
    float   least   = FLT_MAX;
    int64_t nearest = 0;

    s->n = 0;
    for (int64_t i = 0; i < n; i++, roi += ROI_ROW) {
        float w = roi[3] - roi[1] + 1.0f, h = roi[4] - roi[2] + 1.0f;
        float scale = w >= 1.0f && h >= 1.0f ? sqrtf(w * h) : 0.0f;
        float away  = fabsf(log2f(scale / s->middle));

        if (scale >= s->low && scale < s->high) s->chosen[s->n++] = i;
        if (!(away < least)) continue;
        least   = away;
        nearest = i;
    }
    if (s->n == 0 && n > 0) s->chosen[s->n++] = nearest;
}

static fire_status_t route_forward(fire_layer_t *l)
{
    route_t     *s = FIRE_STATE(l, route_t);
    int64_t      n = fire_blob_dim_or_1(l->bottom[0], 0);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    choose(s, x, n);
    for (int i = 0; i < l->nbottom; i++) {
        size_t row = n > 0 ? (size_t)(fire_blob_count(l->bottom[i]) / n) : 0;

        FIRE_TRY(shape_top(l, i, s->n));
        FIRE_IN(l, l->bottom[i], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[i], FIRE_DATA, &y);
        for (int64_t k = 0; k < s->n; k++)
            memcpy(y + (size_t)k * row, x + (size_t)s->chosen[k] * row,
                   row * sizeof(*y));
    }
    return FIRE_OK;
}

const fire_kernel_t fire_scale_route_ref = {
    .name    = "ref",
    .forward = route_forward,
};

static const fire_kernel_t *const route_kernels[] = {&fire_scale_route_ref, NULL};

const fire_layer_ops_t fire_layer_scale_route = {
    .type        = "ScaleRoute",
    .bottoms     = {1, 32},
    .tops        = {1, 32},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = ~0u,
    .state_size  = sizeof(route_t),
    .setup       = route_setup,
    .reshape     = route_reshape,
    .teardown    = route_teardown,
    .kernels     = route_kernels,
};
