/* resize.c - Resize and Upsample. Interp has aligned corners, the layer Upsample repeats
 * values; any other way of resizing is linear along each axis, and becomes a product with
 * a matrix that is not learned. */
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/chain.h"

typedef enum resize_mode { NEAREST, LINEAR, CUBIC } resize_mode_t;
typedef enum resize_place {
    HALF_PIXEL,
    PYTORCH_HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC
} resize_place_t;

enum { MOST_NUMBERS = 1 << 22 }; /* of a matrix */

typedef struct resize {
    resize_mode_t  mode;
    double         cubic;    /* cubic_coeff_a */
    bool           excludes; /* places outside do not count */
    resize_place_t place;
    int64_t        out[FIRE_MAX_DIMS];
    double         scale[FIRE_MAX_DIMS];
} resize_t;

/* The place in the input, in elements, of output element i along an axis. */
static double source_of(const resize_t *r, int64_t in, int64_t out, double scale,
                        int64_t i)
{
    switch (r->place) {
    case ALIGN_CORNERS:
        return out > 1 ? (double)i * (double)(in - 1) / (double)(out - 1) : 0;
    case ASYMMETRIC:
        return (double)i / scale;
    case PYTORCH_HALF_PIXEL:
        return out > 1 ? ((double)i + 0.5) / scale - 0.5 : 0;
    default:
        return ((double)i + 0.5) / scale - 0.5;
    }
}

/* Which of two neighbours is the nearest. */
static int64_t nearest(const fire_onnx_import_t *x, double at)
{
    if (fire_onnx_text_is(x, "nearest_mode", "floor", x->m->opset < 11))
        return (int64_t)floor(at);
    if (fire_onnx_text_is(x, "nearest_mode", "ceil", false)) return (int64_t)ceil(at);
    if (fire_onnx_text_is(x, "nearest_mode", "round_prefer_ceil", false))
        return (int64_t)floor(at + 0.5);
    return (int64_t)ceil(at - 0.5);
}

