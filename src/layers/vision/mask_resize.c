/* mask_resize.c - MaskResize of MNC (Dai and others, 2016): maps in another size, by the
 * value at the start of each element of the result.
 *
 *   bottom 0: (N, C, H, W)
 *   top 0:    (N, C, output_height, output_width) */
#include "layers/vision/align.h"

static fire_status_t mask_resize_setup(fire_layer_t *l)
{
    const Caffe__MaskResizeParameter *p = l->param->mask_resize_param;

    if (p == NULL || p->output_height == 0 || p->output_width == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "mask_resize_param { output_height output_width } must be given "
            "and at least 1");
    FIRE_STATE(l, fire_align_t)->kind = FIRE_ALIGN_SIZE;
    return FIRE_OK;
}

static fire_status_t mask_resize_reshape(fire_layer_t *l)
{
    const Caffe__MaskResizeParameter *p = l->param->mask_resize_param;
    const fire_blob_t                *x = l->bottom[0];

    if (x->ndim != 4)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the bottom must have 4 axes (num, channels, height, width), it "
            "has %d",
            x->ndim);
    return fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){x->dim[0], x->dim[1], p->output_height, p->output_width});
}

const fire_layer_ops_t fire_layer_mask_resize = {
    .type       = "MaskResize",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_align_t),
    .setup      = mask_resize_setup,
    .reshape    = mask_resize_reshape,
    .kernels    = fire_align_kernels,
};
