/* noise.c - noise, blur and holes. */
#include "data/jitter/noise.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* Line y of an image, to be written. */
static uint8_t *line_of(const fire_pixels_t *p, int y)
{
    return (uint8_t *)p->bytes + y * p->step_y;
}

static int line_length(const fire_pixels_t *p)
{
    return p->extent.width * p->extent.channels;
}

/* ---- blur ---- */

enum { MOST_RADIUS = 30 };

/* Weights of 1/256 at distance 0 ... radius; all 2 * radius + 1 add up to 256. */
static void blur_weights(float deviation, int radius, int *weight)
{
    double sum  = 1;
    int    rest = 256;

    for (int k = 1; k <= radius; k++)
        sum += 2 * exp(-0.5 * k * k / ((double)deviation * (double)deviation));
    for (int k = 1; k <= radius; k++) {
        double w = exp(-0.5 * k * k / ((double)deviation * (double)deviation)) / sum;

        weight[k] = (int)lrint(256 * w);
        rest -= 2 * weight[k];
    }
    weight[0] = rest;
}

/* Index i mirrored into 0 ... n - 1, without repeating the edge, as OpenCV does. */
static int mirrored(int i, int n)
{
    while (i < 0 || i >= n)
        i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
    return i;
}

static fire_status_t blur(const int *weight, int radius, fire_buffer_t *spare,
                          const fire_pixels_t *p)
{
    int       n = line_length(p), C = p->extent.channels, H = p->extent.height;
    uint16_t *across;

    FIRE_TRY(fire_grow(&spare->bytes, &spare->cap,
                       (int64_t)n * H * (int64_t)sizeof(*across), 1));
    across = (uint16_t *)spare->bytes;
    for (int y = 0; y < H; y++)
        for (int i = 0; i < n; i++) {
            const uint8_t *line = line_of(p, y);
            int            x = i / C, c = i - x * C, sum = 0;

            for (int k = -radius; k <= radius; k++)
                sum += weight[k < 0 ? -k : k] *
                       line[mirrored(x + k, p->extent.width) * C + c];
            across[(int64_t)y * n + i] = (uint16_t)sum;
        }
    for (int y = 0; y < H; y++)
        for (int i = 0; i < n; i++) {
            int sum = 1 << 15;

            for (int k = -radius; k <= radius; k++)
                sum += weight[k < 0 ? -k : k] *
                       across[(int64_t)mirrored(y + k, H) * n + i];
            line_of(p, y)[i] = (uint8_t)(sum >> 16);
        }
    return FIRE_OK;
}

fire_status_t fire_noise_blur(float deviation, fire_buffer_t *spare,
                              const fire_pixels_t *p)
{
    int weight[MOST_RADIUS + 1], radius = (int)ceilf(3 * deviation);

    if (radius < 1) return FIRE_OK;
    if (radius > MOST_RADIUS) radius = MOST_RADIUS;
    blur_weights(deviation, radius, weight);
    return blur(weight, radius, spare, p);
}

/* ---- SSD's noise ---- */

fire_status_t fire_noise_check(const Caffe__NoiseParameter *p)
{
    const char *what = p == NULL           ? NULL
                       : p->clahe          ? "clahe"
                       : p->jpeg > 0       ? "jpeg"
                       : p->convert_to_hsv ? "convert_to_hsv"
                       : p->convert_to_lab ? "convert_to_lab"
                                           : NULL;

    if (what != NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "noise_param: %s is not supported; remove it", what);
    if (p != NULL && !(p->prob >= 0 && p->prob <= 1))
        return FIRE_FAIL(FIRE_ERR_INVALID, "noise_param: prob must be 0 to 1, not %g",
                         (double)p->prob);
    if (p != NULL && p->saltpepper_param != NULL &&
        !(p->saltpepper_param->fraction >= 0 && p->saltpepper_param->fraction <= 1))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "saltpepper_param: fraction must be 0 to 1, not %g",
                         (double)p->saltpepper_param->fraction);
    return FIRE_OK;
}

/* The grey of a pixel with OpenCV's weights. */
static uint8_t gray_of(const uint8_t *x, int channels)
{
    return channels == 3
               ? (uint8_t)((x[0] * 1868 + x[1] * 9617 + x[2] * 4899 + 8192) >> 14)
               : x[0];
}

