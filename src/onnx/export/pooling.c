/* pooling.c - pooling with Caffe's windows: their number is rounded up, and what hangs
 * over the padded image is cut off. In ONNX the same windows come from padding the end as
 * far as the last window reaches; where an average would count that padding, its result is
 * corrected. */
#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "layers/pooling/pooling.h"
#include "onnx/export/put.h"

/* Padding behind the image that the last window needs. */
static int64_t pad_end(const fire_pool_windows_t *p, int i)
{
    int64_t n = (p->out[i] - 1) * p->stride[i] + p->kernel[i] - p->in[i] - p->pad[i];

    return n > 0 ? n : 0;
}

static void window_attributes(fire_onnx_export_t *x, const fire_pool_windows_t *p)
{
    int64_t pads[4] = {p->pad[0], p->pad[1], pad_end(p, 0), pad_end(p, 1)};

    fire_onnx_ints(x, "kernel_shape", 2, p->kernel);
    fire_onnx_ints(x, "strides", 2, p->stride);
    fire_onnx_ints(x, "pads", 4, pads);
}

/* Take the windows that begin behind the image from p->out; extra[i] is how many. They
 * come without padding only, where Caffe does not drop them. Runtimes cannot pad so far. */
static bool take_extra(fire_pool_windows_t *p, int64_t extra[2])
{
    for (int i = 0; i < 2; i++)
        for (extra[i] = 0; (p->out[i] - 1) * p->stride[i] - p->pad[i] >= p->in[i];) {
            p->out[i]--;
            extra[i]++;
        }
    return extra[0] > 0 || extra[1] > 0;
}

/* Elements of a whole window over those that Caffe divides by. */
static const char *correction(fire_onnx_export_t *x, const fire_pool_windows_t *p)
{
    int64_t     dim[2] = {p->out[0], p->out[1]};
    float      *factor, whole = (float)(p->kernel[0] * p->kernel[1]);
    const char *name;

    if (x->st >= 0) x->st = FIRE_NEW(&factor, dim[0] * dim[1]);
    if (x->st < 0) return "";
    for (int64_t i = 0; i < dim[0] * dim[1]; i++)
        factor[i] = whole / (float)fire_pool_box(p, i / dim[1], i % dim[1]).area;
    name = fire_onnx_floats(x, 2, dim, factor);
    fire_free(factor);
    return name;
}

static const char *average(fire_onnx_export_t *x, const char *in, const char *out,
                           const fire_pool_windows_t *p)
{
    bool        pads = p->pad[0] > 0 || p->pad[1] > 0;
    bool        over = pads && (pad_end(p, 0) > p->pad[0] || pad_end(p, 1) > p->pad[1]);
    const char *v    = fire_onnx_op(x, "AveragePool", over ? NULL : out, in, NULL);

    window_attributes(x, p);
    fire_onnx_int(x, "count_include_pad", pads);
    if (!over) return v;
    return fire_onnx_op(x, "Mul", out, v, correction(x, p), NULL);
}

const char *fire_onnx_pool(fire_onnx_export_t *x, const char *in, const char *out,
                           const fire_pool_windows_t *p, bool mean)
{
    fire_pool_windows_t w = *p;
    int64_t             extra[2];
    const char         *v = out;

    if (take_extra(&w, extra)) v = NULL;
    if (mean) {
        v = average(x, in, v, &w);
    } else {
        v = fire_onnx_op(x, "MaxPool", v, in, NULL);
        window_attributes(x, &w);
    }
    if (extra[0] > 0 || extra[1] > 0) {
        int64_t     pads[8] = {0, 0, 0, 0, 0, 0, extra[0], extra[1]};
        const char *sizes   = fire_onnx_integers(x, 8, pads);

        v = fire_onnx_op(x, "Pad", out, v, sizes,
                         fire_onnx_scalar(x, mean ? 0.0f : -FLT_MAX), NULL);
    }
    return v;
}

/* The second top: the place of each maximum in its plane, as a float. ONNX counts from
 * the first image on. */
