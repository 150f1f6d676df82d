/* color.c - draws the matrix of a colour change and applies it. */
#include "data/jitter/color.h"

#include <math.h>

/* out = m * in + offset, for (blue, green, red). */
typedef struct color {
    double m[3][3], offset[3];
} color_t;

static const double GRAY[3] = {0.114, 0.587, 0.299}; /* of blue, green, red */

fire_status_t fire_color_check(const Caffe__AugmentParameter *a)
{
    const struct {
        const char *name;
        float       value, most;
    } setting[] = {
        {"brightness", a->brightness, 1}, {"contrast", a->contrast, 1},
        {"saturation", a->saturation, 1}, {"hue", a->hue, 0.5f},
        {"lighting", a->lighting, 10},    {"gray", a->gray, 1},
    };

    for (size_t i = 0; i < sizeof(setting) / sizeof(setting[0]); i++)
        if (!(setting[i].value >= 0 && setting[i].value <= setting[i].most))
            return FIRE_FAIL(
                FIRE_ERR_INVALID, "augment_param: %s must be 0 to %g, not %g",
                setting[i].name, (double)setting[i].most, (double)setting[i].value);
    return FIRE_OK;
}

/* ---- the matrix ---- */

/* First c, then `next`. */
static void then(color_t *c, const double next[3][3])
{
    color_t old = *c;

    for (int i = 0; i < 3; i++) {
        c->offset[i] = 0;
        for (int k = 0; k < 3; k++) {
            c->offset[i] += next[i][k] * old.offset[k];
            c->m[i][k] = 0;
            for (int j = 0; j < 3; j++)
                c->m[i][k] += next[i][j] * old.m[j][k];
        }
    }
}

/* keep * the pixel + (1 - keep) * its grey. */
static void fade(color_t *c, double keep)
{
    double next[3][3];

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            next[i][k] = (1 - keep) * GRAY[k] + (i == k ? keep : 0);
    then(c, next);
}

/* Turn I and Q of YIQ by an angle; Y, the grey, stays. */
static void turn_hue(color_t *c, double angle)
{
    /* from (y, i, q) to (b, g, r), and i and q of (b, g, r) */
    static const double back[3][2] = {
        {-1.107, 1.705}, {-0.272, -0.647}, {0.956, 0.620}};
    static const double iq[2][3] = {{-0.322, -0.274, 0.596}, {0.312, -0.523, 0.211}};
    double              u = cos(angle), w = sin(angle), next[3][3];

    for (int n = 0; n < 3; n++)
        for (int k = 0; k < 3; k++)
            next[n][k] = GRAY[k] + back[n][0] * (u * iq[0][k] - w * iq[1][k]) +
                         back[n][1] * (w * iq[0][k] + u * iq[1][k]);
    then(c, next);
}

/* Add along the main axes of ImageNet's colours, by their standard deviations. */
static void light(color_t *c, double deviation, fire_draw_t *draw)
{
    static const double value[3]   = {0.2175 * 255, 0.0188 * 255, 0.0045 * 255};
    static const double axis[3][3] = {
        {-0.5836, -0.6948, 0.4203},
        {-0.5808, -0.0045, -0.8140},
        {-0.5675, 0.7192, 0.4009}}; /* of red, green, blue */

    for (int k = 0; k < 3; k++) {
        double by = deviation * (double)fire_draw_gaussian(draw) * value[k];

        for (int i = 0; i < 3; i++)
            c->offset[i] += by * axis[2 - i][k];
    }
}

static double factor(float range, fire_draw_t *draw)
{
    return range > 0 ? (double)fire_draw_uniform(draw, 1 - range, 1 + range) : 1;
}

