/* crop.c - cuts a part out of bottom 0: from `axis` on it has the size of bottom 1 and
 * begins at `offset`. Only the shape of bottom 1 is used. */
#include <string.h>

#include "layers/shape/move.h"

typedef struct crop {
    int64_t offset[FIRE_MAX_DIMS];
} crop_t;

static fire_status_t read_offsets(const Caffe__CropParameter *p, int axis, int ndim,
                                  int64_t *offset)
{
    if (p->n_offset > 1 && p->n_offset != (size_t)(ndim - axis))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu offsets for %d axes; give none, one, or one for each",
                         p->n_offset, ndim - axis);
    for (int i = 0; i < ndim; i++) {
        size_t k = p->n_offset == 1 ? 0 : (size_t)(i - axis);

        offset[i] = i < axis || p->n_offset == 0 ? 0 : p->offset[k];
    }
    return FIRE_OK;
}

static fire_status_t crop_reshape(fire_layer_t *l)
{
    static const Caffe__CropParameter defaults = CAFFE__CROP_PARAMETER__INIT;
    const Caffe__CropParameter       *p        = l->param->crop_param;
    crop_t                           *s        = FIRE_STATE(l, crop_t);
    const fire_blob_t                *x = l->bottom[0], *like = l->bottom[1];
    int64_t                           dim[FIRE_MAX_DIMS];
    int                               axis;

    if (p == NULL) p = &defaults;
    FIRE_TRY(fire_blob_axis(x, p->axis, "crop_param", &axis));
    FIRE_TRY(read_offsets(p, axis, x->ndim, s->offset));
    if (like->ndim < x->ndim)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the second bottom has %d axes, the first %d", like->ndim,
                         x->ndim);
    for (int i = 0; i < x->ndim; i++) {
        dim[i] = i < axis ? x->dim[i] : like->dim[i];
        if (s->offset[i] + dim[i] > x->dim[i])
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "on axis %d, %lld elements from %lld on are wanted, the "
                             "first bottom has %lld",
                             i, (long long)dim[i], (long long)s->offset[i],
                             (long long)x->dim[i]);
    }
    return fire_blob_reshape(l->top[0], x->ndim, dim);
}

/* Index in the bottom of the first element of the top's k-th row (along the last
 * axis). */
static int64_t place_of_row(const fire_layer_t *l, int64_t k)
{
    const crop_t      *s = FIRE_STATE(l, crop_t);
    const fire_blob_t *x = l->bottom[0], *y = l->top[0];
    int64_t            at = 0, stride = 1;

    for (int i = x->ndim - 1; i >= 0; i--) {
        int64_t index = i == x->ndim - 1 ? 0 : k % y->dim[i];

        if (i < x->ndim - 1) k /= y->dim[i];
        at += (s->offset[i] + index) * stride;
        stride *= x->dim[i];
    }
    return at;
}

static fire_status_t crop_forward(fire_layer_t *l)
{
    const fire_blob_t *top   = l->top[0];
    int64_t            width = top->dim[top->ndim - 1];
    const float       *x;
    float             *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_crop(l->ctx->stream, l->bottom[0], top,
                                 FIRE_STATE(l, crop_t)->offset, x, y));
    for (int64_t k = 0; k * width < top->count; k++)
        memcpy(y + k * width, x + place_of_row(l, k), (size_t)width * sizeof(*y));
    return FIRE_OK;
}

static fire_status_t crop_backward(fire_layer_t *l)
{
    const fire_blob_t *top   = l->top[0];
    int64_t            width = top->dim[top->ndim - 1];
    const float       *dy;
    float             *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_crop_back(l->ctx->stream, l->bottom[0], top,
                                      FIRE_STATE(l, crop_t)->offset, dy, dx));
    memset(dx, 0, (size_t)fire_blob_count(l->bottom[0]) * sizeof(*dx));
    for (int64_t k = 0; k * width < top->count; k++)
        memcpy(dx + place_of_row(l, k), dy + k * width, (size_t)width * sizeof(*dx));
    return FIRE_OK;
}

const fire_kernel_t fire_crop_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = crop_forward,
    .backward = crop_backward,
};

const fire_kernel_t fire_crop_ref = {
    .name     = "ref",
    .forward  = crop_forward,
    .backward = crop_backward,
};

static const fire_kernel_t *const crop_kernels[] = {
    FIRE_IF_CUDA(fire_crop_cuda) &fire_crop_ref, NULL};

const fire_layer_ops_t fire_layer_crop = {
    .type        = "Crop",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* only its shape counts */
    .state_size  = sizeof(crop_t),
    .reshape     = crop_reshape,
    .kernels     = crop_kernels,
};