static void mask(fire_onnx_export_t *x, const fire_pool_windows_t *p)
{
    int64_t     plane = p->in[0] * p->in[1];
    const char *index;

    if (x->st >= 0 && strcmp(x->node->op_type, "MaxPool") != 0)
        fire_onnx_refuse(x,
                         "the mask of windows behind the image; use round_mode: FLOOR");
    index = fire_onnx_more(x, NULL);
    index = fire_onnx_op(x, "Mod", NULL, index, fire_onnx_integers(x, 1, &plane), NULL);
    fire_onnx_op(x, "Cast", fire_onnx_out(x, 1), index, NULL);
    fire_onnx_int(x, "to", FIRE_ONNX(FLOAT));
}

/* The mean under probabilities proportional to x: sum x^2 / sum x. */
static void expect(fire_onnx_export_t *x, const fire_pool_windows_t *p)
{
    const char *in = fire_onnx_in(x, 0), *squares, *sum;

    squares = fire_onnx_op(x, "Mul", NULL, in, in, NULL);
    squares = fire_onnx_pool(x, squares, NULL, p, true);
    sum     = fire_onnx_pool(x, in, NULL, p, true);
    sum     = fire_onnx_op(x, "Add", NULL, sum, fire_onnx_scalar(x, FLT_MIN), NULL);
    fire_onnx_op(x, "Div", fire_onnx_out(x, 0), squares, sum, NULL);
}

void fire_onnx_put_pooling(fire_onnx_export_t *x)
{
    const fire_pooling_t *s  = FIRE_STATE(x->layer, fire_pooling_t);
    const char           *in = fire_onnx_in(x, 0);

    if (s->method == FIRE_POOL(STOCHASTIC)) {
        expect(x, &s->shape);
        return;
    }
    if (s->global && x->layer->ntop == 1) {
        fire_onnx_op(
            x, s->method == FIRE_POOL(AVE) ? "GlobalAveragePool" : "GlobalMaxPool",
            fire_onnx_out(x, 0), in, NULL);
        return;
    }
    if (s->nd.axes != 2) {
        fire_onnx_refuse(x, "windows over other than two spatial axes");
        return;
    }
    fire_onnx_pool(x, in, fire_onnx_out(x, 0), &s->shape, s->method == FIRE_POOL(AVE));
    if (x->layer->ntop > 1) mask(x, &s->shape);
}

/* Level i cuts the image into 2^i x 2^i bins of equal size, padded evenly (spp.c). */
static fire_pool_windows_t pyramid_level(fire_onnx_export_t *x, int level)
{
    fire_pool_windows_t p    = {0};
    int64_t             bins = (int64_t)1 << level;

    for (int i = 0; i < 2; i++) {
        p.in[i]     = x->layer->bottom[0]->dim[2 + i];
        p.kernel[i] = p.stride[i] = (p.in[i] + bins - 1) / bins;
        p.pad[i]                  = (p.kernel[i] * bins - p.in[i] + 1) / 2;
    }
    if (x->st >= 0) x->st = fire_pool_reshape(&p, false);
    return p;
}

/* Every level as a pooling, flattened, then one after another. */
void fire_onnx_put_spp(fire_onnx_export_t *x)
{
    const Caffe__SPPParameter *p      = x->layer->param->spp_param;
    const char                *in     = fire_onnx_in(x, 0), *level[FIRE_PYRAMID_LEVELS];
    int                        levels = (int)p->pyramid_height;
    bool                       mean = p->pool == CAFFE__SPPPARAMETER__POOL_METHOD__AVE;

    for (int i = 0; i < levels; i++) {
        fire_pool_windows_t w = pyramid_level(x, i);

        level[i] =
            fire_onnx_pool(x, in, levels == 1 ? fire_onnx_out(x, 0) : NULL, &w, mean);
        if (levels > 1) level[i] = fire_onnx_op(x, "Flatten", NULL, level[i], NULL);
    }
    if (levels == 1) return;
    fire_onnx_op(x, "Concat", fire_onnx_out(x, 0), NULL);
    for (int i = 0; i < levels; i++)
        fire_onnx_also(x, level[i]);
    fire_onnx_int(x, "axis", 1);
}
