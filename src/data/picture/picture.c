/* picture.c - loading, resizing and cutting of float images. */
#include "data/picture/picture.h"

#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "data/decode.h"

fire_status_t fire_picture_create(int height, int width, int channels,
                                  fire_picture_t *picture_p)
{
    fire_picture_t p = {height, width, channels, NULL};

    FIRE_TRY(FIRE_NEW(&p.value, fire_picture_count(&p)));
    *picture_p = p;
    return FIRE_OK;
}

void fire_picture_fini(fire_picture_t *p)
{
    fire_free(p->value);
    *p = (fire_picture_t){0};
}

/* ---- files ---- */

/* Bytes 0 ... 255, BGR, to floats 0 ... 1, RGB. */
static fire_status_t from_bytes(const fire_pixels_t *in, fire_picture_t *picture_p)
{
    int            channels = in->extent.channels;
    fire_picture_t p;

    FIRE_TRY(fire_picture_create(in->extent.height, in->extent.width, channels, &p));
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            for (int c = 0; c < channels; c++) /* BGR to RGB */
                fire_picture_at(&p, y, x)[channels - 1 - c] =
                    (float)(in->bytes[y * in->step_y + x * in->step_x +
                                      c * in->step_c] /
                            255.0);
    *picture_p = p;
    return FIRE_OK;
}

fire_status_t fire_picture_load(const char *path, int channels,
                                fire_picture_t *picture_p)
{
    fire_workspace_t scratch = {0};
    fire_pixels_t    pixels;
    fire_status_t    st =
        fire_image_file_decode(path, channels == 1 ? FIRE_COLOR_GRAY : FIRE_COLOR_BGR,
                               0, 0, &scratch, &pixels);

    if (st >= 0) st = from_bytes(&pixels, picture_p);
    fire_workspace_fini(&scratch);
    return st;
}

/* ---- resize ---- */

/* A row or column of the result between two of the picture: `low` and low + 1. */
typedef struct tap {
    int    low; /* may be -1, and low + 1 the size: outside */
    double high_weight;
} tap_t;

static tap_t tap_of(int i, int from, int to)
{
    double at  = (i + 0.5) * from / to - 0.5;
    double low = floor(at);

    return (tap_t){(int)low, at - low};
}

/* The smallest value of a picture. */
static float least(const fire_picture_t *p)
{
    float min = p->value[0];

    for (int64_t i = 1; i < fire_picture_count(p); i++)
        min = fminf(min, p->value[i]);
    return min;
}

/* The value at (y, x, c), or `beyond` outside of the picture. */
static double value_at(const fire_picture_t *p, int y, int x, int c, double beyond)
{
    bool inside = y >= 0 && y < p->height && x >= 0 && x < p->width;

    return inside ? (double)fire_picture_at(p, y, x)[c] : beyond;
}

static double between(double low, double high, double high_weight)
{
    return (1 - high_weight) * low + high_weight * high;
}

fire_status_t fire_picture_resize(const fire_picture_t *in, int height, int width,
                                  fire_picture_t *out_p)
{
    double         beyond = (double)least(in);
    fire_picture_t out;

    FIRE_TRY(fire_picture_create(height, width, in->channels, &out));
    for (int y = 0; y < height; y++) {
        tap_t v = tap_of(y, in->height, height);

        for (int x = 0; x < width; x++) {
            tap_t h = tap_of(x, in->width, width);

            for (int c = 0; c < in->channels; c++) {
                double above =
                    between(value_at(in, v.low, h.low, c, beyond),
                            value_at(in, v.low, h.low + 1, c, beyond), h.high_weight);
                double below = between(value_at(in, v.low + 1, h.low, c, beyond),
                                       value_at(in, v.low + 1, h.low + 1, c, beyond),
                                       h.high_weight);

                fire_picture_at(&out, y, x)[c] =
                    (float)between(above, below, v.high_weight);
            }
        }
    }
    *out_p = out;
    return FIRE_OK;
}

/* ---- parts ---- */

fire_status_t fire_picture_crop(const fire_picture_t *in, fire_rect_t part,
                                fire_picture_t *out_p)
{
    int            width = part.xmax - part.xmin;
    fire_picture_t out;

    FIRE_TRY(fire_picture_create(part.ymax - part.ymin, width, in->channels, &out));
    for (int y = 0; y < out.height; y++)
        memcpy(fire_picture_at(&out, y, 0),
               fire_picture_at(in, part.ymin + y, part.xmin),
               (size_t)width * (size_t)in->channels * sizeof(*in->value));
    *out_p = out;
    return FIRE_OK;
}

void fire_picture_mirror(fire_picture_t *p)
{
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width / 2; x++) {
            float *left  = fire_picture_at(p, y, x);
            float *right = fire_picture_at(p, y, p->width - 1 - x);

            for (int c = 0; c < p->channels; c++) {
                float kept = left[c];

                left[c]  = right[c];
                right[c] = kept;
            }
        }
}
