/* filter.c - resizes with OpenCV's other filters: nearest, area, cubic (A = -0.75) and
 * Lanczos over 8 pixels. First along each line into floats, then along columns into
 * bytes. OpenCV's weights are fixed-point numbers, these are floats, so bytes may
 * differ by 1. */
#include <math.h>

#include "base/alloc.h"
#include "data/image/image.h"

enum { CUBIC_TAPS = 4, LANCZOS_TAPS = 8 };

static const float PI = 3.14159265358979f;

/* The weights along one side of the image: element i of the result is the sum over k <
 * taps of weight[i * taps + k] * element first[i] + k of the image. Indices outside of
 * the image mean its edge. */
typedef struct axis {
    int    from, to; /* size of the image, of the result */
    int    taps;
    bool   smooth; /* AREA: average (shrinks) instead of interpolate */
    int   *first;  /* [to] */
    float *weight; /* [to][taps] */
} axis_t;

static int taps_of(fire_filter_t filter, const axis_t *a)
{
    switch (filter) {
    case FIRE_FILTER_NEAREST:
        return 1;
    case FIRE_FILTER_CUBIC:
        return CUBIC_TAPS;
    case FIRE_FILTER_LANCZOS4:
        return LANCZOS_TAPS;
    default:
        return a->smooth ? a->from / a->to + 2 : 2;
    }
}

/* The 4 weights of cubic convolution for a point t (0 ... 1) after the second tap. */
static void cubic(float t, float *w)
{
    const float A = -0.75f;

    w[0] = ((A * (t + 1) - 5 * A) * (t + 1) + 8 * A) * (t + 1) - 4 * A;
    w[1] = ((A + 2) * t - (A + 3)) * t * t + 1;
    w[2] = ((A + 2) * (1 - t) - (A + 3)) * (1 - t) * (1 - t) + 1;
    w[3] = 1 - w[0] - w[1] - w[2];
}

/* The 8 weights sinc(d) * sinc(d / 4) at distance d, scaled to a sum of 1. */
static void lanczos(float t, float *w)
{
    float sum = 0;

    for (int k = 0; k < LANCZOS_TAPS; k++) {
        float d = PI * (t + 3 - (float)k);

        w[k] = fabsf(d) < 1e-6f ? 1.0f : 4 * sinf(d) * sinf(d / 4) / (d * d);
        sum += w[k];
    }
    for (int k = 0; k < LANCZOS_TAPS; k++)
        w[k] /= sum;
}

/* AREA that shrinks: the fraction of element i of the result that each element of the
 * image covers. */
static void cover(const axis_t *a, int i, float *w)
{
    double scale = (double)a->from / a->to, begin = i * scale, end = begin + scale;

    a->first[i] = (int)begin;
    for (int k = 0; k < a->taps; k++) {
        double low = a->first[i] + k, high = low + 1;

        w[k] = (float)(fmax(0, fmin(high, end) - fmax(low, begin)) / scale);
    }
}

/* AREA that enlarges: nearest, except for elements of the result that straddle two of
 * the image. */
static void share(const axis_t *a, int i, float *w)
{
    double scale = (double)a->from / a->to;
    int    at    = (int)floor(i * scale);
    float  part  = (float)((i + 1) - (at + 1) / scale);

    part        = part <= 0 ? 0 : part - floorf(part);
    a->first[i] = at;
    w[0]        = 1 - part;
    w[1]        = part;
}

/* Set first[i] and the weights of element i. */
static void set_weights(fire_filter_t filter, const axis_t *a, int i)
{
    double scale  = (double)a->from / a->to;
    float  center = (float)((i + 0.5) * scale - 0.5), low = floorf(center);
    float *w = a->weight + (int64_t)i * a->taps;

    switch (filter) {
    case FIRE_FILTER_NEAREST:
        a->first[i] = (int)floor(i * scale);
        w[0]        = 1;
        break;
    case FIRE_FILTER_CUBIC:
        a->first[i] = (int)low - 1;
        cubic(center - low, w);
        break;
    case FIRE_FILTER_LANCZOS4:
        a->first[i] = (int)low - 3;
        lanczos(center - low, w);
        break;
    default:
        a->smooth ? cover(a, i, w) : share(a, i, w);
    }
}

/* The index i moved inside of 0 ... n - 1. */
static int inside(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* (height, from, channels) bytes to out: (height, to, channels) floats. */
static void filter_lines(const fire_pixels_t *in, const axis_t *a, float *out)
{
    int n = in->extent.channels;

    for (int y = 0; y < in->extent.height; y++)
        for (int x = 0; x < a->to; x++)
            for (int c = 0; c < n; c++) {
                const uint8_t *line = in->bytes + y * in->step_y + c;
                float          sum  = 0;

                for (int k = 0; k < a->taps; k++)
                    sum += a->weight[x * a->taps + k] *
                           (float)line[inside(a->first[x] + k, a->from) * n];
                *out++ = sum;
            }
}

/* (from, width) floats to out: (to, width) bytes; width counts channels too. */
static void filter_columns(const float *in, int64_t width, const axis_t *a,
                           uint8_t *out)
{
    for (int y = 0; y < a->to; y++)
        for (int64_t x = 0; x < width; x++) {
            float sum = 0;

            for (int k = 0; k < a->taps; k++)
                sum += a->weight[y * a->taps + k] *
                       in[inside(a->first[y] + k, a->from) * width + x];
            sum    = rintf(sum);
            *out++ = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
        }
}

static fire_status_t axis_init(fire_filter_t filter, axis_t *a)
{
    a->taps = taps_of(filter, a);
    FIRE_TRY(FIRE_NEW(&a->first, a->to));
    FIRE_TRY(FIRE_NEW(&a->weight, (int64_t)a->to * a->taps));
    for (int i = 0; i < a->to; i++)
        set_weights(filter, a, i);
    return FIRE_OK;
}

static void axis_fini(axis_t *a)
{
    fire_free(a->first);
    fire_free(a->weight);
}

fire_status_t fire_image_filter(fire_filter_t filter, const fire_pixels_t *in,
                                int height, int width, fire_buffer_t *b,
                                fire_pixels_t *out_p)
{
    fire_extent_t e      = {in->extent.channels, height, width};
    bool          smooth = in->extent.height >= height && in->extent.width >= width;
    axis_t        x      = {.from = in->extent.width, .to = width, .smooth = smooth};
    axis_t        y      = {.from = in->extent.height, .to = height, .smooth = smooth};
    float        *lines  = NULL;
    fire_status_t st;

    if (filter == FIRE_FILTER_LINEAR)
        return fire_image_resize(in, height, width, b, out_p);
    FIRE_TRY(fire_image_reserve(b, e.channels, height, width));
    st = axis_init(filter, &x);
    if (st >= 0) st = axis_init(filter, &y);
    if (st >= 0) st = FIRE_NEW(&lines, (int64_t)y.from * width * e.channels);
    if (st >= 0) {
        filter_lines(in, &x, lines);
        filter_columns(lines, (int64_t)width * e.channels, &y, b->bytes);
        *out_p = fire_pixels_interleaved(b->bytes, e);
    }
    axis_fini(&x);
    axis_fini(&y);
    fire_free(lines);
    return st;
}
