/* margin.c - MarginInnerProduct and LargeMarginInnerProduct on the CPU.
 *
 *   bottom 0: (rows, inputs) x      bottom 1: (rows) labels
 *   top 0:    (rows, outputs) y     top 1: (1) (optional) lambda
 *   blob 0:   (outputs, inputs) w
 *
 * y = w x, but for the label's class  y = (|w| |x| psi + lambda w x) / (1 + lambda), with
 * psi = (-1)^k cos(m a) - 2 k  for an angle a of [k pi / m, (k + 1) pi / m] between w and
 * x. lambda falls over the iterations. */
#include "layers/metric/margin.h"

#include <math.h>

/* Weights and inputs of length 0 have no angle. */
static const float least_length = 1e-20f;

fire_status_t fire_margin_setup(fire_layer_t                             *l,
                                const Caffe__MarginInnerProductParameter *p, bool unit)
{
    fire_margin_t *s = FIRE_STATE(l, fire_margin_t);
    int64_t        dim[2];

    if (p == NULL || p->num_output == 0 || p->num_output > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "num_output must be given and at least 1");
    FIRE_TRY(fire_blob_axis(l->bottom[0], p->axis, "axis", &s->axis));
    s->unit    = unit;
    s->times   = (int)p->type + 1;
    s->outputs = p->num_output;
    s->inputs  = fire_blob_count_range(l->bottom[0], s->axis, l->bottom[0]->ndim);
    dim[0]     = s->outputs;
    dim[1]     = s->inputs;
    return fire_layer_add_blob(l, 2, dim, p->weight_filler);
}

fire_status_t fire_margin_reshape(fire_layer_t *l)
{
    fire_margin_t     *s                  = FIRE_STATE(l, fire_margin_t);
    const fire_blob_t *x                  = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS] = {0};

    if (fire_blob_count_range(x, s->axis, x->ndim) != s->inputs)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the layer was made for %lld inputs",
                         (long long)s->inputs);
    s->rows = fire_blob_count_range(x, 0, s->axis);
    if (fire_blob_count(l->bottom[1]) != s->rows)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld labels for %lld items",
                         (long long)fire_blob_count(l->bottom[1]), (long long)s->rows);
    if (s->unit) {
        FIRE_TRY(fire_scratch_fit(&s->product, s->outputs * s->inputs));
        FIRE_TRY(fire_scratch_fit(&s->weights, s->outputs * s->inputs));
    }
    for (int i = 0; i < s->axis; i++)
        dim[i] = x->dim[i];
    dim[s->axis] = s->outputs;
    FIRE_TRY(fire_blob_reshape(l->top[0], s->axis + 1, dim));
    return l->ntop > 1 ? fire_blob_reshape(l->top[1], 1, (int64_t[]){1}) : FIRE_OK;
}

void fire_margin_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, fire_margin_t)->product);
    fire_scratch_free(&FIRE_STATE(l, fire_margin_t)->weights);
}

double fire_margin_macs(const fire_layer_t *l)
{
    const fire_margin_t *s = FIRE_STATE(l, fire_margin_t);

    return (double)s->rows * (double)s->inputs * (double)s->outputs;
}

/* ---- the margin ---- */

static const Caffe__MarginInnerProductParameter *settings(const fire_layer_t *l)
{
    return FIRE_STATE(l, fire_margin_t)->unit
               ? l->param->margin_inner_product_param
               : l->param->largemargin_inner_product_param;
}

static float lambda_now(const fire_layer_t *l)
{
    const Caffe__MarginInnerProductParameter *p = settings(l);
    float iteration = (float)p->iteration + (float)l->moment->step + 1.0f;
    float lambda    = p->base * powf(1.0f + p->gamma * iteration, -p->power);

    return lambda > p->lambda_min ? lambda : p->lambda_min;
}

/* cos(m a) and its derivative by cos(a), as Chebyshev polynomials. */
static void chebyshev(int m, float c, float *value, float *slope)
{
    float c2 = c * c;

    *value = m == 1   ? c
             : m == 2 ? 2 * c2 - 1
             : m == 3 ? c * (4 * c2 - 3)
                      : 8 * c2 * (c2 - 1) + 1;
    *slope = m == 1 ? 1 : m == 2 ? 4 * c : m == 3 ? 12 * c2 - 3 : c * (32 * c2 - 16);
}

