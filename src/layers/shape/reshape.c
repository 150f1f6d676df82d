/* reshape.c - the same data with another shape; nothing is copied. In reshape_param, a
 * dimension of 0 keeps the bottom's at this position, and one may be -1: it is computed
 * from the count. `axis` and `num_axes` choose the axes that are replaced (default:
 * all). */
#include "layers/shape/view.h"

/* The bottom's axes [first, end) are replaced. */
typedef struct span {
    int first, end;
} span_t;

static fire_status_t find_span(const fire_blob_t *x, const Caffe__ReshapeParameter *p,
                               span_t *span_p)
{
    /* Axis -1 is the position after the last axis: new axes can be added there. */
    int first = p->axis >= 0 ? p->axis : x->ndim + p->axis + 1;
    int end   = p->num_axes == -1 ? x->ndim : first + p->num_axes;

    if (first < 0 || first > x->ndim)
        return FIRE_FAIL(FIRE_ERR_INVALID, "axis %d is out of range for %d axes",
                         p->axis, x->ndim);
    if (p->num_axes < -1 || end > x->ndim)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "num_axes %d from axis %d on is out of range for %d axes",
                         p->num_axes, first, x->ndim);
    *span_p = (span_t){first, end};
    return FIRE_OK;
}

/* Dimension i of the new shape, still -1 where it is to be inferred. */
static fire_status_t new_dim(const fire_blob_t *x, const Caffe__BlobShape *shape,
                             span_t span, int i, int64_t *dim_p)
{
    int64_t d = shape->dim[i];

    if (d < -1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "dim %lld; only -1, 0 and sizes have a "
                         "meaning",
                         (long long)d);
    if (d == 0 && span.first + i >= x->ndim)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "dim number %d is 0, but the bottom has no axis %d to copy", i,
                         span.first + i);
    *dim_p = d == 0 ? x->dim[span.first + i] : d;
    return FIRE_OK;
}

/* Replace the -1 by what is left of the bottom's count; the counts must agree. */
static fire_status_t settle(const fire_blob_t *x, int ndim, int64_t *dim)
{
    int64_t known = 1;
    int     hole  = -1;

    for (int i = 0; i < ndim; i++) {
        if (dim[i] != -1) {
            known *= dim[i];
        } else if (hole >= 0) {
            return FIRE_FAIL(FIRE_ERR_INVALID, "more than one dim is -1");
        } else {
            hole = i;
        }
    }
    if (hole >= 0 && known != 0) {
        dim[hole] = x->count / known;
        known *= dim[hole];
    }
    if (known != x->count)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottom has %lld elements, which the given shape cannot "
                         "hold",
                         (long long)x->count);
    return FIRE_OK;
}

static fire_status_t reshape_reshape(fire_layer_t *l)
{
    static const Caffe__BlobShape  empty = CAFFE__BLOB_SHAPE__INIT;
    const Caffe__ReshapeParameter *p =
        FIRE_PARAM(l, reshape_param, CAFFE__RESHAPE_PARAMETER__INIT);
    const Caffe__BlobShape *shape = p->shape != NULL ? p->shape : &empty;
    const fire_blob_t      *x     = l->bottom[0];
    int64_t                 dim[FIRE_MAX_DIMS];
    span_t                  span = {0, 0};
    int                     n    = 0;

    FIRE_TRY(find_span(x, p, &span));
    if (x->ndim - (span.end - span.first) + (int)shape->n_dim > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "more than %d axes", FIRE_MAX_DIMS);
    for (int i = 0; i < span.first; i++)
        dim[n++] = x->dim[i];
    for (int i = 0; i < (int)shape->n_dim; i++)
        FIRE_TRY(new_dim(x, shape, span, i, &dim[n++]));
    for (int i = span.end; i < x->ndim; i++)
        dim[n++] = x->dim[i];
    FIRE_TRY(settle(x, n, dim));
    return fire_view_reshape(l, n, dim);
}

const fire_layer_ops_t fire_layer_reshape = {
    .type    = "Reshape",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .reshape = reshape_reshape,
    .kernels = fire_view_kernels,
};
