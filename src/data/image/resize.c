/* resize.c - bilinear resizing in OpenCV's fixed-point arithmetic: weights have 11
 * bits, products of lines are cut by 4 bits before lines are blended. Halving both
 * sides exactly is an average of four pixels, because OpenCV uses its area filter then.
 * Pixels are sampled at their centres, without smoothing. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data/image/image.h"

enum { BITS = 11, ONE = 1 << BITS };

/* A pixel of the result: (wa * pixel a + wb * pixel b) >> BITS, with wa + wb = ONE. */
typedef struct tap {
    int   a, b;
    short wa, wb;
} tap_t;

/* The two source pixels of pixel i of the result, and their weights. Outside of the
 * image the edge pixel is repeated. Along a line OpenCV then gives it the whole weight;
 * across lines it keeps both weights and uses the same line twice, which rounds
 * differently. */
static tap_t tap_at(int i, int from, int to, bool in_line)
{
    double scale = (double)from / to;
    float  at    = (float)((i + 0.5) * scale - 0.5);
    int    a     = (int)floorf(at);
    float  part  = at - (float)a;

    if (a >= from) a = from - 1; /* above 2^24 a float cannot hold every index */
    if (in_line && (a < 0 || a >= from - 1)) part = 0;
    return (tap_t){.a  = a < 0 ? 0 : a,
                   .b  = a + 1 < from ? a + 1 : from - 1,
                   .wa = (short)lrintf((1.0f - part) * ONE),
                   .wb = (short)lrintf(part * ONE)};
}

/* One line of the image, stretched to `width` pixels of 11 more bits. */
static void stretch_line(const uint8_t *src, int channels, const tap_t *tap, int width,
                         int *dst)
{
    for (int x = 0; x < width; x++)
        for (int c = 0; c < channels; c++)
            *dst++ = src[tap[x].a * channels + c] * tap[x].wa +
                     src[tap[x].b * channels + c] * tap[x].wb;
}

/* One line of the result from the two stretched lines above and below it. */
static void blend_lines(const int *up, const int *down, tap_t t, int n, uint8_t *dst)
{
    for (int i = 0; i < n; i++) {
        int a = (t.wa * (up[i] >> 4)) >> 16, b = (t.wb * (down[i] >> 4)) >> 16;

        dst[i] = (uint8_t)((a + b + 2) >> 2);
    }
}

/* Half the height and width: the rounded average of 2 x 2 pixels. */
static void halve(const fire_pixels_t *in, const fire_pixels_t *out, uint8_t *dst)
{
    int64_t n = out->extent.channels;

    for (int y = 0; y < out->extent.height; y++)
        for (int x = 0; x < out->extent.width; x++)
            for (int64_t c = 0; c < n; c++) {
                const uint8_t *p = in->bytes + 2 * y * in->step_y + 2 * x * n + c;

                *dst++ =
                    (uint8_t)((p[0] + p[n] + p[in->step_y] + p[in->step_y + n] + 2) >>
                              2);
            }
}

/* Each line of the result blends two stretched lines. `line` has room for two, line y
 * in half y % 2; one that the previous result used is not stretched again. */
static void resize(const fire_pixels_t *in, const fire_pixels_t *out, const tap_t *tap,
                   int *line, uint8_t *dst)
{
    int n       = out->extent.width * out->extent.channels;
    int held[2] = {-1, -1};

    for (int y = 0; y < out->extent.height; y++) {
        tap_t t       = tap_at(y, in->extent.height, out->extent.height, false);
        int   want[2] = {t.a, t.b};

        for (int k = 0; k < 2; k++) {
            if (held[want[k] & 1] == want[k]) continue;
            stretch_line(in->bytes + want[k] * in->step_y, in->extent.channels, tap,
                         out->extent.width, line + (want[k] & 1) * n);
            held[want[k] & 1] = want[k];
        }
        blend_lines(line + (t.a & 1) * n, line + (t.b & 1) * n, t, n,
                    dst + (int64_t)y * n);
    }
}

fire_status_t fire_image_resize(const fire_pixels_t *in, int height, int width,
                                fire_buffer_t *b, fire_pixels_t *out_p)
{
    fire_extent_t e = {in->extent.channels, height, width};
    int64_t       image, taps, lines;
    fire_pixels_t out;
    tap_t        *tap;

    FIRE_TRY(fire_image_reserve(b, e.channels, height, width));
    image = (fire_extent_count(e) + 15) / 16 * 16; /* then the taps, then two lines */
    taps  = width * (int64_t)sizeof(tap_t);
    lines = 2 * (int64_t)width * e.channels * (int64_t)sizeof(int);
    FIRE_TRY(fire_grow(&b->bytes, &b->cap, image + taps + lines, 1));
    out = fire_pixels_interleaved(b->bytes, e);
    tap = (tap_t *)(b->bytes + image);
    for (int x = 0; x < width; x++)
        tap[x] = tap_at(x, in->extent.width, width, true);
    if (in->extent.height == 2 * height && in->extent.width == 2 * width)
        halve(in, &out, b->bytes);
    else
        resize(in, &out, tap, (int *)(tap + width), b->bytes);
    *out_p = out;
    return FIRE_OK;
}
