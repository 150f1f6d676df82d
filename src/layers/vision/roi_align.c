/* roi_align.c - ROIAlign, of two kinds that forks have under this name.
 *
 *   bottom 0: (N, C, H, W)
 *   bottom 1: (R, 5) regions: image, x1, y1, x2, y2 in pixels of the input image
 *
 * With roi_align_param, that of Mask R-CNN (He and others, 2017): the mean of
 * sampling_ratio x sampling_ratio points inside of each bin.
 *
 *   top 0:    (R, C, pooled_h, pooled_w)
 *
 * With roi_pooling_param, that of MS-CNN and Cascade R-CNN (Cai and Vasconcelos): the
 * values at the corners of the bins, which a pooling behind it averages.
 *
 *   top 0:    (R, C, pooled_h + 1, pooled_w + 1) */
#include "layers/vision/align.h"

static fire_status_t roi_align_setup(fire_layer_t *l)
{
    const Caffe__ROIAlignParameter   *mean = l->param->roi_align_param;
    const Caffe__ROIPoolingParameter *grid = l->param->roi_pooling_param;
    fire_align_t                     *a    = l->state;

    if ((mean == NULL) == (grid == NULL))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give roi_align_param (points inside of bins) or "
                         "roi_pooling_param (points at their corners), one of the two");
    if (mean != NULL ? mean->pooled_h == 0 || mean->pooled_w == 0
                     : grid->pooled_h == 0 || grid->pooled_w == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "pooled_h and pooled_w must be given and at least 1");
    if (mean != NULL)
        *a = (fire_align_t){.kind   = FIRE_ALIGN_MEAN,
                            .scale  = mean->spatial_scale,
                            .points = mean->sampling_ratio};
    else
        *a = (fire_align_t){.kind  = FIRE_ALIGN_GRID,
                            .scale = grid->spatial_scale,
                            .pad   = grid->pad_ratio};
    return FIRE_OK;
}

static fire_status_t roi_align_reshape(fire_layer_t *l)
{
    const Caffe__ROIAlignParameter   *mean = l->param->roi_align_param;
    const Caffe__ROIPoolingParameter *grid = l->param->roi_pooling_param;

    if (mean != NULL) return fire_align_reshape(l, mean->pooled_h, mean->pooled_w);
    return fire_align_reshape(l, (int64_t)grid->pooled_h + 1,
                              (int64_t)grid->pooled_w + 1);
}

const fire_layer_ops_t fire_layer_roi_align = {
    .type        = "ROIAlign",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* none for regions */
    .state_size  = sizeof(fire_align_t),
    .setup       = roi_align_setup,
    .reshape     = roi_align_reshape,
    .kernels     = fire_align_kernels,
};
