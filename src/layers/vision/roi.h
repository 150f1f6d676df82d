/* roi.h - regions of interest on feature maps, for ROIPooling and PSROIPooling. Bottom
 * 0 is the map (N, C, H, W); bottom 1 has rows (image, x1, y1, x2, y2). In arrays of
 * two, [0] is height and [1] width. Inline functions are for CPU and GPU. */
#ifndef FIRE_LAYERS_VISION_ROI_H
#define FIRE_LAYERS_VISION_ROI_H
#include <math.h>

#include "base/everywhere.h"
#include "device/cpu/blas.h"
#include "layers/layer.h"

enum { FIRE_ROI_ROW = 5 };

/* A region on the map: where it starts and how large a bin is, in places. */
typedef struct fire_roi {
    float start[2], bin[2];
} fire_roi_t;

/* A bin on the map: places begin ... end - 1. */
typedef struct fire_roi_box {
    int64_t begin[2], end[2];
} fire_roi_box_t;

FIRE_BEGIN_C
/* Check the shapes of both bottoms. */
fire_status_t fire_roi_check_shapes(const fire_layer_t *l);
/* Set *image_p to the image of a region; fails if there is no such image. */
fire_status_t fire_roi_image(const fire_layer_t *l, const float *roi, int64_t *image_p);
FIRE_END_C

/* The region of a row for ROIPooling: larger by `pad` of its size on each side, rounded
 * to places, both ends included, bins[0] x bins[1] bins. For PSROIPooling: rounded before
 * scaling, bins x bins bins. */
FIRE_EVERYWHERE fire_roi_t fire_roi_max_region(float scale, float pad,
                                               const int64_t *bins, const float *roi)
{
    fire_roi_t r;

    for (int i = 0; i < 2; i++) {
        float more = (roi[4 - i] - roi[2 - i] + 1.0f) * pad, size;

        r.start[i] = roundf((roi[2 - i] - more) * scale);
        size       = roundf((roi[4 - i] + more) * scale) - r.start[i] + 1.0f;
        r.bin[i]   = fmaxf(size, 1.0f) / (float)bins[i];
    }
    return r;
}

FIRE_EVERYWHERE fire_roi_t fire_roi_mean_region(float scale, int64_t bins,
                                                const float *roi)
{
    fire_roi_t r;

    for (int i = 0; i < 2; i++) {
        float end = (roundf(roi[4 - i]) + 1.0f) * scale;

        r.start[i] = roundf(roi[2 - i]) * scale;
        r.bin[i]   = fmaxf(end - r.start[i], 0.1f) / (float)bins;
    }
    return r;
}

/* x limited to 0 ... high. */
FIRE_EVERYWHERE int64_t fire_roi_clamp(float x, int64_t high)
{
    return x < 0.0f ? 0 : x > (float)high ? high : (int64_t)x;
}

/* The places of bin (row, column) on a map of this size. together: add the region's
 * start before rounding outwards (PSROIPooling), not after. */
FIRE_EVERYWHERE fire_roi_box_t fire_roi_box(const fire_roi_t *r, bool together,
                                            int64_t row, int64_t column,
                                            const int64_t *size)
{
    float          at[2] = {(float)row, (float)column};
    fire_roi_box_t b;

    for (int i = 0; i < 2; i++) {
        float inside  = together ? r->start[i] : 0.0f;
        float outside = together ? 0.0f : r->start[i];
        float end     = ceilf((at[i] + 1.0f) * r->bin[i] + inside) + outside;

        b.begin[i] =
            fire_roi_clamp(floorf(at[i] * r->bin[i] + inside) + outside, size[i]);
        b.end[i] = fire_roi_clamp(end, size[i]);
    }
    return b;
}
#endif
