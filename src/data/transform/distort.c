/* distort.c - SSD's photometric distortion, in the order of SSD's code: brightness,
 * contrast, saturation, hue, channels; at random with contrast after hue. */
#include "data/transform/distort.h"

#include <math.h>

#include "data/image/image.h"

/* x = a * x + b for n values, rounded to bytes. */
static void linear(float a, float b, uint8_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = fire_image_byte(a * (float)x[i] + b);
}

/* Hue in degrees, saturation 0 to 1, value 0 to 255. */
typedef struct hsv {
    float h, s, v;
} hsv_t;

static hsv_t to_hsv(const uint8_t *bgr)
{
    float b = bgr[0], g = bgr[1], r = bgr[2];
    float max = fmaxf(fmaxf(b, g), r), range = max - fminf(fminf(b, g), r);
    hsv_t x = {.v = max};

    if (range == 0.0f) return x;
    x.s = range / max;
    x.h = max == r   ? (g - b) / range
          : max == g ? 2 + (b - r) / range
                     : 4 + (r - g) / range;
    x.h *= 60.0f;
    return x;
}

static void from_hsv(hsv_t x, uint8_t *bgr)
{
    /* Channel k is v - v * s * f, where f (0 ... 1) is its distance from the hue on the
     * circle of 6 sextants. */
    static const float turn[] = {1, 3, 5};

    for (int k = 0; k < 3; k++) {
        float at = fmodf(turn[k] + x.h / 60.0f + 12.0f, 6.0f);

        bgr[k] = fire_image_byte(
            x.v - x.v * x.s * fmaxf(fminf(fminf(at, 4.0f - at), 1.0f), 0.0f));
    }
}

/* Multiply the saturation by `gain` and turn the hue by `turn` degrees. */
static void change_hsv(float gain, float turn, uint8_t *bgr, int64_t n)
{
    for (int64_t i = 0; i < n; i++, bgr += 3) {
        hsv_t x = to_hsv(bgr);

        x.s = fminf(x.s * gain, 1.0f);
        x.h += turn;
        from_hsv(x, bgr);
    }
}

static void change_contrast(const Caffe__DistortionParameter *p, fire_draw_t *d,
                            uint8_t *bgr, int64_t n)
{
    float gain = fire_draw_uniform(d, p->contrast_lower, p->contrast_upper);

    if (fire_draw_chance(d, p->contrast_prob)) linear(gain, 0.0f, bgr, 3 * n);
}

static void shuffle_channels(fire_draw_t *d, uint8_t *bgr, int64_t n)
{
    int order[3] = {0, 1, 2};

    for (int k = 2; k > 0; k--) {
        int other = (int)fire_draw_below(d, k + 1), keep = order[k];

        order[k]     = order[other];
        order[other] = keep;
    }
    for (int64_t i = 0; i < n; i++, bgr += 3) {
        const uint8_t old[3] = {bgr[0], bgr[1], bgr[2]};

        for (int k = 0; k < 3; k++)
            bgr[k] = old[order[k]];
    }
}

void fire_distort(const Caffe__DistortionParameter *p, fire_draw_t *d, uint8_t *bgr,
                  int64_t n)
{
    bool  contrast_first = fire_draw_chance(d, 0.5f);
    float shift = fire_draw_uniform(d, -p->brightness_delta, p->brightness_delta);
    float gain  = fire_draw_uniform(d, p->saturation_lower, p->saturation_upper);
    /* OpenCV's hue has 180 steps */
    float turn = 2 * fire_draw_uniform(d, -p->hue_delta, p->hue_delta);

    if (fire_draw_chance(d, p->brightness_prob)) linear(1.0f, shift, bgr, 3 * n);
    if (contrast_first) change_contrast(p, d, bgr, n);
    if (fire_draw_chance(d, p->saturation_prob)) change_hsv(gain, 0.0f, bgr, n);
    if (fire_draw_chance(d, p->hue_prob)) change_hsv(1.0f, turn, bgr, n);
    if (!contrast_first) change_contrast(p, d, bgr, n);
    if (fire_draw_chance(d, p->random_order_prob)) shuffle_channels(d, bgr, n);
}
