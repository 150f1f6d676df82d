/* depthwise.c - Convolution's kernel "direct": depthwise convolution of two axes on
 * plain arrays, where every output channel reads one input channel. Matrix products
 * would have a single row; instead, rows of the image are multiplied by a tap and
 * added, which the compiler vectorises along the row. One thread. */
#include <string.h>

#include "base/vector.h"
#include "device/cpu/blas.h"
#include "layers/conv/conv.h"

enum {
    MAX_WIDTH = 32, /* of the kernel */
    LANES     = 16, /* partial sums of a dot product, added in a fixed order */
};

/* The taps of one row of the kernel: through tap k, places first[k] ... end[k] - 1 of a
 * row of results read element from[k] + place * stride of a row of inputs. Places begin
 * ... stop - 1 read through all taps. */
typedef struct taps {
    int     n;
    int64_t stride, begin, stop;
    int64_t first[MAX_WIDTH], end[MAX_WIDTH], from[MAX_WIDTH];
} taps_t;

typedef struct plane {
    int64_t taps, stride, pad, dilation; /* along the height */
    int64_t in[2], out[2];
    taps_t  forth; /* results: the map, inputs: the image */
    taps_t  back;  /* results: the image, inputs: the map; for stride 1 */
} plane_t;

static const char *depthwise_declines(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    if (c->image.channels != c->group) return "needs one input channel per group";
    if (c->window.axes != 2) return "needs two spatial axes";
    return c->window.kernel[1] <= MAX_WIDTH ? NULL : "the kernel is too wide";
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* sign: 1 from image to map, -1 from map to image, where offsets have the opposite
 * sign. */
static taps_t make_taps(const fire_window_t *w, int sign, int64_t in, int64_t out)
{
    taps_t t = {.n = (int)w->kernel[1], .stride = w->stride[1], .stop = out};

    for (int k = 0; k < t.n; k++) {
        int64_t from = sign * (k * w->dilation[1] - w->pad[1]);

        t.from[k]  = from;
        t.first[k] = clamp((-from + t.stride - 1) / t.stride, 0, out);
        t.end[k]   = clamp((in - from + t.stride - 1) / t.stride, t.first[k], out);
        if (t.first[k] > t.begin) t.begin = t.first[k];
        if (t.end[k] < t.stop) t.stop = t.end[k];
    }
    t.begin = clamp(t.begin, 0, out);
    t.stop  = clamp(t.stop, t.begin, out);
    return t;
}

/* The geometry of one channel. */
static plane_t make_plane(const fire_conv_t *c)
{
    const fire_window_t *w  = &c->window;
    const int64_t       *in = c->image.dim, *out = c->map.dim;

    return (plane_t){.taps     = w->kernel[0],
                     .stride   = w->stride[0],
                     .pad      = w->pad[0],
                     .dilation = w->dilation[0],
                     .in       = {in[0], in[1]},
                     .out      = {out[0], out[1]},
                     .forth    = make_taps(w, 1, in[1], out[1]),
                     .back     = make_taps(w, -1, out[1], in[1])};
}

/* The image row that output row `row` reads through tap row `tap`; -1: padding. */
static int64_t image_row(const plane_t *p, int64_t row, int64_t tap)
{
    int64_t at = row * p->stride - p->pad + tap * p->dilation;

    return at >= 0 && at < p->in[0] ? at : -1;
}

/* y[i] += sum over k of w[k] * x[from[k] + i * stride], for the places that read
 * through all taps. Inlined with a constant number of taps and stride, so that i is
 * vectorised. */
__attribute__((always_inline)) static inline void
add_inside(int n, int64_t stride, const taps_t *t, const float *restrict w,
           const float *restrict x, float *restrict y)
{
    int64_t from[MAX_WIDTH];

    for (int k = 0; k < n; k++)
        from[k] = t->from[k];
    for (int64_t i = t->begin; i < t->stop; i++) {
        float sum = y[i];

        for (int k = 0; k < n; k++)
            sum += w[k] * x[from[k] + i * stride];
        y[i] = sum;
    }
}

/* Add to one row of results the products of one row of taps with one row of inputs. */
FIRE_VECTOR static void add_row(const taps_t *t, const float *restrict w,
                                const float *restrict x, float *restrict y)
{
    if (t->n == 3 && t->stride == 1)
        add_inside(3, 1, t, w, x, y);
    else if (t->n == 3 && t->stride == 2)
        add_inside(3, 2, t, w, x, y);
    else if (t->n == 5 && t->stride == 1)
        add_inside(5, 1, t, w, x, y);
    else
        add_inside(t->n, t->stride, t, w, x, y);
    for (int k = 0; k < t->n; k++) {
        for (int64_t i = t->first[k]; i < t->end[k] && i < t->begin; i++)
            y[i] += w[k] * x[t->from[k] + i * t->stride];
        for (int64_t i = t->first[k] > t->stop ? t->first[k] : t->stop; i < t->end[k];
             i++)
            y[i] += w[k] * x[t->from[k] + i * t->stride];
    }
}

/* From the map to the image with a stride: results are not contiguous. */
static void spread_row(const taps_t *t, const float *w, const float *dy, float *dx)
{
    for (int k = 0; k < t->n; k++)
        for (int64_t i = t->first[k]; i < t->end[k]; i++)
            dx[t->from[k] + i * t->stride] += w[k] * dy[i];
}

/* Add the products of n elements to LANES sums, element i to sum i % LANES. */
__attribute__((always_inline)) static inline void dot_inside(int64_t n, int64_t stride,
                                                             const float *restrict x,
                                                             const float *restrict dy,
                                                             float *restrict sums)
{
    float part[LANES];

    memcpy(part, sums, sizeof(part));
    for (; n >= LANES; n -= LANES, x += LANES * stride, dy += LANES)
        for (int j = 0; j < LANES; j++)
            part[j] += dy[j] * x[j * stride];
    for (int j = 0; j < (int)n; j++)
        part[j] += dy[j] * x[j * stride];
    memcpy(sums, part, sizeof(part));
}

/* part[k]: LANES partial sums of tap k's gradient, added up when the plane is done. */
FIRE_VECTOR static void dot_row(const taps_t *t, const float *restrict x,
                                const float *restrict dy, float (*restrict part)[LANES])
{
    for (int k = 0; k < t->n; k++) {
        int64_t      i = t->first[k], n = t->end[k] - i;
        const float *from = x + t->from[k] + i * t->stride;

        if (t->stride == 1)
            dot_inside(n, 1, from, dy + i, part[k]);
        else
            dot_inside(n, t->stride, from, dy + i, part[k]);
    }
}

/* y = bias + all rows of taps on one channel. */
static void forward_plane(const plane_t *p, const float *x, const float *w, float bias,
                          float *y)
{
    for (int64_t row = 0; row < p->out[0]; row++, y += p->out[1]) {
        fire_fill(p->out[1], bias, y);
        for (int64_t tap = 0; tap < p->taps; tap++) {
            int64_t at = image_row(p, row, tap);

            if (at >= 0) add_row(&p->forth, w + tap * p->forth.n, x + at * p->in[1], y);
        }
    }
}

static fire_status_t depthwise_forward(fire_layer_t *l)
{
    const fire_conv_t *c   = FIRE_STATE(l, fire_conv_t);
    plane_t            p   = make_plane(c);
    int64_t            fan = c->map.channels / c->group;
    const float       *weights, *bias = NULL, *x;
    float             *y;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    if (c->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    for (int b = 0; b < l->nbottom; b++) {
        FIRE_IN(l, l->bottom[b], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[b], FIRE_DATA, &y);
        for (int64_t k = 0; k < c->images * c->map.channels; k++) {
            int64_t      out = k % c->map.channels;
            const float *in  = x + k / fan * c->image.plane;
            const float *w   = weights + out * c->kernel_dim;

            forward_plane(&p, in, w, c->bias ? bias[out] : 0.0f, y + k * c->map.plane);
        }
    }
    return FIRE_OK;
}

static void backward_weights(const plane_t *p, const float *x, const float *dy,
                             float *dw)
{
    for (int64_t tap = 0; tap < p->taps; tap++, dw += p->forth.n) {
        float part[MAX_WIDTH][LANES] = {{0}};

        for (int64_t row = 0; row < p->out[0]; row++) {
            int64_t at = image_row(p, row, tap);

            if (at >= 0)
                dot_row(&p->forth, x + at * p->in[1], dy + row * p->out[1], part);
        }
        for (int k = 0; k < p->forth.n; k++)
            for (int j = 0; j < LANES; j++)
                dw[k] += part[k][j];
    }
}

static void backward_image(const plane_t *p, const float *w, const float *dy, float *dx)
{
    for (int64_t row = 0; row < p->out[0]; row++, dy += p->out[1])
        for (int64_t tap = 0; tap < p->taps; tap++) {
            int64_t at = image_row(p, row, tap);

            if (at < 0) continue;
            if (p->back.stride == 1)
                add_row(&p->back, w + tap * p->back.n, dy, dx + at * p->in[1]);
            else
                spread_row(&p->forth, w + tap * p->forth.n, dy, dx + at * p->in[1]);
        }
}

FIRE_VECTOR static float sum(int64_t n, const float *x)
{
    float part[LANES] = {0}, total = 0.0f;

    for (; n >= LANES; n -= LANES, x += LANES)
        for (int j = 0; j < LANES; j++)
            part[j] += x[j];
    for (int j = 0; j < (int)n; j++)
        part[j] += x[j];
    for (int j = 0; j < LANES; j++)
        total += part[j];
    return total;
}

static fire_status_t backward_pair(fire_layer_t *l, int b)
{
    const fire_conv_t *c   = FIRE_STATE(l, fire_conv_t);
    plane_t            p   = make_plane(c);
    int64_t            fan = c->map.channels / c->group;
    const float       *weights, *x, *dy;
    float             *dx = NULL, *dw = NULL, *db = NULL;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_IN(l, l->bottom[b], FIRE_DATA, &x);
    FIRE_IN(l, l->top[b], FIRE_DIFF, &dy);
    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dw);
    if (c->bias && l->param_gradient[1]) FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &db);
    if (l->propagate_down[b]) {
        FIRE_OUT(l, l->bottom[b], FIRE_DIFF, &dx);
        fire_fill(fire_blob_count(l->bottom[b]), 0.0f, dx);
    }
    for (int64_t k = 0; k < c->images * c->map.channels; k++, dy += c->map.plane) {
        int64_t out = k % c->map.channels, in = k / fan * c->image.plane;

        if (dw != NULL) backward_weights(&p, x + in, dy, dw + out * c->kernel_dim);
        if (dx != NULL) backward_image(&p, weights + out * c->kernel_dim, dy, dx + in);
        if (db != NULL) db[out] += sum(c->map.plane, dy);
    }
    return FIRE_OK;
}

static fire_status_t depthwise_backward(fire_layer_t *l)
{
    for (int b = 0; b < l->ntop; b++)
        FIRE_TRY(backward_pair(l, b));
    return FIRE_OK;
}

const fire_kernel_t fire_depthwise_direct = {
    .name     = "direct",
    .declines = depthwise_declines,
    .forward  = depthwise_forward,
    .backward = depthwise_backward,
};
