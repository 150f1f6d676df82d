/* image_sizes.h - the sizes of the images of a set, from a file of lines
 *     name height width */
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
} fire_image_sizes_t; /* all zero: none */

/* Read the file into an empty list. End it with fire_free(list->size), also after a
 * failure. */
fire_status_t fire_image_sizes_read(const char *path, fire_image_sizes_t *list);

/* A box in pixels of such an image, clipped to it; its last pixel counts, as Pascal VOC
 * counts it. */
fire_bbox_t fire_bbox_in_pixels(fire_bbox_t box, fire_image_size_t size);
#endif
