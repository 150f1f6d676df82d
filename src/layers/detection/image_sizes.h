/* image_sizes.h - reads the sizes of a set's images from a file with lines "NAME HEIGHT
 * WIDTH". */
#ifndef FIRE_LAYERS_DETECTION_IMAGE_SIZES_H
#define FIRE_LAYERS_DETECTION_IMAGE_SIZES_H
#include "data/transform/bbox.h"
#include "layers/layer.h"

typedef struct fire_image_size {
    int height, width;
} fire_image_size_t;

typedef struct fire_image_sizes {
    fire_image_size_t *size;
    int64_t            n, cap;
} fire_image_sizes_t; /* {0} is empty */

/* Read the file into an empty list. Free list->size with fire_free(), also after a
 * failure. */
fire_status_t fire_image_sizes_read(const char *path, fire_image_sizes_t *list);

/* A box in pixels of an image of this size, clipped to it. Its last pixel counts, as in
 * Pascal VOC. */
fire_bbox_t fire_bbox_in_pixels(fire_bbox_t box, fire_image_size_t size);
#endif