static int64_t inside(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* The weight of a value at this distance, from -2 to 2. */
static double cubic_weight(double a, double at)
{
    at = fabs(at);
    if (at <= 1) return ((a + 2) * at - (a + 3)) * at * at + 1;
    return at < 2 ? ((a * at - 5 * a) * at + 8 * a) * at - 4 * a : 0;
}

/* Row i of the matrix: four values around the place, those outside moved to the edge. */
static void cubic_row(const resize_t *r, double at, int64_t in, float *w)
{
    int64_t low = (int64_t)floor(at);
    double  sum = 0, weight[4];

    for (int k = 0; k < 4; k++) {
        bool outside = low - 1 + k < 0 || low - 1 + k >= in;

        weight[k] = outside && r->excludes
                        ? 0
                        : cubic_weight(r->cubic, at - (double)(low - 1 + k));
        sum += weight[k];
    }
    for (int k = 0; k < 4; k++)
        w[inside(low - 1 + k, in)] += (float)(weight[k] / (r->excludes ? sum : 1));
}

static void linear_row(double at, int64_t in, float *w)
{
    int64_t low;

    at  = at < 0 ? 0 : at > (double)(in - 1) ? (double)(in - 1) : at;
    low = (int64_t)floor(at);
    w[low] += (float)(1 - (at - (double)low));
    w[inside(low + 1, in)] += (float)(at - (double)low);
}

/* The matrix (out, in) of an axis. */
static fire_status_t make_matrix(const fire_onnx_import_t *x, const resize_t *r,
                                 int axis, int64_t in, float **w_p)
{
    int64_t out = r->out[axis];
    float  *w;

    if (in > MOST_NUMBERS / out)
        return FIRE_ONNX_LACKS("a resizing from %lld to %lld", (long long)in,
                               (long long)out);
    FIRE_TRY(fire_alloc((size_t)(in * out), sizeof(*w), "a resizing", (void **)w_p));
    w = *w_p;
    for (int64_t i = 0; i < out; i++, w += in) {
        double at = source_of(r, in, out, r->scale[axis], i);

        if (r->mode == NEAREST)
            w[inside(nearest(x, at), in)] = 1;
        else if (r->mode == CUBIC)
            cubic_row(r, at, in, w);
        else
            linear_row(at, in, w);
    }
    return FIRE_OK;
}

static fire_status_t read_mode(const fire_onnx_import_t *x, resize_t *r)
{
    const char *key = "coordinate_transformation_mode";
    bool        old = strcmp(x->node->op_type, "Upsample") == 0;

    r->mode     = fire_onnx_text_is(x, "mode", "nearest", true)  ? NEAREST
                  : fire_onnx_text_is(x, "mode", "cubic", false) ? CUBIC
                                                                 : LINEAR;
    r->cubic    = (double)fire_onnx_get_float(x, "cubic_coeff_a", -0.75f);
    r->excludes = fire_onnx_get_int(x, "exclude_outside", 0) != 0;
    if (fire_onnx_get_int(x, "antialias", 0) != 0) return FIRE_ONNX_LACKS("antialias");
    if (fire_onnx_text_is(x, key, "align_corners", false))
        r->place = ALIGN_CORNERS;
    else if (old || fire_onnx_text_is(x, key, "asymmetric", x->m->opset < 11))
        r->place = ASYMMETRIC;
    else if (fire_onnx_text_is(x, key, "pytorch_half_pixel", false))
        r->place = PYTORCH_HALF_PIXEL;
    else if (fire_onnx_text_is(x, key, "half_pixel", true))
        r->place = HALF_PIXEL;
    else
        return FIRE_ONNX_LACKS("its coordinate_transformation_mode");
    return FIRE_OK;
}

/* Sizes, or scales, for all axes or for those of `axes`. */
static fire_status_t read_sizes(const fire_onnx_import_t  *x,
                                const fire_onnx_operand_t *in, resize_t *r)
{
    bool    old = strcmp(x->node->op_type, "Upsample") == 0 || x->m->opset < 11;
    int64_t axes[FIRE_MAX_DIMS];
    int     naxis, axis;
    const fire_onnx_tensor_t *t;
    bool                      sizes = fire_onnx_input(x, 3) != NULL;

    FIRE_TRY(fire_onnx_get_ints(x, "axes", -1, &naxis, axes));
    FIRE_TRY(fire_onnx_constant(x, sizes ? 3 : old ? 1 : 2, &t));
    if (t->count != (naxis != 0 ? naxis : in->ndim) ||
        fire_onnx_type_size(t->type) == 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%lld sizes for %d axes", (long long)t->count,
                         in->ndim);
    for (int i = 0; i < in->ndim; i++) {
        r->out[i]   = in->dim[i];
        r->scale[i] = 1;
    }
    for (int i = 0; i < (int)t->count; i++) {
        double v = fire_onnx_tensor_number(t, i);

        FIRE_TRY(fire_onnx_axis(naxis != 0 ? axes[i] : i, in->ndim, &axis));
        r->scale[axis] = sizes ? v / (double)in->dim[axis] : v;
        v              = sizes ? v : floor((double)in->dim[axis] * v);
        if (!(v >= 1 && v <= INT32_MAX))
            return FIRE_FAIL(FIRE_ERR_PARSE, "a size of %g", v);
        r->out[axis] = (int64_t)v;
    }
    return FIRE_OK;
}

/* ---- layers ---- */

static fire_status_t add_interp(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                const resize_t *r)
{
    Caffe__InterpParameter *p;
    Caffe__LayerParameter  *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Interp", &l));
    FIRE_ONNX_SETTINGS(l, "interp_param", &p);
    p->has_height = p->has_width = true;
    p->height                    = (int32_t)r->out[2];
    p->width                     = (int32_t)r->out[3];
    return FIRE_OK;
}

static fire_status_t add_upsample(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                  const resize_t *r)
{
    Caffe__UpsampleParameter *p;
    Caffe__LayerParameter    *l;

    FIRE_TRY(fire_onnx_chain_add(x, c, "Upsample", &l));
    FIRE_ONNX_SETTINGS(l, "upsample_param", &p);
    p->has_scale_h = p->has_scale_w = true;
    p->scale_h                      = (uint32_t)(r->out[2] / c->dim[2]);
    p->scale_w                      = (uint32_t)(r->out[3] / c->dim[3]);
    return FIRE_OK;
}

/* An axis by its matrix, as the last one. */
static fire_status_t add_product(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                 const resize_t *r, int axis)
{
    static const int              turn[4] = {0, 1, 3, 2};
    int64_t                       dim[2]  = {r->out[axis], c->dim[axis]};
    Caffe__InnerProductParameter *p;
    Caffe__LayerParameter        *l;
    float                        *w;

    if (dim[0] == dim[1] && r->scale[axis] == 1) return FIRE_OK;
    if (axis == 2) FIRE_TRY(fire_onnx_chain_permute(x, c, turn));
    FIRE_TRY(fire_onnx_chain_add(x, c, "InnerProduct", &l));
    FIRE_TRY(fire_onnx_freeze(l, 1));
    FIRE_ONNX_SETTINGS(l, "inner_product_param", &p);
    FIRE_TRY(fire_onnx_append_u32(p, "num_output", dim[0]));
    p->has_bias_term = p->has_axis = true;
    p->bias_term                   = false;
    p->axis                        = 3;
    FIRE_TRY(make_matrix(x, r, axis, dim[1], &w));
    FIRE_TRY(fire_onnx_give_floats(x, w, 2, dim));
    c->dim[3] = dim[0];
    return axis == 2 ? fire_onnx_chain_permute(x, c, turn) : FIRE_OK;
}

static bool repeats(const fire_onnx_import_t *x, const fire_onnx_chain_t *c,
                    const resize_t *r)
{
    bool floor_mode = fire_onnx_text_is(x, "nearest_mode", "floor", x->m->opset < 11);
    bool whole      = r->out[2] % c->dim[2] == 0 && r->out[3] % c->dim[3] == 0;

    return r->mode == NEAREST && whole &&
           ((r->place == ASYMMETRIC && floor_mode) || r->place == HALF_PIXEL);
}

/* Signals are images of height 1. */
static fire_status_t as_image(fire_onnx_import_t *x, fire_onnx_chain_t *c, resize_t *r)
{
    if (c->ndim == 3) {
        r->out[3]   = r->out[2];
        r->scale[3] = r->scale[2];
        r->out[2]   = 1;
        r->scale[2] = 1;
        FIRE_TRY(fire_onnx_chain_reshape(
            x, c, 4, (int64_t[]){c->dim[0], c->dim[1], 1, c->dim[2]}));
    }
    if (c->ndim != 4 || r->out[0] != c->dim[0] || r->out[1] != c->dim[1])
        return FIRE_ONNX_LACKS("only height and width of 4 axes are resized");
    return FIRE_OK;
}

fire_status_t fire_onnx_take_resize(fire_onnx_import_t *x)
{
    const fire_onnx_operand_t *in = fire_onnx_input(x, 0);
    fire_onnx_chain_t          c;
    resize_t                   r = {0};

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(read_mode(x, &r));
    FIRE_TRY(read_sizes(x, in, &r));
    FIRE_TRY(as_image(x, &c, &r));
    if (r.mode == LINEAR && r.place == ALIGN_CORNERS) {
        FIRE_TRY(add_interp(x, &c, &r));
    } else if (repeats(x, &c, &r)) {
        FIRE_TRY(add_upsample(x, &c, &r));
    } else {
        FIRE_TRY(add_product(x, &c, &r, 3));
        FIRE_TRY(add_product(x, &c, &r, 2));
    }
    memcpy(c.dim, r.out, 4 * sizeof(c.dim[0]));
    if (in->ndim == 3)
        FIRE_TRY(fire_onnx_chain_reshape(x, &c, 3,
                                         (int64_t[]){c.dim[0], c.dim[1], c.dim[3]}));
    return fire_onnx_chain_end(x, 0, &c);
}
