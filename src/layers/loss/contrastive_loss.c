/* contrastive_loss.c - ContrastiveLoss: pulls pairs of the same class together and
 * pushes others at least a margin apart (Hadsell and others, 2006).
 *
 *   loss = sum(y d^2 + (1 - y) max(margin - d, 0)^2) / 2N,  d = |a - b|
 *   with legacy_version: (1 - y) max(margin - d^2, 0)
 *
 *   bottom 0, 1: (N, C, 1, 1) features a and b
 *   bottom 2:    (N) y: 1 if the pair is of the same class, else 0
 *   top 0:       () loss */
#include "device/cpu/blas.h"
#include "layers/loss/losses.h"
#include "layers/loss/formulas.h"

/* The state of the layer. */
typedef struct contrastive {
    float          margin;
    bool           legacy;
    int64_t        items, n; /* n: elements of a feature */
    fire_scratch_t diff;     /* (items, n) a - b */
    fire_scratch_t dist_sq;  /* (items) squared distances */
} contrastive_t;

/* Check that a and b have `items` features of n elements each, and y one per pair. */
static fire_status_t contrastive_reshape(fire_layer_t *l)
{
    const Caffe__ContrastiveLossParameter *p =
        FIRE_PARAM(l, contrastive_loss_param, CAFFE__CONTRASTIVE_LOSS_PARAMETER__INIT);
    contrastive_t *s = l->state;

    FIRE_TRY(fire_loss_reshape(l));
    s->margin = p->margin;
    s->legacy = p->legacy_version;
    s->items  = fire_blob_dim_or_1(l->bottom[0], 0);
    s->n      = s->items > 0 ? fire_blob_count(l->bottom[0]) / s->items : 0;
    if (fire_blob_count(l->bottom[1]) != s->items * s->n)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the pair has %lld and %lld elements: they must agree",
                         (long long)fire_blob_count(l->bottom[0]),
                         (long long)fire_blob_count(l->bottom[1]));
    if (fire_blob_count(l->bottom[2]) != s->items)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld similarity labels for %lld pairs",
                         (long long)fire_blob_count(l->bottom[2]), (long long)s->items);
    FIRE_TRY(fire_scratch_fit(&s->diff, s->items * s->n));
    return fire_scratch_fit(&s->dist_sq, s->items);
}

/* The view of the bottoms that the formulas and the GPU kernels take. */
static fire_status_t read_bottoms(fire_layer_t *l, fire_gpu_contrast_t *c)
{
    const contrastive_t *s = l->state;

    *c = (fire_gpu_contrast_t){s->margin, s->legacy, s->items, s->n};
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &c->a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &c->b);
    FIRE_IN(l, l->bottom[2], FIRE_DATA, &c->same);
    return FIRE_OK;
}

/* Keeps a - b and its squared length for backward. */
static fire_status_t contrastive_forward(fire_layer_t *l)
{
    const contrastive_t *s    = l->state;
    float               *diff = s->diff.x, *top, loss = 0.0f;
    fire_gpu_contrast_t  c;

    FIRE_TRY(read_bottoms(l, &c));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_IF_GPU(l, fire_gpu_contrast_loss(l->ctx->stream, &c, top));
    for (int64_t i = 0; i < s->items * s->n; i++)
        diff[i] = c.a[i] - c.b[i];
    for (int64_t i = 0; i < s->items; i++) {
        float *d = diff + i * s->n, gap;

        s->dist_sq.x[i] = fire_dot(s->n, d, d);
        gap = fire_max(fire_contrast_gap(s->margin, s->legacy, s->dist_sq.x[i]), 0.0f);
        if ((int)c.same[i])
            loss += s->dist_sq.x[i];
        else
            loss += s->legacy ? gap : gap * gap;
    }
    top[0] = loss / (float)s->items / 2.0f;
    return FIRE_OK;
}

/* Gradient of one bottom; the divisor is negative for b. */
static fire_status_t backward_to(fire_layer_t *l, int bottom, float divisor)
{
    const contrastive_t *s = l->state;
    fire_gpu_contrast_t  c;
    const float         *seed;
    float               *dx, weight;

    FIRE_TRY(read_bottoms(l, &c));
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_OUT(l, l->bottom[bottom], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_contrast_dx(l->ctx->stream, &c, seed, divisor, dx));
    weight = seed[0] / divisor;
    for (int64_t i = 0; i < s->items; i++) {
        float factor = fire_contrast_pull(s->margin, s->legacy, s->dist_sq.x[i],
                                          (int)c.same[i] != 0, weight);

        for (int64_t j = i * s->n; j < (i + 1) * s->n; j++)
            dx[j] = factor == 0.0f ? 0.0f : factor * s->diff.x[j]; /* not -0 */
    }
    return FIRE_OK;
}

/* da = factor * (a - b) / N, db = -da; see fire_contrast_pull() for the factor. */
static fire_status_t contrastive_backward(fire_layer_t *l)
{
    float items = (float)FIRE_STATE(l, contrastive_t)->items;

    if (l->propagate_down[0]) FIRE_TRY(backward_to(l, 0, items));
    if (l->propagate_down[1]) FIRE_TRY(backward_to(l, 1, -items));
    return FIRE_OK;
}

static void contrastive_teardown(fire_layer_t *l)
{
    contrastive_t *s = l->state;

    fire_scratch_free(&s->diff);
    fire_scratch_free(&s->dist_sq);
}

const fire_kernel_t fire_contrastive_loss_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = contrastive_forward,
    .backward = contrastive_backward,
};

const fire_kernel_t fire_contrastive_loss_ref = {
    .name     = "ref",
    .forward  = contrastive_forward,
    .backward = contrastive_backward,
};

static const fire_kernel_t *const contrastive_kernels[] = {
    FIRE_IF_CUDA(fire_contrastive_loss_cuda) &fire_contrastive_loss_ref, NULL};

const fire_layer_ops_t fire_layer_contrastive_loss = {
    .type        = "ContrastiveLoss",
    .bottoms     = {3, 3},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 1 << 2,
    .state_size  = sizeof(contrastive_t),
    .reshape     = contrastive_reshape,
    .teardown    = contrastive_teardown,
    .kernels     = contrastive_kernels,
};
