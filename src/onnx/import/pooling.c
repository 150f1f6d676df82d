/* pooling.c - MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool, ReduceMean and its
 * kind. */
#include <string.h>
#include "layers/pooling/pool.h"
#include "onnx/import/take.h"

#define METHOD(name) CAFFE__POOLING_PARAMETER__POOL_METHOD__##name
typedef Caffe__PoolingParameter__PoolMethod method_t;

enum { MOST_SIZE = 1 << 30 };

typedef struct pool {
    fire_pool_windows_t w;      /* w.out: as ONNX counts them */
    int64_t             end[2]; /* padding behind */
} pool_t;

static fire_status_t read_pair(const fire_onnx_import_t *x, const char *name,
                               int64_t otherwise, int64_t value[2])
{
    int64_t list[FIRE_MAX_DIMS];
    int     n;

    FIRE_TRY(fire_onnx_get_ints(x, name, -1, &n, list));
    if (n != 0 && n != 2)
        return FIRE_ONNX_LACKS("%s for %d axes; Pooling has 2", name, n);
    for (int i = 0; i < 2; i++) {
        value[i] = n == 0 ? otherwise : list[i];
        if (value[i] < 1 || value[i] > MOST_SIZE)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s is %lld", name, (long long)value[i]);
    }
    return FIRE_OK;
}

