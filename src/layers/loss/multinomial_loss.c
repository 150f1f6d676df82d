/* multinomial_loss.c - MultinomialLogisticLoss: loss = -sum(log p[label]) / N.
 * SoftmaxWithLoss is numerically more stable and includes the softmax.
 *
 *   bottom 0: (N, C) probabilities p, of a Softmax layer
 *   bottom 1: (N) labels
 *   bottom 2: (N) (optional) weights of items
 *   top 0:    () loss */
#include "device/cpu/blas.h"
#include "layers/loss/losses.h"
#include "layers/loss/formulas.h"

/* The state of the layer. */
typedef struct multinomial {
    fire_loss_t labels; /* no label is ignored */
    int64_t     items, classes;
} multinomial_t;

static fire_status_t multinomial_setup(fire_layer_t *l)
{
    return fire_loss_setup_weights(&FIRE_STATE(l, multinomial_t)->labels,
                                   l->param->loss_param, false);
}

/* Interpret bottom 0 as (items, classes). */
static fire_status_t multinomial_reshape(fire_layer_t *l)
{
    multinomial_t *s = l->state;

    FIRE_TRY(fire_loss_reshape(l));
    s->items   = fire_blob_dim_or_1(l->bottom[0], 0);
    s->classes = s->items > 0 ? fire_blob_count(l->bottom[0]) / s->items : 0;
    if (fire_blob_count(l->bottom[1]) != s->items)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld labels for %lld items",
                         (long long)fire_blob_count(l->bottom[1]), (long long)s->items);
    return fire_loss_check_weights(l, &s->labels, 2, s->items, s->classes);
}

/* p: (items, classes). label: (items). */
static fire_status_t multinomial_forward(fire_layer_t *l)
{
    const multinomial_t *s = l->state;
    const float         *p, *label;
    float               *top, loss = 0.0f;
    int64_t              truth;
    fire_weights_t       w;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &p);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_TRY(fire_loss_weights(l, &s->labels, 2, s->items, &w));
    FIRE_IF_GPU(l, fire_gpu_multinomial_loss(l->ctx->stream, s->items, s->classes, w, p,
                                             label, top));
    for (int64_t i = 0; i < s->items; i++) {
        FIRE_TRY(fire_loss_label(&s->labels, label[i], i, s->classes, &truth));
        loss -= logf(fire_max(p[i * s->classes + truth], FIRE_LEAST_PROBABILITY)) *
                fire_weight_of(w, i, truth);
    }
    top[0] = loss / (float)s->items;
    return FIRE_OK;
}

/* dp = -1 / (N p) for the label's class, 0 for the others. */
static fire_status_t multinomial_backward(fire_layer_t *l)
{
    const multinomial_t *s = l->state;
    const float         *p, *label, *seed;
    float               *dx, weight;
    int64_t              truth;
    fire_weights_t       w;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &p);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_TRY(fire_loss_weights(l, &s->labels, 2, s->items, &w));
    FIRE_IF_GPU(l, fire_gpu_multinomial_dx(l->ctx->stream, s->items, s->classes, seed,
                                           -(float)s->items, w, p, label, dx));
    weight = seed[0] / -(float)s->items;
    fire_fill(s->items * s->classes, 0.0f, dx);
    for (int64_t i = 0; i < s->items; i++) {
        FIRE_TRY(fire_loss_label(&s->labels, label[i], i, s->classes, &truth));
        dx[i * s->classes + truth] =
            weight * fire_weight_of(w, i, truth) /
            fire_max(p[i * s->classes + truth], FIRE_LEAST_PROBABILITY);
    }
    return FIRE_OK;
}

static void multinomial_teardown(fire_layer_t *l)
{
    fire_loss_fini(&FIRE_STATE(l, multinomial_t)->labels);
}

const fire_kernel_t fire_multinomial_loss_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = multinomial_forward,
    .backward = multinomial_backward,
};

const fire_kernel_t fire_multinomial_loss_ref = {
    .name     = "ref",
    .forward  = multinomial_forward,
    .backward = multinomial_backward,
};

static const fire_kernel_t *const multinomial_kernels[] = {
    FIRE_IF_CUDA(fire_multinomial_loss_cuda) &fire_multinomial_loss_ref, NULL};

const fire_layer_ops_t fire_layer_multinomial_loss = {
    .type        = "MultinomialLogisticLoss",
    .bottoms     = {2, 3},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 6,
    .state_size  = sizeof(multinomial_t),
    .setup       = multinomial_setup,
    .reshape     = multinomial_reshape,
    .teardown    = multinomial_teardown,
    .kernels     = multinomial_kernels,
};
