/* pooling.c - MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool, ReduceMean and its
 * kind. */
#include <string.h>
#include "layers/pooling/pool.h"
#include "base/alloc.h"
#include "onnx/import/chain.h"

#define METHOD(name) CAFFE__POOLING_PARAMETER__POOL_METHOD__##name
typedef Caffe__PoolingParameter__PoolMethod method_t;

enum { MOST_SIZE = 1 << 30, MOST_AXES = 3 };

typedef struct pool {
    fire_pool_windows_t w;      /* w.out: as ONNX counts them */
    int64_t             end[2]; /* padding behind */
} pool_t;

/* What the node says of its axes, one to three. */
typedef struct settings {
    int     axes;
    int64_t in[MOST_AXES], kernel[MOST_AXES], stride[MOST_AXES], begin[MOST_AXES],
        end[MOST_AXES];
} settings_t;

static fire_status_t read_list(const fire_onnx_import_t *x, const char *name, int axes,
                               int64_t otherwise, int64_t *value)
{
    int64_t list[FIRE_MAX_DIMS];
    int     n;

    FIRE_TRY(fire_onnx_get_ints(x, name, -1, &n, list));
    if (n != 0 && n != axes)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s for %d axes, not %d", name, n, axes);
    for (int i = 0; i < axes; i++) {
        value[i] = n == 0 ? otherwise : list[i];
        if (value[i] < 1 || value[i] > MOST_SIZE)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s is %lld", name, (long long)value[i]);
    }
    return FIRE_OK;
}

static fire_status_t read_pads(const fire_onnx_import_t *x, settings_t *s)
{
    int64_t pads[FIRE_MAX_DIMS] = {0};
    int     n;
    bool    upper = fire_onnx_text_is(x, "auto_pad", "SAME_UPPER", false);
    bool    lower = fire_onnx_text_is(x, "auto_pad", "SAME_LOWER", false);

    FIRE_TRY(fire_onnx_get_ints(x, "pads", -1, &n, pads));
    if (n != 0 && n != 2 * s->axes)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d pads for %d axes", n, s->axes);
    for (int i = 0; i < s->axes; i++) {
        int64_t places = (s->in[i] + s->stride[i] - 1) / s->stride[i];
        int64_t sum    = (places - 1) * s->stride[i] + s->kernel[i] - s->in[i];

        s->begin[i] = pads[i];
        s->end[i]   = pads[s->axes + i];
        if (upper || lower) {
            s->begin[i] = sum < 0 ? 0 : (sum + (lower ? 1 : 0)) / 2;
            s->end[i]   = sum < 0 ? 0 : sum - s->begin[i];
        }
        if (s->begin[i] < 0 || s->end[i] < 0 || s->begin[i] >= s->kernel[i] ||
            s->end[i] > MOST_SIZE)
            return FIRE_ONNX_LACKS(
                "padding of %lld before, %lld behind a kernel of %lld",
                (long long)s->begin[i], (long long)s->end[i], (long long)s->kernel[i]);
    }
    return FIRE_OK;
}

static fire_status_t read_settings(const fire_onnx_import_t *x, const int64_t *in,
                                   int axes, settings_t *s)
{
    if (axes < 1 || axes > MOST_AXES)
        return FIRE_ONNX_LACKS("Pooling for %d axes", axes);
    s->axes = axes;
    memcpy(s->in, in, (size_t)axes * sizeof(*in));
    FIRE_TRY(read_list(x, "kernel_shape", axes, 0, s->kernel));
    FIRE_TRY(read_list(x, "strides", axes, 1, s->stride));
    return read_pads(x, s);
}

/* Axes `first` and, where there is one, `first` + 1 as height and width. */
static pool_t pool_of(const settings_t *s, int first, int n)
{
    pool_t p = {.w = {.kernel = {1, 1}, .stride = {1, 1}, .in = {1, 1}}};

    for (int i = 0; i < n; i++) {
        p.w.kernel[i] = s->kernel[first + i];
        p.w.stride[i] = s->stride[first + i];
        p.w.in[i]     = s->in[first + i];
        p.w.pad[i]    = s->begin[first + i];
        p.end[i]      = s->end[first + i];
    }
    return p;
}

/* The number of windows; rounded up, one that begins behind the image is dropped. */
static fire_status_t count_windows(const fire_onnx_import_t *x, pool_t *p)
{
    bool up = fire_onnx_get_int(x, "ceil_mode", 0) != 0;

    for (int i = 0; i < 2; i++) {
        int64_t steps = p->w.in[i] + p->w.pad[i] + p->end[i] - p->w.kernel[i];

        if (steps < 0)
            return FIRE_FAIL(FIRE_ERR_PARSE, "the kernel is larger than the input");
        p->w.out[i] = (steps + (up ? p->w.stride[i] - 1 : 0)) / p->w.stride[i] + 1;
        if (up && (p->w.out[i] - 1) * p->w.stride[i] >= p->w.in[i] + p->w.pad[i])
            p->w.out[i]--;
    }
    return FIRE_OK;
}