/* The mean grey of an image. The sums are whole numbers, so any order gives the same. */
static double mean_gray(const fire_pixels_t *p)
{
    const fire_extent_t e      = p->extent;
    int64_t             sum[3] = {0};
    double              gray   = 0;

    for (int y = 0; y < e.height; y++) {
        const uint8_t *x = p->bytes + y * p->step_y;

        if (e.channels != 3)
            for (int i = 0; i < e.width * e.channels; i++)
                sum[0] += x[i];
        else
            for (int i = 0; i < e.width; i++, x += 3) {
                sum[0] += x[0];
                sum[1] += x[1];
                sum[2] += x[2];
            }
    }
    if (e.channels != 3) return (double)sum[0] / (double)fire_extent_count(e);
    for (int c = 0; c < 3; c++)
        gray += GRAY[c] * (double)sum[c] / ((double)e.height * e.width);
    return gray;
}

/* ---- applying it ---- */

enum { BITS = 14, ONE = 1 << BITS };

static uint8_t to_byte(int x)
{
    x >>= BITS;
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* In whole numbers of 2^-14, so that a compiler's choice of instructions does not
 * matter. */
static void apply(const color_t *c, const fire_pixels_t *p)
{
    int m[3][3], offset[3];

    for (int i = 0; i < 3; i++) {
        offset[i] = (int)lrint(c->offset[i] * ONE) + ONE / 2;
        for (int k = 0; k < 3; k++)
            m[i][k] = (int)lrint(c->m[i][k] * ONE);
    }
    for (int y = 0; y < p->extent.height; y++) {
        uint8_t *x = (uint8_t *)p->bytes + y * p->step_y;

        for (int i = 0; i < p->extent.width; i++, x += 3) {
            int b = x[0], g = x[1], r = x[2];

            x[0] = to_byte(m[0][0] * b + m[0][1] * g + m[0][2] * r + offset[0]);
            x[1] = to_byte(m[1][0] * b + m[1][1] * g + m[1][2] * r + offset[1]);
            x[2] = to_byte(m[2][0] * b + m[2][1] * g + m[2][2] * r + offset[2]);
        }
    }
}

/* The same factor and offset for every byte. */
static void apply_flat(double gain, double offset, const fire_pixels_t *p)
{
    uint8_t table[256];

    for (int i = 0; i < 256; i++)
        table[i] = fire_image_byte((float)(gain * i + offset));
    for (int y = 0; y < p->extent.height; y++) {
        uint8_t *x = (uint8_t *)p->bytes + y * p->step_y;

        for (int i = 0; i < p->extent.width * p->extent.channels; i++)
            x[i] = table[x[i]];
    }
}

fire_status_t fire_color_change(const Caffe__AugmentParameter *a, fire_draw_t *draw,
                                const fire_pixels_t *p)
{
    bool    colours = a->saturation > 0 || a->hue > 0 || a->lighting > 0 || a->gray > 0;
    double  bright  = factor(a->brightness, draw);
    double  contrast = factor(a->contrast, draw);
    double  middle   = a->contrast > 0 ? (1 - contrast) * bright * mean_gray(p) : 0;
    color_t c        = {.offset = {middle, middle, middle}};

    if (colours && p->extent.channels != 3)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "augment_param: saturation, hue, lighting and gray need images "
            "of 3 channels, not %d; force_color makes them so",
            p->extent.channels);
    if (!colours && a->brightness <= 0 && a->contrast <= 0) return FIRE_OK;
    if (!colours) {
        apply_flat(contrast * bright, middle, p);
        return FIRE_OK;
    }
    for (int i = 0; i < 3; i++)
        c.m[i][i] = contrast * bright;
    if (a->saturation > 0) fade(&c, factor(a->saturation, draw));
    if (a->hue > 0)
        turn_hue(&c,
                 6.283185307179586 * (double)fire_draw_uniform(draw, -a->hue, a->hue));
    if (a->lighting > 0) light(&c, (double)a->lighting, draw);
    if (a->gray > 0 && fire_draw_chance(draw, a->gray)) fade(&c, 0);
    apply(&c, p);
    return FIRE_OK;
}
