/* roi.c - checks of regions of interest. */
#include "layers/vision/roi.h"

fire_status_t fire_roi_check_shapes(const fire_layer_t *l)
{
    if (l->bottom[0]->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the first bottom must have 4 axes (num, channels, height, "
                         "width), it has %d",
                         l->bottom[0]->ndim);
    if (l->bottom[1]->ndim < 1 ||
        l->bottom[1]->count != l->bottom[1]->dim[0] * FIRE_ROI_ROW)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the second bottom must have rows of %d numbers: image, x1, "
                         "y1, x2, y2",
                         FIRE_ROI_ROW);
    return FIRE_OK;
}

fire_status_t fire_roi_image(const fire_layer_t *l, const float *roi, int64_t *image_p)
{
    if (!(roi[0] >= 0.0f && roi[0] < (float)l->bottom[0]->dim[0]))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a region is of image %g; there are %lld images",
                         (double)roi[0], (long long)l->bottom[0]->dim[0]);
    *image_p = (int64_t)roi[0];
    return FIRE_OK;
}
