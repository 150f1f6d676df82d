/* slice.c - cuts the bottom along an axis: at the slice_points, or into equal parts,
 * one for each top */
#include <string.h>

#include "layers/shape/rows.h"
#include "layers/shape/view.h"
#ifdef FIRE_HAVE_CUDA
#    include "layers/shape/join.h"
#endif

typedef struct slice {
    int64_t outer, inner; /* products of the dimensions before and after the axis */
    int     axis;
} slice_t;

static fire_status_t find_axis(fire_layer_t *l, const Caffe__SliceParameter *p)
{
    if (p->has_axis && p->has_slice_dim)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give axis or slice_dim, not both");
    return fire_blob_axis(l->bottom[0], p->has_slice_dim ? (int)p->slice_dim : p->axis,
                          "slice_param", &FIRE_STATE(l, slice_t)->axis);
}

/* First index of top t along the axis, which has n; for t = ntop it is n. */
static int64_t cut(const fire_layer_t *l, const Caffe__SliceParameter *p, int64_t n,
                   int t)
{
    if (p->n_slice_point == 0) return n / l->ntop * t;
    if (t == 0) return 0;
    return t == l->ntop ? n : (int64_t)p->slice_point[t - 1];
}

static fire_status_t check_points(const fire_layer_t *l, const Caffe__SliceParameter *p,
                                  int64_t n)
{
    if (p->n_slice_point == 0 && n % l->ntop != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld cannot be cut into %d equal parts; give slice_point",
                         (long long)n, l->ntop);
    if (p->n_slice_point != 0 && (int)p->n_slice_point != l->ntop - 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d slice_points for %d tops; it must be "
                         "one less",
                         (int)p->n_slice_point, l->ntop);
    for (int t = 0; t < l->ntop; t++)
        if (cut(l, p, n, t) >= cut(l, p, n, t + 1) && n > 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "top %d would reach from %lld to %lld of %lld; "
                             "slice_points must rise and stay inside",
                             t, (long long)cut(l, p, n, t),
                             (long long)cut(l, p, n, t + 1), (long long)n);
    return FIRE_OK;
}

static fire_status_t slice_reshape(fire_layer_t *l)
{
    const Caffe__SliceParameter *p =
        FIRE_PARAM(l, slice_param, CAFFE__SLICE_PARAMETER__INIT);
    slice_t           *s = l->state;
    const fire_blob_t *x = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS], n;

    FIRE_TRY(find_axis(l, p));
    n = x->dim[s->axis];
    FIRE_TRY(check_points(l, p, n));
    memcpy(dim, x->dim, sizeof(dim));
    for (int t = 0; t < l->ntop; t++) {
        dim[s->axis] = cut(l, p, n, t + 1) - cut(l, p, n, t);
        FIRE_TRY(fire_blob_reshape(l->top[t], x->ndim, dim));
    }
    s->outer = fire_blob_count_range(x, 0, s->axis);
    s->inner = fire_blob_count_range(x, s->axis + 1, x->ndim);
    if (l->ntop == 1) fire_view_share(l);
    return FIRE_OK;
}

static fire_status_t slice_forward(fire_layer_t *l)
{
    const slice_t *s   = l->state;
    int64_t        row = l->bottom[0]->dim[s->axis] * s->inner;
    const float   *x;
    float         *y;

    if (l->ntop == 1) {
        fire_view_share(l);
        return FIRE_OK;
    }
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    for (int t = 0; t < l->ntop; t++) {
        int64_t n = l->top[t]->dim[s->axis] * s->inner;

        FIRE_OUT(l, l->top[t], FIRE_DATA, &y);
        fire_rows_copy(s->outer, n, x, row, y, n);
        x += n;
    }
    return FIRE_OK;
}

static fire_status_t slice_backward(fire_layer_t *l)
{
    const slice_t *s   = l->state;
    int64_t        row = l->bottom[0]->dim[s->axis] * s->inner;
    const float   *dy;
    float         *dx;

    if (!l->propagate_down[0] || l->ntop == 1) return FIRE_OK;
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    for (int t = 0; t < l->ntop; t++) {
        int64_t n = l->top[t]->dim[s->axis] * s->inner;

        FIRE_IN(l, l->top[t], FIRE_DIFF, &dy);
        fire_rows_copy(s->outer, n, dy, n, dx, row);
        dx += n;
    }
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
static fire_status_t slice_cuda_forward(fire_layer_t *l)
{
    if (l->ntop == 1) return slice_forward(l);
    return fire_gpu_cut(l, FIRE_STATE(l, slice_t)->axis, FIRE_DATA, l->ntop, l->top,
                        NULL, l->bottom[0]);
}

static fire_status_t slice_cuda_backward(fire_layer_t *l)
{
    if (!l->propagate_down[0] || l->ntop == 1) return FIRE_OK;
    return fire_gpu_join(l, FIRE_STATE(l, slice_t)->axis, FIRE_DIFF, l->ntop, l->top,
                         l->bottom[0]);
}

const fire_kernel_t fire_slice_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = slice_cuda_forward,
    .backward = slice_cuda_backward,
    .fusion   = &fire_fusion_reads_nothing,
};
#endif

const fire_kernel_t fire_slice_ref = {
    .name     = "ref",
    .forward  = slice_forward,
    .backward = slice_backward,
};

static const fire_kernel_t *const slice_kernels[] = {
    FIRE_IF_CUDA(fire_slice_cuda) &fire_slice_ref, NULL};

const fire_layer_ops_t fire_layer_slice = {
    .type       = "Slice",
    .bottoms    = {1, 1},
    .tops       = {1, -1},
    .state_size = sizeof(slice_t),
    .reshape    = slice_reshape,
    .kernels    = slice_kernels,
};
