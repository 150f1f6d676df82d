/* roi_warping.c - ROIWarping of MNC (Dai and others, 2016): the value at the start of
 * each bin of the region, whose corners are rounded to places.
 *
 *   bottom 0: (N, C, H, W)
 *   bottom 1: (R, 5) regions: image, x1, y1, x2, y2 in pixels of the input image
 *   top 0:    (R, C, pooled_h, pooled_w)
 *
 * Regions have a gradient too: the points move with the corners, as if those were not
 * rounded. */
#include "layers/vision/align.h"

static fire_status_t roi_warping_setup(fire_layer_t *l)
{
    const Caffe__ROIWarpingParameter *p = l->param->roi_warping_param;

    if (p == NULL || p->pooled_h == 0 || p->pooled_w == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "roi_warping_param { pooled_h pooled_w } must be given and at "
                         "least 1");
    *FIRE_STATE(l, fire_align_t) =
        (fire_align_t){.kind = FIRE_ALIGN_WARP, .scale = p->spatial_scale};
    return FIRE_OK;
}

static fire_status_t roi_warping_reshape(fire_layer_t *l)
{
    const Caffe__ROIWarpingParameter *p = l->param->roi_warping_param;

    return fire_align_reshape(l, p->pooled_h, p->pooled_w);
}

const fire_layer_ops_t fire_layer_roi_warping = {
    .type       = "ROIWarping",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .state_size = sizeof(fire_align_t),
    .setup      = roi_warping_setup,
    .reshape    = roi_warping_reshape,
    .kernels    = fire_align_kernels,
};