/* Does Caffe, rounding so, have the same windows? */
static bool fits(const pool_t *p, bool down)
{
    fire_pool_windows_t w = p->w;

    return fire_pool_reshape(&w, down) >= 0 && w.out[0] == p->w.out[0] &&
           w.out[1] == p->w.out[1];
}

/* One field where height and width are the same, else two. */
static fire_status_t put_pair(Caffe__PoolingParameter *p, const int64_t v[2],
                              const char *both, const char *h, const char *w)
{
    if (v[0] == v[1]) return fire_onnx_append_u32(p, both, v[0]);
    FIRE_TRY(fire_onnx_append_u32(p, h, v[0]));
    return fire_onnx_append_u32(p, w, v[1]);
}

static fire_status_t put_settings(Caffe__LayerParameter *l, const pool_t *pool,
                                  method_t method)
{
    Caffe__PoolingParameter *p;

    FIRE_ONNX_SETTINGS(l, "pooling_param", &p);
    p->has_pool = true;
    p->pool     = method;
    FIRE_TRY(put_pair(p, pool->w.kernel, "kernel_size", "kernel_h", "kernel_w"));
    FIRE_TRY(put_pair(p, pool->w.stride, "stride", "stride_h", "stride_w"));
    if (pool->w.pad[0] > 0 || pool->w.pad[1] > 0)
        FIRE_TRY(put_pair(p, pool->w.pad, "pad", "pad_h", "pad_w"));
    if (!fits(pool, false)) {
        p->has_round_mode = true;
        p->round_mode     = CAFFE__POOLING_PARAMETER__ROUND_MODE__FLOOR;
    }
    return FIRE_OK;
}

/* Elements along axis i that the average of window k divides by in ONNX, and here. */
static int64_t divisor(const pool_t *p, int i, int64_t k, bool counts_pads, bool here)
{
    int64_t begin = k * p->w.stride[i] - p->w.pad[i], end = begin + p->w.kernel[i];
    int64_t last = p->w.in[i] + (here ? p->w.pad[i] : counts_pads ? p->end[i] : 0);

    if (end > last) end = last;
    return end - (!counts_pads && !here && begin < 0 ? 0 : begin);
}

/* Averages that divide by something else: a factor for each window, which is not
 * learned. */
static fire_status_t correct(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                             const pool_t *onnx, const pool_t *here)
{
    bool    counts = fire_onnx_get_int(x, "count_include_pad", 0) != 0, same = true;
    int64_t h = onnx->w.out[0], w = onnx->w.out[1];
    float  *factor;

    FIRE_TRY(FIRE_NEW(&factor, h * w));
    for (int64_t i = 0; i < h * w; i++) {
        int64_t want = divisor(onnx, 0, i / w, counts, false) *
                       divisor(onnx, 1, i % w, counts, false);
        int64_t have =
            divisor(here, 0, i / w, true, true) * divisor(here, 1, i % w, true, true);

        factor[i] = want > 0 ? (float)((double)have / (double)want) : 0;
        same &= want == have;
    }
    if (!same) return fire_onnx_chain_factor(x, c, factor, 2, h, w);
    fire_free(factor);
    return FIRE_OK;
}

/* Make the image what the windows reach over, so that none needs padding. */
static fire_status_t pad_exactly(fire_onnx_import_t *x, fire_onnx_chain_t *c, pool_t *p,
                                 method_t method)
{
    int64_t begin[4] = {0, 0, p->w.pad[0], p->w.pad[1]}, end[4] = {0};

    for (int i = 0; i < 2; i++) {
        end[2 + i] = (p->w.out[i] - 1) * p->w.stride[i] + p->w.kernel[i] - p->w.in[i] -
                     p->w.pad[i];
        p->w.in[i] += begin[2 + i] + end[2 + i];
        p->w.pad[i] = 0;
    }
    return fire_onnx_chain_pad(x, c, CAFFE__PAD_PARAMETER__MODE__CONSTANT,
                               method == METHOD(MAX) ? -3.4e38f : 0, begin, end);
}

