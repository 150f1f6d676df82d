/* roi.h - regions of interest on feature maps: bottom 0 is N C H W, bottom 1 has rows of
 * image, x1, y1, x2, y2. Index 0 is height, 1 is width. */
#ifndef FIRE_LAYERS_VISION_ROI_H
#define FIRE_LAYERS_VISION_ROI_H
#include "device/cpu/blas.h"
#include "layers/layer.h"

enum { FIRE_ROI_ROW = 5 };

/* A region in units of places of the map. */
typedef struct fire_roi {
    float start[2], bin[2];
} fire_roi_t;

/* Places begin ... end - 1 of the map. */
typedef struct fire_roi_box {
    int64_t begin[2], end[2];
} fire_roi_box_t;

fire_status_t fire_roi_check_shapes(const fire_layer_t *l);
/* The image that a row is about; there must be such a one. */
fire_status_t fire_roi_image(const fire_layer_t *l, const float *roi, int64_t *image_p);
/* What bin (row, column) covers of a map of this size. `together`: start is added before
 * rounding outwards, not after. */
fire_roi_box_t fire_roi_box(const fire_roi_t *r, bool together, int64_t row,
                            int64_t column, const int64_t *size);
#endif
