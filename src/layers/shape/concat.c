/* concat.c - puts bottoms one after another along an axis (1, channels, by default) */
#include <string.h>

#include "device/cpu/blocked.h"
#include "device/cpu/raw.h"
#include "layers/shape/rows.h"
#include "layers/shape/view.h"
#ifdef FIRE_HAVE_CUDA
#    include "layers/shape/join.h"
#endif

typedef struct concat {
    int64_t outer, inner; /* products of the dimensions before and after the axis */
    int     axis;
} concat_t;

static fire_status_t find_axis(fire_layer_t *l)
{
    const Caffe__ConcatParameter *p =
        FIRE_PARAM(l, concat_param, CAFFE__CONCAT_PARAMETER__INIT);

    if (p->has_axis && p->has_concat_dim)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give axis or concat_dim, not both");
    return fire_blob_axis(l->bottom[0],
                          p->has_concat_dim ? (int)p->concat_dim : p->axis,
                          "concat_param", &FIRE_STATE(l, concat_t)->axis);
}

/* Do two blobs have the same shape but for one axis? */
static bool fits(const fire_blob_t *a, const fire_blob_t *b, int axis)
{
    for (int i = 0; a->ndim == b->ndim && i < a->ndim; i++)
        if (i != axis && a->dim[i] != b->dim[i]) return false;
    return a->ndim == b->ndim;
}

static fire_status_t concat_reshape(fire_layer_t *l)
{
    concat_t          *s     = l->state;
    const fire_blob_t *first = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS], sum = 0;
    char               want[FIRE_SHAPE_TEXT], got[FIRE_SHAPE_TEXT];

    FIRE_TRY(find_axis(l));
    for (int i = 0; i < l->nbottom; i++) {
        if (!fits(first, l->bottom[i], s->axis))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "bottom 0 is %s, bottom %d is %s: they may differ on axis "
                             "%d only",
                             fire_blob_shape_string(first, want, sizeof(want)), i,
                             fire_blob_shape_string(l->bottom[i], got, sizeof(got)),
                             s->axis);
        sum += l->bottom[i]->dim[s->axis];
    }
    memcpy(dim, first->dim, sizeof(dim));
    dim[s->axis] = sum;
    s->outer     = fire_blob_count_range(first, 0, s->axis);
    s->inner     = fire_blob_count_range(first, s->axis + 1, first->ndim);
    FIRE_TRY(fire_blob_reshape(l->top[0], first->ndim, dim));
    if (l->nbottom == 1) fire_view_share(l);
    return FIRE_OK;
}

static fire_status_t concat_forward(fire_layer_t *l)
{
    const concat_t *s   = l->state;
    int64_t         row = l->top[0]->dim[s->axis] * s->inner;
    const float    *x;
    float          *y;

    if (l->nbottom == 1) {
        fire_view_share(l);
        return FIRE_OK;
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int b = 0; b < l->nbottom; b++) {
        int64_t n = l->bottom[b]->dim[s->axis] * s->inner;

        FIRE_IN(l, l->bottom[b], FIRE_DATA, &x);
        fire_rows_copy(s->outer, n, x, n, y, row);
        y += n;
    }
    return FIRE_OK;
}

static fire_status_t concat_backward(fire_layer_t *l)
{
    const concat_t *s   = l->state;
    int64_t         row = l->top[0]->dim[s->axis] * s->inner;
    const float    *dy;
    float          *dx;

    if (l->nbottom == 1) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    for (int b = 0; b < l->nbottom; b++) {
        int64_t n = l->bottom[b]->dim[s->axis] * s->inner;

        if (l->propagate_down[b]) {
            FIRE_OUT(l, l->bottom[b], FIRE_DIFF, &dx);
            fire_rows_copy(s->outer, n, dy, row, dx, n);
        }
        dy += n;
    }
    return FIRE_OK;
}

/* Blocks of channels follow each other in memory as plain channels do, provided that
 * all blocks are full: then rows are copied as they are. */
static bool is_full(const fire_blocked_t *b)
{
    return b != NULL && b->channels % b->block == 0;
}

/* The format that n blobs share along axis 1, or plain. */
static fire_format_t common_format(const fire_layer_t *l, fire_part_t part, int n,
                                   fire_blob_t *const *blob)
{
    fire_format_t         f     = fire_blob_format(blob[0], part);
    const fire_blocked_t *first = fire_blocked_of(&f);
    bool                  same  = FIRE_STATE(l, concat_t)->axis == 1 && is_full(first);

    for (int i = 1; i < n && same; i++) {
        fire_format_t         g = fire_blob_format(blob[i], part);
        const fire_blocked_t *b = fire_blocked_of(&g);

        same = is_full(b) && b->block == first->block && b->dtype == first->dtype;
    }
    return same ? f : FIRE_FORMAT_PLAIN(FIRE_CPU);
}