/* psi of cos(a) and its derivative. */
static void psi_of(int m, float c, float *psi, float *slope)
{
    int k = 0;

    while (k + 1 < m && c < cosf((float)(k + 1) * (float)M_PI / (float)m))
        k++;
    chebyshev(m, c, psi, slope);
    if (k % 2 == 1) {
        *psi   = -*psi;
        *slope = -*slope;
    }
    *psi -= 2.0f * (float)k;
}

/* A row's lengths, angle and margin with the weights of its label. */
typedef struct pair {
    const float *x, *w;
    float        x_length, w_length, psi, slope;
} pair_t;

static pair_t pair_of(const fire_margin_t *s, const float *x, const float *w)
{
    pair_t p = {.x = x, .w = w};
    float  c;

    p.x_length = sqrtf(fire_dot(s->inputs, x, x));
    p.w_length = s->unit ? 1.0f : sqrtf(fire_dot(s->inputs, w, w));
    if (p.x_length < least_length) p.x_length = least_length;
    if (p.w_length < least_length) p.w_length = least_length;
    c = fire_dot(s->inputs, x, w) / (p.x_length * p.w_length);
    psi_of(s->times, c < -1 ? -1 : c > 1 ? 1 : c, &p.psi, &p.slope);
    return p;
}

/* Divide each row by its length; one of length 1 keeps its bits, so that workers that do
 * this more often than others keep the same weights. */
static void make_unit(const fire_margin_t *s, float *w)
{
    for (int64_t i = 0; i < s->outputs; i++, w += s->inputs) {
        float length = sqrtf(fire_dot(s->inputs, w, w));

        if (fabsf(length - 1.0f) < 1e-5f || length < least_length) continue;
        for (int64_t k = 0; k < s->inputs; k++)
            w[k] /= length;
    }
}

/* The weights to compute with. SphereFace gives those of a training length 1 for good; a
 * test has a copy. */
static fire_status_t weights_of(fire_layer_t *l, const float **w_p)
{
    fire_margin_t *s = FIRE_STATE(l, fire_margin_t);
    float         *w;

    if (!s->unit) {
        FIRE_IN(l, l->blob[0], FIRE_DATA, w_p);
    } else if (l->phase == CAFFE__PHASE__TRAIN) {
        FIRE_INOUT(l, l->blob[0], FIRE_DATA, &w);
        make_unit(s, w);
        *w_p = w;
    } else {
        FIRE_IN(l, l->blob[0], FIRE_DATA, w_p);
        fire_copy(s->outputs * s->inputs, *w_p, s->weights.x);
        make_unit(s, s->weights.x);
        *w_p = s->weights.x;
    }
    return FIRE_OK;
}

static fire_status_t label_of(const fire_margin_t *s, const float *label, int64_t row,
                              int64_t *class_p)
{
    static const fire_loss_t none = {.has_ignore = false};

    return fire_loss_label(&none, label[row], row, s->outputs, class_p);
}

static fire_status_t margin_forward(fire_layer_t *l)
{
    fire_margin_t *s = FIRE_STATE(l, fire_margin_t);
    const float   *x, *w, *label;
    float         *y, *lambda;
    int64_t        c;

    FIRE_TRY(weights_of(l, &w));
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    s->lambda = lambda_now(l);
    fire_gemm(FIRE_NO_TRANS, FIRE_TRANS, s->rows, s->outputs, s->inputs, 1.0f, x, w,
              0.0f, y);
    for (int64_t i = 0; i < s->rows; i++) {
        FIRE_TRY(label_of(s, label, i, &c));
        if (s->times > 1) {
            pair_t p  = pair_of(s, x + i * s->inputs, w + c * s->inputs);
            float *at = y + i * s->outputs + c;

            *at = (p.w_length * p.x_length * p.psi + s->lambda * *at) / (1 + s->lambda);
        }
    }
    if (l->ntop < 2) return FIRE_OK;
    FIRE_OUT(l, l->top[1], FIRE_DATA, &lambda);
    lambda[0] = s->lambda;
    return FIRE_OK;
}

