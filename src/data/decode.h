/* decode.h - from what a data set holds to pixels. */
#ifndef FIRE_DATA_DECODE_H
#define FIRE_DATA_DECODE_H
#include "data/datum.h"
#include "data/image/image.h"

/* Memory that a decode thread keeps between samples. All zero is an empty one. */
typedef struct fire_workspace {
    fire_buffer_t record, pixels, cropped, resized, padded;
} fire_workspace_t;

void fire_workspace_fini(fire_workspace_t *s);

/* The image of a Datum: in the record itself, or in the scratch if it is encoded or
 * holds floats. `color` is for encoded ones. */
fire_status_t fire_datum_decode(const fire_datum_t *d, fire_color_t color,
                                fire_workspace_t *s, fire_pixels_t *pixels_p);

/* An image file, resized unless height or width is 0. */
fire_status_t fire_image_file_decode(const char *path, fire_color_t color, int height,
                                     int width, fire_workspace_t *s,
                                     fire_pixels_t *pixels_p);

/* A whole file into a buffer that is used again. */
fire_status_t fire_buffer_read_file(const char *path, fire_buffer_t *b, size_t *n_p);
#endif
