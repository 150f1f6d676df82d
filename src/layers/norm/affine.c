/* affine.c - see affine.h; one thread, in Caffe's order of operations. */
#include "layers/norm/affine.h"

fire_status_t fire_affine_add_blob(fire_layer_t *l, int axis, int num_axes,
                                   const Caffe__FillerParameter *filler)
{
    const fire_blob_t *x = l->bottom[0];

    FIRE_TRY(fire_blob_axis(x, axis, "axis", &axis));
    if (num_axes < -1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "num_axes must be -1 (all) or more, it is %d", num_axes);
    if (num_axes == -1) num_axes = x->ndim - axis;
    if (axis + num_axes > x->ndim)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d axes from axis %d on do not fit an input of %d axes",
                         num_axes, axis, x->ndim);
    return fire_layer_add_blob(l, num_axes, x->dim + axis, filler);
}

fire_status_t fire_affine_match(const fire_blob_t *x, const fire_blob_t *operand,
                                int axis, fire_affine_t *a_p)
{
    char a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];
    bool fits;

    if (operand->ndim == 0)
        axis = 0; /* a scalar matches any axes */
    else
        FIRE_TRY(fire_blob_axis(x, axis, "axis", &axis));
    fits = axis + operand->ndim <= x->ndim;
    for (int i = 0; fits && i < operand->ndim; i++)
        fits = x->dim[axis + i] == operand->dim[i];
    if (!fits)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "an operand of shape %s does not match the input %s from axis "
                         "%d on",
                         fire_blob_shape_string(operand, b, sizeof(b)),
                         fire_blob_shape_string(x, a, sizeof(a)), axis);
    a_p->outer = fire_blob_count_range(x, 0, axis);
    a_p->dim   = fire_blob_count(operand);
    a_p->inner = fire_blob_count_range(x, axis + operand->ndim, x->ndim);
    return FIRE_OK;
}

void fire_affine_shift(const fire_affine_t *a, const float *x, const float *b, float *y)
{
    for (int64_t k = 0; k < a->outer * a->dim; k++, x += a->inner, y += a->inner)
        for (int64_t i = 0; i < a->inner; i++)
            y[i] = x[i] + b[k % a->dim];
}

/* Sums the inner axis by gemv for each outer index, in order, as Caffe does. */
void fire_affine_shift_back(const fire_affine_t *a, const float *ones, const float *dy,
                            bool add, float *db)
{
    if (!add && a->outer == 0) fire_fill(a->dim, 0.0f, db);
    for (int64_t o = 0; o < a->outer; o++)
        fire_gemv(FIRE_NO_TRANS, a->dim, a->inner, 1.0f, dy + o * a->dim * a->inner,
                  ones, add || o > 0 ? 1.0f : 0.0f, db);
}

void fire_affine_scale(const fire_affine_t *a, const float *x, const float *g, float *y)
{
    for (int64_t k = 0; k < a->outer * a->dim; k++, x += a->inner, y += a->inner)
        for (int64_t i = 0; i < a->inner; i++)
            y[i] = g[k % a->dim] * x[i];
}

void fire_affine_divide(const fire_affine_t *a, const float *x, const float *g,
                        float *y)
{
    for (int64_t k = 0; k < a->outer * a->dim; k++, x += a->inner, y += a->inner)
        for (int64_t i = 0; i < a->inner; i++)
            y[i] = x[i] / g[k % a->dim];
}