/* The gradient of |w| |x| psi by x: by_w w + by_x x. */
static void x_factors(const fire_margin_t *s, const pair_t *p, float *by_w, float *by_x)
{
    float c = fire_dot(s->inputs, p->x, p->w) / (p->x_length * p->w_length);

    *by_w = p->slope;
    *by_x = p->w_length / p->x_length * (p->psi - c * p->slope);
    if (s->unit) { /* SphereFace takes the direction only */
        float length = sqrtf(*by_w * *by_w + *by_x * *by_x);

        if (length < least_length) return;
        *by_w /= length;
        *by_x /= length;
    }
}

/* Take back what the product gave for the label's class, and add what it has with the
 * margin: part (by_w w + by_x x) and part lambda w. */
static void correct_x(const fire_margin_t *s, const pair_t *p, float dy, float *dx)
{
    float part = dy / (1 + s->lambda), by_w, by_x;

    x_factors(s, p, &by_w, &by_x);
    fire_axpy(s->inputs, part * (by_w + s->lambda) - dy, p->w, dx);
    fire_axpy(s->inputs, part * by_x, p->x, dx);
}

/* SphereFace: the gradients g of weights w of length 1, as those of the layer's own, raw
 * weights: without their part along w. The margin has no part in them. */
static void project(const fire_margin_t *s, const float *w, const float *raw,
                    const float *g, float *dw)
{
    for (int64_t i = 0; i < s->outputs * s->inputs; i += s->inputs) {
        float length = sqrtf(fire_dot(s->inputs, raw + i, raw + i));
        float part   = length < least_length ? 0.0f : 1.0f / length;

        fire_axpy(s->inputs, part, g + i, dw + i);
        fire_axpy(s->inputs, -part * fire_dot(s->inputs, g + i, w + i), w + i, dw + i);
    }
}

/* The same for w. */
static void correct_w(const fire_margin_t *s, const pair_t *p, float dy, float *dw)
{
    float part = dy / (1 + s->lambda);
    float c    = fire_dot(s->inputs, p->x, p->w) / (p->x_length * p->w_length);

    fire_axpy(s->inputs, part * (p->slope + s->lambda) - dy, p->x, dw);
    fire_axpy(s->inputs, part * p->x_length / p->w_length * (p->psi - c * p->slope),
              p->w, dw);
}

static fire_status_t margin_backward(fire_layer_t *l)
{
    fire_margin_t *s = FIRE_STATE(l, fire_margin_t);
    const float   *x, *w, *raw, *label, *dy;
    float         *dx = NULL, *dw = NULL;
    int64_t        c;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_TRY(weights_of(l, &w));
    FIRE_IN(l, l->blob[0], FIRE_DATA, &raw);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &dw);
    if (l->propagate_down[0]) FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    if (dw != NULL) {
        fire_gemm(FIRE_TRANS, FIRE_NO_TRANS, s->outputs, s->inputs, s->rows, 1.0f, dy,
                  x, s->unit ? 0.0f : 1.0f, s->unit ? s->product.x : dw);
        if (s->unit) project(s, w, raw, s->product.x, dw);
    }
    if (dx != NULL)
        fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, s->rows, s->inputs, s->outputs, 1.0f,
                  dy, w, 0.0f, dx);
    for (int64_t i = 0; i < s->rows && s->times > 1; i++) {
        pair_t p;
        float  d;

        FIRE_TRY(label_of(s, label, i, &c));
        p = pair_of(s, x + i * s->inputs, w + c * s->inputs);
        d = dy[i * s->outputs + c];
        if (dx != NULL) correct_x(s, &p, d, dx + i * s->inputs);
        if (dw != NULL && !s->unit) correct_w(s, &p, d, dw + c * s->inputs);
    }
    return FIRE_OK;
}

const fire_kernel_t fire_margin_ref = {
    .name     = "ref",
    .forward  = margin_forward,
    .backward = margin_backward,
};

const fire_kernel_t *const fire_margin_kernels[] = {&fire_margin_ref, NULL};
