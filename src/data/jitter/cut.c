/* cut.c - cuts regions out of images: copied, resized or turned. */
#include <math.h>
#include <string.h>

#include "data/jitter/cut.h"

/* Is the region inside of the image? */
static bool is_inside(const fire_cut_t *r, fire_extent_t in)
{
    return r->left >= 0 && r->top >= 0 && r->left + r->width <= in.width &&
           r->top + r->height <= in.height;
}

/* n pixels of what is shown outside of an image. */
static void fill_line(const fire_transform_t *t, int channels, int n, uint8_t *to)
{
    for (int x = 0; x < n; x++)
        for (int c = 0; c < channels; c++)
            *to++ = fire_transform_fill(t, c);
}

fire_status_t fire_cut_extend(const fire_cut_t *r, const fire_transform_t *t,
                              fire_buffer_t *b, fire_pixels_t *pixels)
{
    fire_extent_t in = pixels->extent, out = {in.channels, r->height, r->width};
    int           first = r->left < 0 ? -r->left : 0, C = in.channels;
    int           end = in.width - r->left < r->width ? in.width - r->left : r->width;
    uint8_t      *to;

    FIRE_TRY(fire_image_reserve(b, C, out.height, out.width));
    to = b->bytes;
    for (int y = r->top; y < r->top + r->height; y++, to += (int64_t)out.width * C) {
        const uint8_t *from =
            pixels->bytes + y * pixels->step_y + (int64_t)(r->left + first) * C;

        if (y < 0 || y >= in.height || end <= first) {
            fill_line(t, C, out.width, to);
            continue;
        }
        fill_line(t, C, first, to);
        memcpy(to + (int64_t)first * C, from, (size_t)(end - first) * (size_t)C);
        fill_line(t, C, out.width - end, to + (int64_t)end * C);
    }
    *pixels = fire_pixels_interleaved(b->bytes, out);
    return FIRE_OK;
}

/* ---- turned ---- */

enum { BITS = 8, ONE = 1 << BITS }; /* of the position between two pixels */

/* Channel c at (y, x), or what is shown outside. */
static int pixel_at(const fire_pixels_t *in, const fire_transform_t *t, int64_t y,
                    int64_t x, int c)
{
    if (y < 0 || x < 0 || y >= in->extent.height || x >= in->extent.width)
        return fire_transform_fill(t, c);
    return in->bytes[y * in->step_y + x * in->step_x + c];
}

/* Four values, weighted by how near they are. */
static uint8_t weigh(int a, int b, int c, int d, int u, int v)
{
    int up = a * (ONE - u) + b * u, down = c * (ONE - u) + d * u;

    return (uint8_t)((up * (ONE - v) + down * v + ONE * ONE / 2) >> (2 * BITS));
}

/* The pixel at a position in 1/ONE pixels, of the four around it. */
static void blend(const fire_pixels_t *in, const fire_transform_t *t, int64_t y,
                  int64_t x, uint8_t *to)
{
    int64_t y0 = y >> BITS, x0 = x >> BITS;
    int     v = (int)(y & (ONE - 1)), u = (int)(x & (ONE - 1)), C = in->extent.channels;
    bool    inside =
        y0 >= 0 && x0 >= 0 && y0 + 1 < in->extent.height && x0 + 1 < in->extent.width;
    const uint8_t *from = in->bytes + (inside ? y0 * in->step_y + x0 * C : 0);

    for (int c = 0; c < C && inside; c++)
        to[c] = weigh(from[c], from[c + C], from[c + in->step_y],
                      from[c + C + in->step_y], u, v);
    for (int c = 0; c < C && !inside; c++)
        to[c] = weigh(pixel_at(in, t, y0, x0, c), pixel_at(in, t, y0, x0 + 1, c),
                      pixel_at(in, t, y0 + 1, x0, c),
                      pixel_at(in, t, y0 + 1, x0 + 1, c), u, v);
}

/* Show the region turned around its centre. Positions are whole numbers of 2^-24 of a
 * pixel, so that they add up to the same on every machine. */
static fire_status_t turn(const fire_cut_t *r, const fire_transform_t *t,
                          fire_buffer_t *b, fire_pixels_t *pixels)
{
    fire_extent_t out = {pixels->extent.channels, r->out_height, r->out_width};
    double   sx = (double)r->width / out.width, sy = (double)r->height / out.height;
    double   cosine = cos((double)r->angle), sine = sin((double)r->angle);
    double   scale = 1 << 24;
    int64_t  xx = llrint(cosine * sx * scale), xy = llrint(-sine * sy * scale);
    int64_t  yx = llrint(sine * sx * scale), yy = llrint(cosine * sy * scale);
    int64_t  mid_x = llrint((r->left + r->width / 2.0 - 0.5) * scale);
    int64_t  mid_y = llrint((r->top + r->height / 2.0 - 0.5) * scale);
    uint8_t *to;

    FIRE_TRY(fire_image_reserve(b, out.channels, out.height, out.width));
    to = b->bytes;
    for (int y = 0; y < out.height; y++)
        for (int x = 0; x < out.width; x++, to += out.channels) {
            int64_t u = 2 * x + 1 - out.width, v = 2 * y + 1 - out.height; /* halves */
            int64_t at_x = mid_x + (u * xx + v * xy) / 2;
            int64_t at_y = mid_y + (u * yx + v * yy) / 2;

            blend(pixels, t, at_y >> (24 - BITS), at_x >> (24 - BITS), to);
        }
    *pixels = fire_pixels_interleaved(b->bytes, out);
    return FIRE_OK;
}

fire_status_t fire_cut_out(const fire_cut_t *r, const fire_transform_t *t,
                           fire_workspace_t *scratch, fire_pixels_t *pixels)
{
    if (r->angle != 0) return turn(r, t, &scratch->scaled, pixels);
    if (is_inside(r, pixels->extent)) {
        pixels->bytes += r->top * pixels->step_y + r->left * pixels->step_x;
        pixels->extent.height = r->height;
        pixels->extent.width  = r->width;
    } else {
        FIRE_TRY(fire_cut_extend(r, t, &scratch->cropped, pixels));
    }
    if (r->width == r->out_width && r->height == r->out_height) return FIRE_OK;
    return fire_image_filter(r->filter, pixels, r->out_height, r->out_width,
                             &scratch->scaled, pixels);
}
