/* prepare.c - pycaffe's Transformer: mean and input. */
#include "data/picture/prepare.h"

#include "base/alloc.h"

fire_status_t fire_prepare_init(fire_prepare_t *p, fire_extent_t input)
{
    if (input.channels != 1 && input.channels != 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the net's input has %d channels; an image has 1 or 3",
                         input.channels);
    *p = (fire_prepare_t){.input = input, .raw_scale = 255, .input_scale = 1};
    for (int c = 0; c < input.channels; c++)
        p->swap[c] = input.channels - 1 - c;
    return FIRE_OK;
}

void fire_prepare_fini(fire_prepare_t *p)
{
    fire_free(p->mean);
    p->mean = NULL;
}

/* ---- the mean ---- */

/* (height, width, channels) to (channels, height, width). */
static void copy_planes(const fire_picture_t *in, float *out)
{
    for (int c = 0; c < in->channels; c++)
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                *out++ = fire_picture_at(in, y, x)[c];
}

/* The mean image in the size `to`. */
static fire_status_t resize_mean(const fire_mean_t *mean, fire_extent_t to, float *out)
{
    fire_extent_t  e     = mean->extent;
    const float   *plane = mean->image;
    fire_picture_t whole, fit;
    fire_status_t  st;

    FIRE_TRY(fire_picture_create(e.height, e.width, e.channels, &whole));
    for (int c = 0; c < e.channels; c++)
        for (int y = 0; y < e.height; y++)
            for (int x = 0; x < e.width; x++)
                fire_picture_at(&whole, y, x)[c] = *plane++;
    if (e.height == to.height && e.width == to.width) {
        copy_planes(&whole, out);
        st = FIRE_OK;
    } else {
        st = fire_picture_resize(&whole, to.height, to.width, &fit);
        if (st >= 0) {
            copy_planes(&fit, out);
            fire_picture_fini(&fit);
        }
    }
    fire_picture_fini(&whole);
    return st;
}

fire_status_t fire_prepare_set_mean(fire_prepare_t *p, const fire_mean_t *mean,
                                    bool by_channel, const char *source)
{
    int64_t area = (int64_t)p->input.height * p->input.width;
    float  *image;

    if (mean->extent.channels != p->input.channels)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s has %d channels, the net's input %d",
                         source, mean->extent.channels, p->input.channels);
    FIRE_TRY(FIRE_NEW(&image, fire_extent_count(p->input)));
    if (by_channel || (mean->extent.height == 1 && mean->extent.width == 1)) {
        for (int64_t i = 0; i < fire_extent_count(p->input); i++)
            image[i] = mean->channel[i / area];
    } else {
        fire_status_t st = resize_mean(mean, p->input, image);

        if (st < 0) {
            fire_free(image);
            return st;
        }
    }
    fire_free(p->mean);
    p->mean = image;
    return FIRE_OK;
}

/* ---- the input ---- */

/* The picture, which has the input's size, to the input. */
static void fill(const fire_prepare_t *p, const fire_picture_t *in, float *out)
{
    int64_t at = 0;

    for (int c = 0; c < p->input.channels; c++)
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++, at++) {
                float v = fire_picture_at(in, y, x)[p->swap[c]] * p->raw_scale;

                if (p->mean != NULL) v -= p->mean[at];
                out[at] = v * p->input_scale;
            }
}

fire_status_t fire_prepare_run(const fire_prepare_t *p, const fire_picture_t *in,
                               float *out)
{
    fire_picture_t fit;

    if (in->channels != p->input.channels)
        return FIRE_FAIL(FIRE_ERR_INVALID, "an image of %d channels for an input of %d",
                         in->channels, p->input.channels);
    if (in->height == p->input.height && in->width == p->input.width) {
        fill(p, in, out);
        return FIRE_OK;
    }
    FIRE_TRY(fire_picture_resize(in, p->input.height, p->input.width, &fit));
    fill(p, &fit, out);
    fire_picture_fini(&fit);
    return FIRE_OK;
}
