/* hinge_loss.c - HingeLoss: loss = sum over classes of max(0, 1 + x) / N, with -x for
 * the true class; with norm: L2 of its square.
 *
 *   bottom 0: (N, C) scores
 *   bottom 1: (N) labels
 *   bottom 2: (N) (optional) weights of items
 *   top 0:    () loss */
#include "device/cpu/blas.h"
#include "layers/loss/losses.h"
#include "layers/scalar.h"

/* The state of the layer. */
typedef struct hinge {
    fire_loss_t    labels; /* no label is ignored */
    bool           squared;
    int64_t        items, classes;
    fire_scratch_t margin; /* (N, C) max(0, 1 +- x), for backward */
} hinge_t;

static fire_status_t hinge_setup(fire_layer_t *l)
{
    return fire_loss_setup_weights(&FIRE_STATE(l, hinge_t)->labels,
                                   l->param->loss_param, false);
}

/* Interpret bottom 0 as (items, classes). */
static fire_status_t hinge_reshape(fire_layer_t *l)
{
    const Caffe__HingeLossParameter *p =
        FIRE_PARAM(l, hinge_loss_param, CAFFE__HINGE_LOSS_PARAMETER__INIT);
    hinge_t *s = l->state;

    FIRE_TRY(fire_loss_reshape(l));
    s->squared = p->norm == CAFFE__HINGE_LOSS_PARAMETER__NORM__L2;
    s->items   = fire_blob_dim_or_1(l->bottom[0], 0);
    s->classes = s->items > 0 ? fire_blob_count(l->bottom[0]) / s->items : 0;
    if (fire_blob_count(l->bottom[1]) != s->items)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld labels for %lld items",
                         (long long)fire_blob_count(l->bottom[1]), (long long)s->items);
    FIRE_TRY(fire_loss_check_weights(l, &s->labels, 2, s->items, s->classes));
    return fire_scratch_fit(&s->margin, fire_blob_count(l->bottom[0]));
}

/* x, m: (items, classes). label: (items). */
static fire_status_t hinge_forward(fire_layer_t *l)
{
    const hinge_t *s = l->state;
    float         *m = s->margin.x, *top, sum = 0, part;
    int64_t        n = s->items * s->classes, truth;
    const float   *x, *label;
    fire_weights_t w;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_TRY(fire_loss_weights(l, &s->labels, 2, s->items, &w));
    FIRE_IF_GPU(l, fire_gpu_hinge_loss(l->ctx->stream, s->squared, s->items, s->classes,
                                       w, x, label, top));
    fire_copy(n, x, m);
    for (int64_t i = 0; i < s->items; i++) {
        FIRE_TRY(fire_loss_label(&s->labels, label[i], i, s->classes, &truth));
        m[i * s->classes + truth] *= -1.0f;
    }
    for (int64_t i = 0; i < n; i++)
        m[i] = fire_max(0.0f, 1.0f + m[i]);
    if (w.of_class == NULL && w.of_item == NULL)
        sum = s->squared ? fire_dot(n, m, m) : fire_asum(n, m);
    else
        for (int64_t i = 0; i < s->items; i++, m += s->classes) {
            part = s->squared ? fire_dot(s->classes, m, m) : fire_asum(s->classes, m);
            FIRE_TRY(fire_loss_label(&s->labels, label[i], i, s->classes, &truth));
            sum += fire_weight_of(w, i, truth) * part;
        }
    top[0] = sum / (float)s->items;
    return FIRE_OK;
}

/* L1: dx = 1 where the margin is positive, -1 for the true class; L2: 2 * margin with
 * the same signs; divided by N. */
static fire_status_t hinge_backward(fire_layer_t *l)
{
    const hinge_t *s       = l->state;
    const float   *m       = s->margin.x, *x, *label, *seed;
    int64_t        n       = s->items * s->classes, truth;
    float          divisor = (float)s->items / (s->squared ? 2.0f : 1.0f);
    float         *dx, weight;
    fire_weights_t w;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_TRY(fire_loss_weights(l, &s->labels, 2, s->items, &w));
    FIRE_IF_GPU(l, fire_gpu_hinge_dx(l->ctx->stream, s->squared, s->items, s->classes,
                                     seed, divisor, w, x, label, dx));
    weight = seed[0] / divisor;
    fire_copy(n, m, dx);
    for (int64_t i = 0; i < s->items; i++) {
        FIRE_TRY(fire_loss_label(&s->labels, label[i], i, s->classes, &truth));
        dx[i * s->classes + truth] *= -1.0f;
        for (int64_t k = i * s->classes; k < (i + 1) * s->classes; k++)
            dx[k] = (s->squared ? dx[k] : fire_sign(dx[k])) *
                    (weight * fire_weight_of(w, i, truth));
    }
    return FIRE_OK;
}

static void hinge_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, hinge_t)->margin);
    fire_loss_fini(&FIRE_STATE(l, hinge_t)->labels);
}

const fire_kernel_t fire_hinge_loss_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = hinge_forward,
    .backward = hinge_backward,
};

const fire_kernel_t fire_hinge_loss_ref = {
    .name     = "ref",
    .forward  = hinge_forward,
    .backward = hinge_backward,
};

static const fire_kernel_t *const hinge_kernels[] = {
    FIRE_IF_CUDA(fire_hinge_loss_cuda) &fire_hinge_loss_ref, NULL};

const fire_layer_ops_t fire_layer_hinge_loss = {
    .type        = "HingeLoss",
    .bottoms     = {2, 3},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 6,
    .state_size  = sizeof(hinge_t),
    .setup       = hinge_setup,
    .reshape     = hinge_reshape,
    .teardown    = hinge_teardown,
    .kernels     = hinge_kernels,
};
