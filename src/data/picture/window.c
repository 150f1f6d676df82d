/* window.c - cuts windows out of pictures as pycaffe's Detector does, with or without
 * context around them. */
#include <math.h>
#include <string.h>
#include "data/picture/prepare.h"

/* One direction (rows or columns) of a window with context: pixels from ... to - 1 of
 * the picture become pixels at ... at + size - 1 of the crop. */
typedef struct side {
    int from, to; /* in the picture */
    int at, size; /* in the crop */
} side_t;

/* A window low ... high in a picture of size `limit`, for a crop of size `crop` with
 * `pad` pixels of context. rint() rounds halves to the even neighbour, as numpy
 * does. */
static side_t side_of(int low, int high, int limit, int crop, int pad)
{
    double scale  = crop / (crop - 2.0 * pad);
    double half   = (high - low + 1) / 2.0;
    double begin  = rint(low + half - scale * half);
    double end    = rint(low + half + scale * half);
    double shrink = crop / (end - begin + 1);
    side_t s      = {.at = (int)rint(fmax(0, -begin) * shrink)};

    s.from = (int)fmin(fmax(begin, 0), limit);
    s.to   = (int)fmin(fmax(end, 0), limit);
    s.size = (int)rint((s.to - s.from + 1) * shrink);
    if (s.at + s.size > crop) s.size = crop - s.at;
    return s;
}

static fire_status_t check_window(const fire_picture_t *in, fire_rect_t w)
{
    if (w.ymin < w.ymax && w.xmin < w.xmax && w.ymax > 0 && w.xmax > 0 &&
        w.ymin < in->height && w.xmin < in->width)
        return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "the window ymin %d, xmin %d, ymax %d, xmax %d holds nothing of "
                     "the image, %d high and %d wide",
                     w.ymin, w.xmin, w.ymax, w.xmax, in->height, in->width);
}

static fire_rect_t clip(const fire_picture_t *in, fire_rect_t w)
{
    if (w.ymin < 0) w.ymin = 0;
    if (w.xmin < 0) w.xmin = 0;
    if (w.ymax > in->height) w.ymax = in->height;
    if (w.xmax > in->width) w.xmax = in->width;
    return w;
}

/* Fill the crop with the mean, so that subtracting it leaves 0. The crop has the
 * picture's units and channel order. */
static void fill_with_mean(const fire_prepare_t *p, fire_picture_t *crop)
{
    int64_t at = 0;

    if (p->mean == NULL) return;
    for (int c = 0; c < crop->channels; c++)
        for (int y = 0; y < crop->height; y++)
            for (int x = 0; x < crop->width; x++, at++)
                fire_picture_at(crop, y, x)[p->swap[c]] = p->mean[at] / p->raw_scale;
}

/* Copy a picture into another at (y, x). */
static void paste(const fire_picture_t *from, int y, int x, fire_picture_t *to)
{
    for (int row = 0; row < from->height; row++)
        memcpy(fire_picture_at(to, y + row, x), fire_picture_at(from, row, 0),
               (size_t)from->width * (size_t)from->channels * sizeof(*from->value));
}

/* Cut the part inside of the picture, resize it, and paste it on the mean. */
static fire_status_t with_context(const fire_prepare_t *p, const fire_picture_t *in,
                                  side_t v, side_t h, fire_picture_t *crop_p)
{
    fire_rect_t    part = {v.from, h.from, v.to, h.to};
    fire_picture_t cut, fit, crop;
    fire_status_t  st;

    FIRE_TRY(fire_picture_crop(in, part, &cut));
    st = fire_picture_resize(&cut, v.size, h.size, &fit);
    fire_picture_fini(&cut);
    FIRE_TRY(st);
    st = fire_picture_create(p->input.height, p->input.width, in->channels, &crop);
    if (st >= 0) {
        fill_with_mean(p, &crop);
        paste(&fit, v.at, h.at, &crop);
        *crop_p = crop;
    }
    fire_picture_fini(&fit);
    return st;
}

fire_status_t fire_prepare_window(const fire_prepare_t *p, const fire_picture_t *in,
                                  fire_rect_t w, int pad, fire_picture_t *crop_p)
{
    int    size = p->input.width;
    side_t v, h;

    FIRE_TRY(check_window(in, w));
    if (pad == 0) return fire_picture_crop(in, clip(in, w), crop_p);
    if (p->input.height != size || 2 * pad >= size)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a context pad of %d needs a square input of more than %d "
                         "pixels, not %d x %d",
                         pad, 2 * pad, p->input.height, size);
    v = side_of(w.ymin, w.ymax, in->height, size, pad);
    h = side_of(w.xmin, w.xmax, in->width, size, pad);
    return with_context(p, in, v, h, crop_p);
}
