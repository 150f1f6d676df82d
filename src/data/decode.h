/* decode.h - from a Datum or an image file to pixels in memory. */
#ifndef FIRE_DATA_DECODE_H
#define FIRE_DATA_DECODE_H
#include "data/datum.h"
#include "data/image/image.h"

/* Memory of one decode thread, kept from sample to sample so that nothing is allocated
 * in a steady run. {0} is a valid empty one. Each step of the pipeline writes another
 * buffer, as a step's input and output may not overlap. */
typedef struct fire_workspace {
    fire_buffer_t record;  /* bytes of the record or image file */
    fire_buffer_t pixels;  /* the decoded image */
    fire_buffer_t cropped; /* part of it (SSD's window) */
    fire_buffer_t resized; /* image or part in another size */
    fire_buffer_t padded;  /* the same with a border */
    fire_buffer_t scaled;  /* a random part of the image, resized or turned */
    fire_buffer_t spare;   /* for steps that cannot work in place */
} fire_workspace_t;

void fire_workspace_fini(fire_workspace_t *s);

/* Set *pixels_p to the image of a Datum. An encoded one is decompressed into s->pixels,
 * with channels by `color`; floats are copied there; raw bytes stay in the record. The
 * pixels are valid as long as the record and until the next use of *s. */
fire_status_t fire_datum_decode(const fire_datum_t *d, fire_color_t color,
                                fire_workspace_t *s, fire_pixels_t *pixels_p);

/* Read and decode the image file `path`; resize it (bilinear, as OpenCV) unless height
 * or width is 0. The pixels are in *s. */
fire_status_t fire_image_file_decode(const char *path, fire_color_t color, int height,
                                     int width, fire_workspace_t *s,
                                     fire_pixels_t *pixels_p);

/* Make pixels of bytes interleaved and in *s, so that they may be changed: raw records
 * have planes, decoded ones are there already. */
fire_status_t fire_pixels_own(fire_workspace_t *s, fire_pixels_t *pixels);

/* Read a whole file into b, which grows if needed; *n_p is its length in bytes. */
fire_status_t fire_buffer_read_file(const char *path, fire_buffer_t *b, size_t *n_p);
#endif