static fire_status_t check_outputs(const fire_onnx_import_t *x)
{
    int64_t list[FIRE_MAX_DIMS];
    int     n;

    FIRE_TRY(fire_onnx_get_ints(x, "dilations", -1, &n, list));
    for (int i = 0; i < n; i++)
        if (list[i] != 1) return FIRE_ONNX_LACKS("Pooling has no dilation");
    if (fire_onnx_output(x, 1) != NULL && fire_onnx_output(x, 1)->nreader > 0)
        return FIRE_ONNX_LACKS(
            "the places of the maxima count planes too, those of Pooling "
            "do not");
    return FIRE_OK;
}

/* The last two axes of 4 by the windows of p. */
static fire_status_t pool(fire_onnx_import_t *x, fire_onnx_chain_t *c, pool_t p,
                          method_t method)
{
    Caffe__LayerParameter *l;
    pool_t                 onnx;

    FIRE_TRY(count_windows(x, &p));
    onnx = p;
    if (!fits(&p, false) && !fits(&p, true)) FIRE_TRY(pad_exactly(x, c, &p, method));
    FIRE_TRY(fire_onnx_chain_add(x, c, "Pooling", &l));
    FIRE_TRY(put_settings(l, &p, method));
    memcpy(c->dim + 2, p.w.out, sizeof(p.w.out));
    return method == METHOD(AVE) ? correct(x, c, &onnx, &p) : FIRE_OK;
}

/* Signals are images of width 1. Of volumes, height and width come first, then depth: the
 * maximum of maxima, or the mean of means, which is their mean. */
static fire_status_t take(fire_onnx_import_t *x, method_t method)
{
    fire_onnx_chain_t c;
    settings_t        s;
    int64_t           n[FIRE_MAX_DIMS];

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(check_outputs(x));
    FIRE_TRY(read_settings(x, c.dim + 2, c.ndim - 2, &s));
    memcpy(n, c.dim, sizeof(n));
    if (s.axes == 1)
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 4, (int64_t[]){n[0], n[1], n[2], 1}));
    if (s.axes == 3)
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 4,
                                         (int64_t[]){n[0], n[1] * n[2], n[3], n[4]}));
    FIRE_TRY(
        pool(x, &c, pool_of(&s, s.axes == 3 ? 1 : 0, s.axes == 1 ? 1 : 2), method));
    if (s.axes == 1)
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 3, (int64_t[]){n[0], n[1], c.dim[2]}));
    if (s.axes == 3) {
        n[3] = c.dim[2];
        n[4] = c.dim[3];
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 4,
                                         (int64_t[]){n[0], n[1], n[2], n[3] * n[4]}));
        s.kernel[1] = s.stride[1] = 1; /* columns are left alone */
        s.in[1]                   = n[3] * n[4];
        s.begin[1] = s.end[1] = 0;
        FIRE_TRY(pool(x, &c, pool_of(&s, 0, 2), method));
        n[2] = c.dim[2];
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 5, n));
    }
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_max_pool(fire_onnx_import_t *x)
{
    return take(x, METHOD(MAX));
}

fire_status_t fire_onnx_take_average_pool(fire_onnx_import_t *x)
{
    return take(x, METHOD(AVE));
}

/* ---- whole planes ---- */

fire_status_t fire_onnx_chain_global(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     bool mean)
{
    Caffe__PoolingParameter *p;
    Caffe__LayerParameter   *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Pooling", &l));
    FIRE_ONNX_SETTINGS(l, "pooling_param", &p);
    p->has_pool = p->has_global_pooling = p->global_pooling = true;
    p->pool   = mean ? METHOD(AVE) : METHOD(MAX);
    c->dim[2] = c->dim[3] = 1;
    return FIRE_OK;
}

static fire_status_t global(fire_onnx_import_t *x, bool mean)
{
    fire_onnx_chain_t c;
    int64_t           dim[FIRE_MAX_DIMS] = {0}, n;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    if (c.ndim < 3) return FIRE_FAIL(FIRE_ERR_PARSE, "an input of %d axes", c.ndim);
    for (int i = 0; i < c.ndim; i++)
        dim[i] = i < 2 ? c.dim[i] : 1;
    FIRE_TRY(fire_onnx_elements(c.ndim - 2, c.dim + 2, &n));
    if (c.ndim != 4)
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 4, (int64_t[]){dim[0], dim[1], 1, n}));
    FIRE_TRY(fire_onnx_chain_global(x, &c, mean));
    FIRE_TRY(fire_onnx_chain_reshape(x, &c, fire_onnx_input(x, 0)->ndim, dim));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_global_average_pool(fire_onnx_import_t *x)
{
    return global(x, true);
}

fire_status_t fire_onnx_take_global_max_pool(fire_onnx_import_t *x)
{
    return global(x, false);
}