static uint8_t clamp(int x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* Spread the greys over 0 ... 255. Adding the difference to every channel changes the
 * grey and leaves the colour differences of YCrCb as they are. */
static void equalize(const fire_pixels_t *p)
{
    int64_t count[256] = {0}, total = 0, sum = 0, first = 0;
    int     C = p->extent.channels, table[256] = {0};

    for (int y = 0; y < p->extent.height; y++)
        for (int x = 0; x < p->extent.width; x++, total++)
            count[gray_of(line_of(p, y) + x * C, C)]++;
    for (int i = 0; i < 256; i++) {
        if (first == 0) first = count[i]; /* of the darkest grey that occurs */
        sum += count[i];
        table[i] =
            total > first
                ? (int)lrint((double)(sum - first) * 255.0 / (double)(total - first))
                : i;
    }
    for (int y = 0; y < p->extent.height; y++)
        for (int x = 0; x < p->extent.width; x++) {
            uint8_t *to = line_of(p, y) + x * C;
            int      by = table[gray_of(to, C)] - gray_of(to, C);

            for (int c = 0; c < C; c++)
                to[c] = clamp(to[c] + by);
        }
}

/* Each value becomes the least of itself and its four neighbours. */
static fire_status_t erode(fire_buffer_t *spare, const fire_pixels_t *p)
{
    int      n = line_length(p), C = p->extent.channels, H = p->extent.height;
    uint8_t *old;

    FIRE_TRY(fire_grow(&spare->bytes, &spare->cap, (int64_t)n * H, 1));
    old = spare->bytes;
    for (int y = 0; y < H; y++)
        memcpy(old + (int64_t)y * n, line_of(p, y), (size_t)n);
    for (int y = 0; y < H; y++)
        for (int i = 0; i < n; i++) {
            const uint8_t *x     = old + (int64_t)y * n + i;
            uint8_t        least = x[0];

            if (i >= C && x[-C] < least) least = x[-C];
            if (i + C < n && x[C] < least) least = x[C];
            if (y > 0 && x[-n] < least) least = x[-n];
            if (y + 1 < H && x[n] < least) least = x[n];
            line_of(p, y)[i] = least;
        }
    return FIRE_OK;
}

static fire_status_t salt(const Caffe__SaltPepperParameter *p, fire_draw_t *draw,
                          const fire_pixels_t *pixels)
{
    fire_extent_t e = pixels->extent;
    int64_t       n =
        p != NULL ? (int64_t)(p->fraction * (float)e.width * (float)e.height) : 0;

    if (p != NULL && p->n_value > 1 && (int)p->n_value != e.channels)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "saltpepper_param: %zu values for an image with %d channels; "
                         "give one, or one for each channel",
                         p->n_value, e.channels);
    for (int64_t i = 0; i < n; i++) {
        int      x  = (int)fire_draw_below(draw, e.width);
        uint8_t *to = line_of(pixels, (int)fire_draw_below(draw, e.height)) +
                      (int64_t)x * e.channels;

        for (int c = 0; c < e.channels; c++)
            to[c] = p->n_value == 0
                        ? 0
                        : fire_image_byte(p->value[p->n_value == 1 ? 0 : c]);
    }
    return FIRE_OK;
}

static void decolorize(const fire_pixels_t *p)
{
    int C = p->extent.channels;

    for (int y = 0; y < p->extent.height; y++)
        for (int x = 0; x < p->extent.width; x++) {
            uint8_t *to = line_of(p, y) + (int64_t)x * C;

            memset(to, gray_of(to, C), (size_t)C);
        }
}

/* Steps of 64, and inversion. */
static void change_values(const Caffe__NoiseParameter *p, const fire_pixels_t *pixels)
{
    for (int y = 0; y < pixels->extent.height; y++)
        for (int i = 0; i < line_length(pixels); i++) {
            uint8_t *x = line_of(pixels, y) + i;

            if (p->posterize) *x = (uint8_t)(*x / 64 * 64 + 32);
            if (p->inverse) *x = (uint8_t)(255 - *x);
        }
}

fire_status_t fire_noise_add(const Caffe__NoiseParameter *p, fire_draw_t *draw,
                             fire_buffer_t *spare, const fire_pixels_t *pixels)
{
    int weight[4];

    if (p->has_prob && !fire_draw_chance(draw, p->prob)) return FIRE_OK;
    if (p->decolorize) decolorize(pixels);
    blur_weights(1.5f, 3, weight); /* OpenCV's 7 pixels */
    if (p->gauss_blur) FIRE_TRY(blur(weight, 3, spare, pixels));
    if (p->hist_eq) equalize(pixels);
    if (p->erode) FIRE_TRY(erode(spare, pixels));
    change_values(p, pixels);
    return p->saltpepper ? salt(p->saltpepper_param, draw, pixels) : FIRE_OK;
}

/* ---- noise and holes ---- */

/* Four normally distributed numbers (Box-Muller) from four words. */
static void gaussians(const uint32_t word[4], float g[4])
{
    for (int k = 0; k < 4; k += 2) {
        float radius = sqrtf(-2 * logf(((float)(word[k] >> 8) + 1) * 0x1p-24f));
        float angle  = 6.2831853f * (float)(word[k + 1] >> 8) * 0x1p-24f;

        g[k]     = radius * cosf(angle);
        g[k + 1] = radius * sinf(angle);
    }
}

void fire_noise_gaussian(float deviation, fire_rng_key_t key, uint64_t first,
                         const fire_pixels_t *p)
{
    float    g[4];
    uint32_t word[4];
    uint64_t at = first;

    for (int y = 0; y < p->extent.height; y++) {
        uint8_t *x = line_of(p, y);

        for (int i = 0; i < line_length(p); i++, at++) {
            if (at % 4 == 0 || at == first) {
                fire_rng_block(key, at / 4, word);
                gaussians(word, g);
            }
            x[i] = fire_image_byte((float)x[i] + deviation * g[at % 4]);
        }
    }
}

void fire_noise_cutout(int side, const fire_transform_t *t, fire_window_t w,
                       fire_draw_t *draw, const fire_pixels_t *p)
{
    int mid_y = w.top + (int)fire_draw_below(draw, w.height);
    int mid_x = w.left + (int)fire_draw_below(draw, w.width);
    int C     = p->extent.channels;

    for (int y = mid_y - side / 2; y < mid_y - side / 2 + side; y++)
        for (int x = mid_x - side / 2; x < mid_x - side / 2 + side; x++) {
            bool seen = y >= w.top && y < w.top + w.height && x >= w.left &&
                        x < w.left + w.width;

            for (int c = 0; c < C && seen; c++)
                line_of(p, y)[x * C + c] = fire_transform_fill(t, c);
        }
}
