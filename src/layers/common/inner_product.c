/* inner_product.c - y = x W' + b; the axes from `axis` on are taken as one vector.
 *
 *   x        (rows, inputs): rows are the axes before `axis`
 *   weights  (outputs, inputs), or (inputs, outputs) with `transpose`
 *   bias     (outputs)
 *   y        (rows, outputs) */
#include "device/cpu/blas.h"
#include "layers/common/inner_product.h"

static fire_status_t inner_product_setup(fire_layer_t *l)
{
    const Caffe__InnerProductParameter *p = l->param->inner_product_param;
    fire_inner_product_t               *s = FIRE_STATE(l, fire_inner_product_t);
    int64_t                             dim[2];

    if (p == NULL || p->num_output == 0 || p->num_output > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "inner_product_param { num_output } must be given and at "
                         "least 1");
    FIRE_TRY(fire_blob_axis(l->bottom[0], p->axis, "inner_product_param", &s->axis));
    s->outputs   = p->num_output;
    s->inputs    = fire_blob_count_range(l->bottom[0], s->axis, l->bottom[0]->ndim);
    s->bias      = p->bias_term;
    s->transpose = p->transpose;
    if (s->inputs == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the input is empty from axis %d on",
                         s->axis);
    dim[s->transpose ? 1 : 0] = s->outputs;
    dim[s->transpose ? 0 : 1] = s->inputs;
    FIRE_TRY(fire_layer_add_blob(l, 2, dim, p->weight_filler));
    return s->bias ? fire_layer_add_blob(l, 1, &s->outputs, p->bias_filler) : FIRE_OK;
}

static fire_status_t inner_product_reshape(fire_layer_t *l)
{
    fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);
    const fire_blob_t    *x = l->bottom[0];
    int64_t               dim[FIRE_MAX_DIMS];
    char                  shape[FIRE_SHAPE_TEXT];

    if (x->ndim <= s->axis || fire_blob_count_range(x, s->axis, x->ndim) != s->inputs)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the weights are for %lld inputs from axis %d on, the input's "
                         "shape is %s",
                         (long long)s->inputs, s->axis,
                         fire_blob_shape_string(x, shape, sizeof(shape)));
    s->rows = fire_blob_count_range(x, 0, s->axis);
    for (int i = 0; i < s->axis; i++)
        dim[i] = x->dim[i];
    dim[s->axis] = s->outputs;
    return fire_blob_reshape(l->top[0], s->axis + 1, dim);
}

static double inner_product_macs(const fire_layer_t *l)
{
    const fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);

    return (double)s->rows * (double)s->inputs * (double)s->outputs;
}

static fire_status_t inner_product_prepare(fire_layer_t *l)
{
    fire_scratch_t *ones = l->kernel_state;

    if (ones == NULL) FIRE_TRY(FIRE_NEW(&ones, 1));
    l->kernel_state = ones;
    return fire_scratch_ones(ones, FIRE_STATE(l, fire_inner_product_t)->rows);
}

static void inner_product_release(fire_layer_t *l)
{
    if (l->kernel_state != NULL) fire_scratch_free(l->kernel_state);
    fire_free(l->kernel_state);
    l->kernel_state = NULL;
}

static fire_status_t inner_product_forward(fire_layer_t *l)
{
    const fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);
    const float                *x, *weights, *bias;
    float                      *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    fire_gemm(FIRE_NO_TRANS, s->transpose ? FIRE_NO_TRANS : FIRE_TRANS, s->rows,
              s->outputs, s->inputs, 1.0f, x, weights, 0.0f, y);
    if (!s->bias) return FIRE_OK;
    FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    for (int64_t n = 0; n < s->rows; n++)
        for (int64_t i = 0; i < s->outputs; i++)
            y[n * s->outputs + i] += bias[i];
    return FIRE_OK;
}

static fire_status_t backward_params(fire_layer_t *l, const float *dy)
{
    const fire_inner_product_t *s    = FIRE_STATE(l, fire_inner_product_t);
    const fire_scratch_t       *ones = l->kernel_state;
    const float                *x;
    float                      *diff;

    if (l->param_gradient[0]) {
        float beta = fire_storage_is_zero(l->blob[0]->part[FIRE_DIFF]) ? 0.0f : 1.0f;

        FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
        if (beta == 0.0f)
            FIRE_OUT(l, l->blob[0], FIRE_DIFF, &diff);
        else
            FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &diff);
        if (s->transpose)
            fire_gemm(FIRE_TRANS, FIRE_NO_TRANS, s->inputs, s->outputs, s->rows, 1.0f,
                      x, dy, beta, diff);
        else
            fire_gemm(FIRE_TRANS, FIRE_NO_TRANS, s->outputs, s->inputs, s->rows, 1.0f,
                      dy, x, beta, diff);
    }
    if (s->bias && l->param_gradient[1]) {
        FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &diff);
        fire_gemv(FIRE_TRANS, s->rows, s->outputs, 1.0f, dy, ones->x, 1.0f, diff);
    }
    return FIRE_OK;
}

static fire_status_t inner_product_backward(fire_layer_t *l)
{
    const fire_inner_product_t *s = FIRE_STATE(l, fire_inner_product_t);
    const float                *dy, *weights;
    float                      *dx;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_TRY(backward_params(l, dy));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    fire_gemm(FIRE_NO_TRANS, s->transpose ? FIRE_TRANS : FIRE_NO_TRANS, s->rows,
              s->inputs, s->outputs, 1.0f, dy, weights, 0.0f, dx);
    return FIRE_OK;
}

const fire_kernel_t fire_inner_product_ref = {
    .name     = "ref",
    .prepare  = inner_product_prepare,
    .forward  = inner_product_forward,
    .backward = inner_product_backward,
    .release  = inner_product_release,
};

extern const fire_kernel_t fire_inner_product_cuda; /* inner_product_cuda.c */

static const fire_kernel_t *const inner_product_kernels[] = {
    FIRE_IF_CUDA(fire_inner_product_cuda) &fire_inner_product_ref, NULL};

const fire_layer_ops_t fire_layer_inner_product = {
    .type       = "InnerProduct",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(fire_inner_product_t),
    .setup      = inner_product_setup,
    .reshape    = inner_product_reshape,
    .macs       = inner_product_macs,
    .kernels    = inner_product_kernels,
};