static fire_status_t concat_simd_forward(fire_layer_t *l)
{
    const concat_t *s   = l->state;
    int64_t         row = l->top[0]->dim[s->axis] * s->inner;
    fire_format_t   f, g;
    void           *x;
    char           *y;

    if (l->nbottom == 1) return FIRE_OK;
    f = common_format(l, FIRE_DATA, l->nbottom, l->bottom);
    FIRE_TRY(fire_blob_format_like(l->top[0], &f, &g));
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &g, &y);
    for (int b = 0; b < l->nbottom; b++) {
        int64_t n = l->bottom[b]->dim[s->axis] * s->inner;

        FIRE_TRY(fire_blob_format_like(l->bottom[b], &f, &g));
        FIRE_IN_AS(l->bottom[b], FIRE_DATA, &g, &x);
        fire_raw_rows(f.dtype, s->outer, n, x, n, y, row);
        y += (size_t)n * fire_dtype_size(f.dtype);
    }
    return FIRE_OK;
}

/* The top's diff may be in blocks of channels even where the bottoms' channels do not
 * fill theirs; then it is read in the plain layout. */
static bool bottoms_are_full(const fire_layer_t *l, const fire_format_t *f)
{
    const fire_blocked_t *b = fire_blocked_of(f);

    for (int i = 0; b != NULL && i < l->nbottom; i++)
        if (l->bottom[i]->dim[1] % b->block != 0) return false;
    return true;
}

static fire_status_t concat_simd_backward(fire_layer_t *l)
{
    const concat_t *s   = l->state;
    int64_t         row = l->top[0]->dim[s->axis] * s->inner;
    fire_format_t   f, g;
    char           *dy;
    void           *dx;

    if (l->nbottom == 1) return FIRE_OK;
    f = common_format(l, FIRE_DIFF, 1, l->top);
    if (!bottoms_are_full(l, &f)) f = FIRE_FORMAT_PLAIN(FIRE_CPU);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    for (int b = 0; b < l->nbottom; b++) {
        int64_t n = l->bottom[b]->dim[s->axis] * s->inner;

        if (l->propagate_down[b]) {
            FIRE_TRY(fire_blob_format_like(l->bottom[b], &f, &g));
            FIRE_OUT_AS(l->bottom[b], FIRE_DIFF, &g, &dx);
            fire_raw_rows(f.dtype, s->outer, n, dy, row, dx, n);
        }
        dy += (size_t)n * fire_dtype_size(f.dtype);
    }
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
static fire_status_t concat_cuda_forward(fire_layer_t *l)
{
    if (l->nbottom == 1) return concat_forward(l);
    return fire_gpu_join(l, FIRE_STATE(l, concat_t)->axis, FIRE_DATA, l->nbottom,
                         l->bottom, l->top[0]);
}

static fire_status_t concat_cuda_backward(fire_layer_t *l)
{
    if (l->nbottom == 1) return FIRE_OK;
    return fire_gpu_cut(l, FIRE_STATE(l, concat_t)->axis, FIRE_DIFF, l->nbottom,
                        l->bottom, l->propagate_down, l->top[0]);
}

const fire_kernel_t fire_concat_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = concat_cuda_forward,
    .backward = concat_cuda_backward,
    .fusion   = &fire_fusion_reads_nothing,
};
#endif

static const fire_fusion_ops_t concat_simd_fusion = {
    .recompute      = concat_simd_forward,
    .backward_reads = fire_reads_nothing,
};

const fire_kernel_t fire_concat_simd = {
    .name     = "simd",
    .forward  = concat_simd_forward,
    .backward = concat_simd_backward,
    .fusion   = &concat_simd_fusion,
};

const fire_kernel_t fire_concat_ref = {
    .name     = "ref",
    .forward  = concat_forward,
    .backward = concat_backward,
};

static const fire_kernel_t *const concat_kernels[] = {
    FIRE_IF_CUDA(fire_concat_cuda) &fire_concat_simd, &fire_concat_ref, NULL};

const fire_layer_ops_t fire_layer_concat = {
    .type       = "Concat",
    .bottoms    = {1, -1},
    .tops       = {1, 1},
    .state_size = sizeof(concat_t),
    .reshape    = concat_reshape,
    .kernels    = concat_kernels,
};
