/* mask_pooling.c - MaskPooling of MNC (Dai and others, 2016): the features of regions,
 * weighted by masks.
 *
 *   bottom 0: (R, C, H, W) features x
 *   bottom 1: (R, 1, H, W) masks m
 *   top 0:    (R, C, H, W) x * m in every channel
 *
 * Both bottoms have a gradient. */
#include "device/cpu/blas.h"
#include "layers/vision/mask.h"

static fire_status_t mask_pooling_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0], *m = l->bottom[1];
    char               a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];

    if (x->ndim != 4 || m->ndim != 4 || m->dim[1] != 1 || m->dim[0] != x->dim[0] ||
        m->dim[2] != x->dim[2] || m->dim[3] != x->dim[3])
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "features %s need masks of the same number, height and width "
                         "with one channel, not %s",
                         fire_blob_shape_string(x, a, sizeof(a)),
                         fire_blob_shape_string(m, b, sizeof(b)));
    return fire_layer_reshape_same(l);
}

static fire_mask_t shape_of(const fire_layer_t *l)
{
    const int64_t *dim = l->bottom[0]->dim;

    return (fire_mask_t){dim[0], dim[1], dim[2] * dim[3]};
}

/* y = x * mask; both may be gradients. */
static void apply(const fire_mask_t *m, const float *x, const float *mask, float *y)
{
    for (int64_t k = 0; k < m->items * m->channels; k++)
        for (int64_t i = 0; i < m->places; i++)
            y[k * m->places + i] =
                x[k * m->places + i] * mask[k / m->channels * m->places + i];
}

static fire_status_t mask_pooling_forward(fire_layer_t *l)
{
    fire_mask_t  m = shape_of(l);
    const float *x, *mask;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &mask);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_mask(l->ctx->stream, &m, x, mask, y));
    apply(&m, x, mask, y);
    return FIRE_OK;
}

static fire_status_t backward_to_features(fire_layer_t *l)
{
    fire_mask_t  m = shape_of(l);
    const float *mask, *dy;
    float       *dx;

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &mask);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_mask(l->ctx->stream, &m, dy, mask, dx));
    apply(&m, dy, mask, dx);
    return FIRE_OK;
}

static fire_status_t backward_to_masks(fire_layer_t *l)
{
    fire_mask_t  m = shape_of(l);
    const float *x, *dy;
    float       *dmask;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &dmask);
    FIRE_IF_GPU(l, fire_gpu_mask_back(l->ctx->stream, &m, x, dy, dmask));
    fire_fill(m.items * m.places, 0.0f, dmask);
    for (int64_t k = 0; k < m.items * m.channels; k++)
        for (int64_t i = 0; i < m.places; i++)
            dmask[k / m.channels * m.places + i] +=
                x[k * m.places + i] * dy[k * m.places + i];
    return FIRE_OK;
}

static fire_status_t mask_pooling_backward(fire_layer_t *l)
{
    if (l->propagate_down[0]) FIRE_TRY(backward_to_features(l));
    return l->propagate_down[1] ? backward_to_masks(l) : FIRE_OK;
}

const fire_kernel_t fire_mask_pooling_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = mask_pooling_forward,
    .backward = mask_pooling_backward,
};

const fire_kernel_t fire_mask_pooling_ref = {
    .name     = "ref",
    .forward  = mask_pooling_forward,
    .backward = mask_pooling_backward,
};

static const fire_kernel_t *const mask_pooling_kernels[] = {
    FIRE_IF_CUDA(fire_mask_pooling_cuda) &fire_mask_pooling_ref, NULL};

const fire_layer_ops_t fire_layer_mask_pooling = {
    .type    = "MaskPooling",
    .bottoms = {2, 2},
    .tops    = {1, 1},
    .reshape = mask_pooling_reshape,
    .kernels = mask_pooling_kernels,
};
