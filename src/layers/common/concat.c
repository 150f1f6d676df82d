/* concat.c - bottoms one behind another along an axis */
#include <string.h>

#include "layers/common/rows.h"
#include "layers/common/view.h"

typedef struct concat {
    int64_t outer, inner; /* elements before and behind the axis */
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

/* Do two blobs agree on all axes but one? */
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

static const fire_kernel_t concat_kernels[] = {
    {.name = "ref", .forward = concat_forward, .backward = concat_backward},
    {0},
};

const fire_layer_ops_t fire_layer_concat = {
    .type       = "Concat",
    .bottoms    = {1, -1},
    .tops       = {1, 1},
    .state_size = sizeof(concat_t),
    .reshape    = concat_reshape,
    .kernels    = concat_kernels,
};
