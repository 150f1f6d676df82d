/* common.c - sums, products, selections, tables. */
#include <string.h>
#include "layers/common/eltwise.h"
#include "layers/common/matmul.h"
#include "onnx/export/put.h"

/* One after another, as the layer adds and multiplies them. */
static void chain(fire_onnx_export_t *x, const char *op, const float *coeff)
{
    const fire_layer_t *l = x->layer;
    const char         *v = NULL, *in;

    for (int i = 0; i < l->nbottom; i++) {
        in = fire_onnx_in(x, i);
        if (coeff != NULL && coeff[i] != 1.0f)
            in = fire_onnx_op(x, "Mul", NULL, in, fire_onnx_scalar(x, coeff[i]), NULL);
        v = i == 0
                ? in
                : fire_onnx_op(x, op, i == l->nbottom - 1 ? fire_onnx_out(x, 0) : NULL,
                               v, in, NULL);
    }
    if (l->nbottom == 1) fire_onnx_same(x, v, 0);
}

void fire_onnx_put_eltwise(fire_onnx_export_t *x)
{
    const fire_eltwise_t *s = FIRE_STATE(x->layer, fire_eltwise_t);

    chain(x,
          s->op == FIRE_ELTWISE(SUM)    ? "Add"
          : s->op == FIRE_ELTWISE(PROD) ? "Mul"
                                        : "Max",
          fire_eltwise_coeffs(s));
}

/* a x + b, where a has one number for each channel of each item */
void fire_onnx_put_axpy(fire_onnx_export_t *x)
{
    const fire_layer_t *l = x->layer;
    const fire_blob_t  *a = l->bottom[0], *b = l->bottom[1];
    int64_t             dim[FIRE_MAX_DIMS];
    bool                varies[FIRE_MAX_DIMS] = {fire_onnx_varies(x, a, 0)};
    const char         *v                     = fire_onnx_in(x, 0);

    for (int i = 0; i < b->ndim; i++)
        dim[i] = i < 2 ? b->dim[i] : 1;
    if (a->ndim != b->ndim)
        v = fire_onnx_reshape_to(x, v, NULL, a, b->ndim, dim, varies);
    v = fire_onnx_op(x, "Mul", NULL, v, fire_onnx_in(x, 1), NULL);
    fire_onnx_op(x, "Add", fire_onnx_out(x, 0), v, fire_onnx_in(x, 2), NULL);
}

void fire_onnx_put_softmax(fire_onnx_export_t *x)
{
    const Caffe__SoftmaxParameter *p    = x->layer->param->softmax_param;
    int                            axis = p != NULL ? p->axis : 1;

    fire_onnx_op(x, "Softmax", fire_onnx_out(x, 0), fire_onnx_in(x, 0), NULL);
    fire_onnx_int(x, "axis", axis);
}

void fire_onnx_put_matmul(fire_onnx_export_t *x)
{
    const fire_matmul_t *s     = FIRE_STATE(x->layer, fire_matmul_t);
    const char          *in[2] = {fire_onnx_in(x, 0), fire_onnx_in(x, 1)};
    int64_t              perm[FIRE_MAX_DIMS];
    int                  n = x->layer->bottom[0]->ndim;

    for (int i = 0; i < n; i++)
        perm[i] = i < n - 2 ? i : 2 * n - 3 - i; /* the last two exchanged */
    for (int i = 0; i < 2; i++) {
        if (!(i == 0 ? s->transpose_a : s->transpose_b)) continue;
        in[i] = fire_onnx_op(x, "Transpose", NULL, in[i], NULL);
        fire_onnx_ints(x, "perm", n, perm);
    }
    fire_onnx_op(x, "MatMul", fire_onnx_out(x, 0), in[0], in[1], NULL);
}

/* coeff times the sum, ... of the axes from `axis` on */
void fire_onnx_put_reduction(fire_onnx_export_t *x)
{
    static const char *const op[] = {"", "ReduceSum", "ReduceL1", "ReduceSumSquare",
                                     "ReduceMean"};
    static const Caffe__ReductionParameter preset = CAFFE__REDUCTION_PARAMETER__INIT;
    const Caffe__ReductionParameter       *p      = x->layer->param->reduction_param;
    const fire_layer_t                    *l      = x->layer;
    const char                            *v;

    if (p == NULL) p = &preset;
    v = fire_onnx_reduce(x, op[p->operation], fire_onnx_in(x, 0),
                         p->coeff == 1.0f ? fire_onnx_out(x, 0) : NULL, l->top[0]->ndim,
                         l->bottom[0]->ndim, false);
    if (p->coeff != 1.0f)
        fire_onnx_op(x, "Mul", fire_onnx_out(x, 0), v, fire_onnx_scalar(x, p->coeff),
                     NULL);
}

/* ---- Embed, Parameter ---- */

