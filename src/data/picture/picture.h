/* picture.h - images as pycaffe holds them: floats row by row, the channels of a pixel
 * beside each other, red first, 0 to 1 where they come from files. */
#ifndef FIRE_DATA_PICTURE_PICTURE_H
#define FIRE_DATA_PICTURE_PICTURE_H
#include "base/error.h"

typedef struct fire_picture {
    int    height, width, channels;
    float *value; /* [height][width][channels] */
} fire_picture_t;

/* Part of a picture; ymax and xmax are the first row and column behind it. */
typedef struct fire_rect {
    int ymin, xmin, ymax, xmax;
} fire_rect_t;

/* All of these make a new picture; end it with fire_picture_fini(). */
fire_status_t fire_picture_create(int height, int width, int channels,
                                  fire_picture_t *picture_p);
/* channels: 3 for colours, grey files too; 1 for grey. */
fire_status_t fire_picture_load(const char *path, int channels,
                                fire_picture_t *picture_p);
/* As caffe.io.resize_image does: linear between the centres of pixels, without
 * smoothing. Beyond the border lies the least value of the picture. */
fire_status_t fire_picture_resize(const fire_picture_t *in, int height, int width,
                                  fire_picture_t *out_p);
/* `part` must lie inside and not be empty. */
fire_status_t fire_picture_crop(const fire_picture_t *in, fire_rect_t part,
                                fire_picture_t *out_p);

void fire_picture_mirror(fire_picture_t *picture); /* left becomes right */
void fire_picture_fini(fire_picture_t *picture);

static inline int64_t fire_picture_count(const fire_picture_t *p)
{
    return (int64_t)p->height * p->width * p->channels;
}

static inline float *fire_picture_at(const fire_picture_t *p, int y, int x)
{
    return p->value + ((int64_t)y * p->width + x) * p->channels;
}
#endif
