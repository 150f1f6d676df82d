/* picture.h - images as pycaffe's caffe.io holds them: floats (height, width,
 * channels), red first, 0 to 1 where they come from files. Used by classify and detect;
 * training uses image/image.h. */
#ifndef FIRE_DATA_PICTURE_PICTURE_H
#define FIRE_DATA_PICTURE_PICTURE_H
#include "base/error.h"

typedef struct fire_picture {
    int    height, width, channels;
    float *value; /* [height][width][channels] */
} fire_picture_t;

/* A rectangle of pixels; ymax and xmax are one past the last row and column. */
typedef struct fire_rect {
    int ymin, xmin, ymax, xmax;
} fire_rect_t;

/* These functions make a new picture; end it with fire_picture_fini(). */
fire_status_t fire_picture_create(int height, int width, int channels,
                                  fire_picture_t *picture_p);
/* Read an image file. channels: 3 for RGB, also from grey files; 1 for grey. */
fire_status_t fire_picture_load(const char *path, int channels,
                                fire_picture_t *picture_p);
/* Resize as caffe.io.resize_image does: bilinear between pixel centres, without
 * smoothing. Outside of the picture counts as its smallest value. */
fire_status_t fire_picture_resize(const fire_picture_t *in, int height, int width,
                                  fire_picture_t *out_p);
/* Cut out `part`, which must be inside of the picture and not empty. */
fire_status_t fire_picture_crop(const fire_picture_t *in, fire_rect_t part,
                                fire_picture_t *out_p);

void fire_picture_mirror(fire_picture_t *picture); /* swap left and right, in place */
void fire_picture_fini(fire_picture_t *picture);

/* Number of floats. */
static inline int64_t fire_picture_count(const fire_picture_t *p)
{
    return (int64_t)p->height * p->width * p->channels;
}

/* The channels of the pixel (y, x). */
static inline float *fire_picture_at(const fire_picture_t *p, int y, int x)
{
    return p->value + ((int64_t)y * p->width + x) * p->channels;
}
#endif