static fire_status_t read_pads(const fire_onnx_import_t *x, pool_t *p)
{
    int64_t pads[FIRE_MAX_DIMS] = {0};
    int     n;
    bool    upper = fire_onnx_text_is(x, "auto_pad", "SAME_UPPER", false);
    bool    lower = fire_onnx_text_is(x, "auto_pad", "SAME_LOWER", false);

    FIRE_TRY(fire_onnx_get_ints(x, "pads", -1, &n, pads));
    if (n != 0 && n != 4) return FIRE_FAIL(FIRE_ERR_PARSE, "%d pads for 2 axes", n);
    for (int i = 0; i < 2; i++) {
        int64_t places = (p->w.in[i] + p->w.stride[i] - 1) / p->w.stride[i];
        int64_t sum    = (places - 1) * p->w.stride[i] + p->w.kernel[i] - p->w.in[i];

        if (sum < 0) sum = 0;
        if (upper || lower) {
            pads[i]     = (sum + (lower ? 1 : 0)) / 2;
            pads[2 + i] = sum - pads[i];
        }
        p->w.pad[i] = pads[i];
        p->end[i]   = pads[2 + i];
        if (pads[i] < 0 || pads[2 + i] < 0 || pads[i] >= p->w.kernel[i] ||
            pads[2 + i] > MOST_SIZE)
            return FIRE_ONNX_LACKS(
                "padding of %lld before, %lld behind a kernel of %lld",
                (long long)pads[i], (long long)pads[2 + i], (long long)p->w.kernel[i]);
    }
    return FIRE_OK;
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

/* What an average of `last`, the window furthest behind, divides by in ONNX along axis i;
 * Caffe counts padding up to p->w.pad behind, too. */
static bool same_average(const fire_onnx_import_t *x, const pool_t *p, int i)
{
    bool    counts = fire_onnx_get_int(x, "count_include_pad", 0) != 0;
    int64_t reach  = (p->w.out[i] - 1) * p->w.stride[i] + p->w.kernel[i] - p->w.pad[i];
    int64_t onnx   = counts ? p->w.in[i] + p->end[i] : p->w.in[i];
    int64_t caffe  = p->w.in[i] + p->w.pad[i];

    if (!counts && p->w.pad[i] > 0) return false;
    return (reach < onnx ? reach : onnx) == (reach < caffe ? reach : caffe);
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

static fire_status_t take(fire_onnx_import_t *x, method_t method)
{
    const fire_onnx_operand_t *in;
    Caffe__LayerParameter     *l;
    pool_t                     p           = {0};
    int64_t                    dilation[2] = {1, 1};

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    if (in->ndim != 4) return FIRE_ONNX_LACKS("Pooling needs an input of 4 axes");
    memcpy(p.w.in, in->dim + 2, sizeof(p.w.in));
    FIRE_TRY(read_pair(x, "kernel_shape", 0, p.w.kernel));
    FIRE_TRY(read_pair(x, "strides", 1, p.w.stride));
    FIRE_TRY(read_pair(x, "dilations", 1, dilation));
    FIRE_TRY(read_pads(x, &p));
    FIRE_TRY(count_windows(x, &p));
    if (dilation[0] != 1 || dilation[1] != 1)
        return FIRE_ONNX_LACKS("Pooling has no dilation");
    if (fire_onnx_output(x, 1) != NULL && fire_onnx_output(x, 1)->nreader > 0)
        return FIRE_ONNX_LACKS(
            "the places of the maxima count planes too, those of Pooling "
            "do not");
    if (!fits(&p, false) && !fits(&p, true))
        return FIRE_ONNX_LACKS(
            "padding of %lld x %lld before and %lld x %lld behind gives "
            "other windows than Pooling has",
            (long long)p.w.pad[0], (long long)p.w.pad[1], (long long)p.end[0],
            (long long)p.end[1]);
    if (method == METHOD(AVE) && !(same_average(x, &p, 0) && same_average(x, &p, 1)))
        return FIRE_ONNX_LACKS(
            "its averages count padding in another way than Pooling: "
            "count_include_pad");
    FIRE_TRY(fire_onnx_last(x, "Pooling", in->blob, &l));
    FIRE_TRY(put_settings(l, &p, method));
    return fire_onnx_set_blob(
        x, 0, l->top[0], 4,
        (int64_t[]){in->dim[0], in->dim[1], p.w.out[0], p.w.out[1]});
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

static fire_status_t global(fire_onnx_import_t *x, method_t method, bool keep)
{
    const fire_onnx_operand_t *in;
    Caffe__PoolingParameter   *p;
    Caffe__LayerParameter     *l;
    const char                *blob;
    int64_t                    dim[4];

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    if (in->ndim != 4) return FIRE_ONNX_LACKS("Pooling needs an input of 4 axes");
    FIRE_TRY(keep ? fire_onnx_last(x, "Pooling", in->blob, &l)
                  : fire_onnx_step(x, "Pooling", in->blob, &l));
    FIRE_ONNX_SETTINGS(l, "pooling_param", &p);
    p->has_pool = p->has_global_pooling = p->global_pooling = true;
    p->pool                                                 = method;
    memcpy(dim, (int64_t[]){in->dim[0], in->dim[1], 1, 1}, sizeof(dim));
    blob = l->top[0];
    if (!keep) FIRE_TRY(fire_onnx_reshape_blob(x, true, &blob, 4, dim, 2, dim));
    return fire_onnx_set_blob(x, 0, blob, keep ? 4 : 2, dim);
}

fire_status_t fire_onnx_take_global_average_pool(fire_onnx_import_t *x)
{
    return global(x, METHOD(AVE), true);
}

fire_status_t fire_onnx_take_global_max_pool(fire_onnx_import_t *x)
{
    return global(x, METHOD(MAX), true);
}

/* ---- reductions ---- */

/* Axes as [first, end); fails if there are others in between. */
static fire_status_t read_axes(const fire_onnx_import_t *x, int ndim, int *first_p,
                               int *end_p)
{
    int64_t  list[FIRE_MAX_DIMS];
    uint64_t set = 0;
    int      n, axis;

    FIRE_TRY(fire_onnx_get_ints(x, "axes", 1, &n, list));
    *first_p = 0;
    *end_p   = ndim;
    if (n == 0) return FIRE_OK;
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_onnx_axis(list[i], ndim, &axis));
        set |= UINT64_C(1) << axis;
    }
    *first_p = __builtin_ctzll(set);
    *end_p   = 64 - __builtin_clzll(set);
    if (__builtin_popcountll(set) != *end_p - *first_p)
        return FIRE_ONNX_LACKS("the axes must follow each other");
    return FIRE_OK;
}

static fire_status_t reduce(fire_onnx_import_t                    *x,
                            Caffe__ReductionParameter__ReductionOp op)
{
    bool keep = fire_onnx_get_int(x, "keepdims", 1) != 0;
    bool mean = op == CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__MEAN;
    const fire_onnx_operand_t *in;
    Caffe__ReductionParameter *p;
    Caffe__LayerParameter     *l;
    const char                *blob;
    int64_t                    dim[FIRE_MAX_DIMS];
    int                        first, end;

    FIRE_TRY(fire_onnx_blob(x, 0, &in));
    FIRE_TRY(read_axes(x, in->ndim, &first, &end));
    if (mean && in->ndim == 4 && first == 2 && end == 4)
        return global(x, METHOD(AVE), keep);
    if (end != in->ndim || first == 0)
        return FIRE_ONNX_LACKS("Reduction takes the last axes, and not the first");
    FIRE_TRY(keep ? fire_onnx_step(x, "Reduction", in->blob, &l)
                  : fire_onnx_last(x, "Reduction", in->blob, &l));
    FIRE_ONNX_SETTINGS(l, "reduction_param", &p);
    p->has_operation = p->has_axis = true;
    p->operation                   = op;
    p->axis                        = first;
    blob                           = l->top[0];
    for (int i = 0; i < in->ndim; i++)
        dim[i] = i < first ? in->dim[i] : 1;
    if (keep)
        FIRE_TRY(fire_onnx_reshape_blob(x, true, &blob, first, dim, in->ndim, dim));
    return fire_onnx_set_blob(x, 0, blob, keep ? in->ndim : first, dim);
}

fire_status_t fire_onnx_take_reduce_mean(fire_onnx_import_t *x)
{
    return reduce(x, CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__MEAN);
}

fire_status_t fire_onnx_take_reduce_sum(fire_onnx_import_t *x)
{
    return reduce(x, CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__SUM);
}

fire_status_t fire_onnx_take_reduce_l1(fire_onnx_import_t *x)
{
    return reduce(x, CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__ASUM);
}

fire_status_t fire_onnx_take_reduce_sum_square(fire_onnx_import_t *x)
{
    return reduce(x, CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__SUMSQ);
}