void fire_onnx_put_embed(fire_onnx_export_t *x)
{
    const char *v    = fire_onnx_op(x, "Cast", NULL, fire_onnx_in(x, 0), NULL);
    bool        bias = x->layer->nblob > 1;

    fire_onnx_int(x, "to", FIRE_ONNX(INT64));
    v = fire_onnx_op(x, "Gather", bias ? NULL : fire_onnx_out(x, 0),
                     fire_onnx_param(x, 0, "weight"), v, NULL);
    if (bias)
        fire_onnx_op(x, "Add", fire_onnx_out(x, 0), v, fire_onnx_param(x, 1, "bias"),
                     NULL);
}

void fire_onnx_put_parameter(fire_onnx_export_t *x)
{
    fire_onnx_op(x, "Identity", fire_onnx_out(x, 0), fire_onnx_param(x, 0, "value"),
                 NULL);
}

/* ---- ArgMax ---- */

static const char *to_float(fire_onnx_export_t *x, const char *in, const char *out)
{
    out = fire_onnx_op(x, "Cast", out, in, NULL);
    fire_onnx_int(x, "to", FIRE_ONNX(FLOAT));
    return out;
}

/* The elements of an axis from last to first. */
static const char *reversed(fire_onnx_export_t *x, const char *in, int64_t axis)
{
    static const int64_t last = -1, before_first = INT64_MIN, step = -1;
    const char          *begin = fire_onnx_integers(x, 1, &last);
    const char          *end   = fire_onnx_integers(x, 1, &before_first);
    const char          *axes  = fire_onnx_integers(x, 1, &axis);

    return fire_onnx_op(x, "Slice", NULL, in, begin, end, axes,
                        fire_onnx_integers(x, 1, &step), NULL);
}

void fire_onnx_put_reverse(fire_onnx_export_t *x)
{
    const Caffe__ReverseParameter *p    = x->layer->param->reverse_param;
    int64_t                        axis = p == NULL ? 0 : p->axis;

    fire_onnx_op(x, "Identity", fire_onnx_out(x, 0),
                 reversed(x, fire_onnx_in(x, 0), axis), NULL);
}

void fire_onnx_put_flip(fire_onnx_export_t *x)
{
    const Caffe__FlipParameter *p  = x->layer->param->flip_param;
    const char                 *in = fire_onnx_in(x, 0);

    if (p == NULL || p->flip_width) in = reversed(x, in, 3);
    if (p != NULL && p->flip_height) in = reversed(x, in, 2);
    fire_onnx_op(x, "Identity", fire_onnx_out(x, 0), in, NULL);
}

void fire_onnx_put_channel_norm(fire_onnx_export_t *x)
{
    fire_onnx_op(x, "Identity", fire_onnx_out(x, 0),
                 fire_onnx_reduce(x, "ReduceL2", fire_onnx_in(x, 0), NULL, 1, 2, true),
                 NULL);
}

/* Values and indices of the k largest along an axis of n elements. Of equal ones TopK
 * takes the first, the layer the last: so TopK sees the axis reversed. */
static void top_k(fire_onnx_export_t *x, const char *in, int64_t axis, int64_t n,
                  int64_t k, const char **value_p, const char **index_p)
{
    const char *v   = reversed(x, in, axis);
    float       end = (float)(n - 1);

    *value_p = fire_onnx_op(x, "TopK", NULL, v, fire_onnx_integers(x, 1, &k), NULL);
    v        = fire_onnx_more(x, NULL);
    fire_onnx_int(x, "axis", axis);
    v        = to_float(x, v, NULL);
    *index_p = fire_onnx_op(x, "Sub", NULL, fire_onnx_scalar(x, end), v, NULL);
}

void fire_onnx_put_argmax(fire_onnx_export_t *x)
{
    static const Caffe__ArgMaxParameter preset = CAFFE__ARG_MAX_PARAMETER__INIT;
    const fire_layer_t                 *l      = x->layer;
    const Caffe__ArgMaxParameter       *p      = l->param->argmax_param;
    const fire_blob_t                  *b      = l->bottom[0];
    const char                         *in     = fire_onnx_in(x, 0), *value, *index;
    int                                 axis;

    if (p == NULL) p = &preset;
    if (p->has_axis) {
        axis = p->axis < 0 ? p->axis + b->ndim : p->axis;
        top_k(x, in, axis, b->dim[axis], p->top_k, &value, &index);
        fire_onnx_op(x, "Identity", fire_onnx_out(x, 0), p->out_max_val ? value : index,
                     NULL);
        return;
    }
    in = fire_onnx_op(x, "Flatten", NULL, in, NULL);
    top_k(x, in, 1, fire_blob_count_range(b, 1, b->ndim), p->top_k, &value, &index);
    if (p->out_max_val) {
        index = fire_onnx_op(x, "Concat", NULL, index, value, NULL);
        fire_onnx_int(x, "axis", 1);
    }
    fire_onnx_reshape(x, index, fire_onnx_out(x, 0), b, l->top[0]);
}
