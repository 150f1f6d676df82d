/* fit.c - SSD's resize_param: sizes, resizing, padding, boxes. */
#include "data/transform/fit.h"

#include <math.h>
#include <stdlib.h>

#define MODE(name) CAFFE__RESIZE_PARAMETER__RESIZE_MODE__##name
#define PAD(name)  CAFFE__RESIZE_PARAMETER__PAD_MODE__##name

fire_status_t fire_fit_check(const Caffe__ResizeParameter *p)
{
    if (p->height == 0 || p->width == 0 || p->height > INT32_MAX ||
        p->width > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "resize_param needs a height and a width");
    if (!p->center_object)
        return FIRE_FAIL(
            FIRE_ERR_UNSUPPORTED,
            "resize_param pads images on both sides: center_object cannot be "
            "false");
    if (p->n_pad_value > 1 && p->n_pad_value != 3)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%zu values of pad_value; give one, or one for each of 3 channels",
            p->n_pad_value);
    return FIRE_OK;
}

static float aspect_of(fire_extent_t e)
{
    return (float)e.width / (float)e.height;
}

/* The size of the image without padding. */
static fire_extent_t inner(const Caffe__ResizeParameter *p, fire_extent_t in)
{
    fire_extent_t e      = {in.channels, (int)p->height, (int)p->width};
    float         aspect = aspect_of(in);
    bool          wider  = aspect > aspect_of(e);

    if (p->resize_mode == MODE(WARP)) return e;
    if (wider == (p->resize_mode == MODE(FIT_LARGE_SIZE_AND_PAD)))
        e.height = (int)fmaxf(1, floorf((float)e.width / aspect));
    else
        e.width = (int)fmaxf(1, floorf((float)e.height * aspect));
    return e;
}

fire_extent_t fire_fit_extent(const Caffe__ResizeParameter *p, fire_extent_t in)
{
    if (p->resize_mode == MODE(FIT_SMALL_SIZE)) return inner(p, in);
    return (fire_extent_t){in.channels, (int)p->height, (int)p->width};
}

fire_filter_t fire_fit_filter(const Caffe__ResizeParameter *p, fire_draw_t *draw)
{
    static const fire_filter_t filter[] = {
        [CAFFE__RESIZE_PARAMETER__INTERP_MODE__LINEAR]   = FIRE_FILTER_LINEAR,
        [CAFFE__RESIZE_PARAMETER__INTERP_MODE__AREA]     = FIRE_FILTER_AREA,
        [CAFFE__RESIZE_PARAMETER__INTERP_MODE__NEAREST]  = FIRE_FILTER_NEAREST,
        [CAFFE__RESIZE_PARAMETER__INTERP_MODE__CUBIC]    = FIRE_FILTER_CUBIC,
        [CAFFE__RESIZE_PARAMETER__INTERP_MODE__LANCZOS4] = FIRE_FILTER_LANCZOS4,
    };

    if (p->n_interp_mode == 0) return FIRE_FILTER_LINEAR;
    return filter[p->interp_mode[fire_draw_below(draw, (int64_t)p->n_interp_mode)]];
}

/* The pixel of 0 ... n - 1 that is shown at position i, inside or outside of the image;
 * -1: pad_value. */
static int source_of(const Caffe__ResizeParameter *p, int i, int n)
{
    if (i >= 0 && i < n) return i;
    if (p->pad_mode == PAD(CONSTANT)) return -1;
    if (p->pad_mode == PAD(REPEAT_NEAREST) || n == 1) return i < 0 ? 0 : n - 1;
    i = abs(i) % (2 * n - 2); /* mirrored; the edge pixels are not repeated */
    return i < n ? i : 2 * n - 2 - i;
}

static uint8_t pad_value(const Caffe__ResizeParameter *p, int c)
{
    if (p->n_pad_value == 0) return 0;
    return fire_image_byte(p->pad_value[p->n_pad_value == 1 ? 0 : c]);
}

/* Centre *pixels in an image of extent `out`. */
static fire_status_t pad(const Caffe__ResizeParameter *p, fire_extent_t out,
                         fire_workspace_t *scratch, fire_pixels_t *pixels)
{
    fire_extent_t in  = pixels->extent;
    int           top = (out.height - in.height) / 2, left = (out.width - in.width) / 2;
    uint8_t      *to;

    if (p->n_pad_value > 1 && in.channels != 3)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%zu values of pad_value for an image with %d channels; give one",
            p->n_pad_value, in.channels);
    FIRE_TRY(fire_image_reserve(&scratch->padded, out.channels, out.height, out.width));
    to = scratch->padded.bytes;
    for (int i = 0; i < out.height * out.width; i++) {
        int y = source_of(p, i / out.width - top, in.height);
        int x = source_of(p, i % out.width - left, in.width);

        for (int c = 0; c < in.channels; c++)
            *to++ = y >= 0 && x >= 0
                        ? pixels->bytes[y * pixels->step_y + x * pixels->step_x + c]
                        : pad_value(p, c);
    }
    *pixels = fire_pixels_interleaved(scratch->padded.bytes, out);
    return FIRE_OK;
}

fire_status_t fire_fit_image(const Caffe__ResizeParameter *p, fire_draw_t *draw,
                             fire_workspace_t *scratch, fire_pixels_t *pixels)
{
    fire_extent_t size = inner(p, pixels->extent);
    fire_extent_t out  = fire_fit_extent(p, pixels->extent);

    FIRE_TRY(fire_image_filter(fire_fit_filter(p, draw), pixels, size.height,
                               size.width, &scratch->resized, pixels));
    return fire_extent_equal(size, out) ? FIRE_OK : pad(p, out, scratch, pixels);
}

/* The padding is a fraction of a pixel here, as in SSD's code; SSD's code lacks a pair
 * of brackets for images padded left and right. */
fire_bbox_t fire_fit_box(const Caffe__ResizeParameter *p, fire_extent_t in,
                         fire_bbox_t box)
{
    float share = aspect_of(in) / ((float)p->width / (float)p->height);

    if (p->resize_mode != MODE(FIT_LARGE_SIZE_AND_PAD)) return box;
    if (share > 1) {
        box.ymin = 0.5f + (box.ymin - 0.5f) / share;
        box.ymax = 0.5f + (box.ymax - 0.5f) / share;
    } else {
        box.xmin = 0.5f + (box.xmin - 0.5f) * share;
        box.xmax = 0.5f + (box.xmax - 0.5f) * share;
    }
    return box;
}
