/* sigmoid_cross_entropy_loss.c - SigmoidCrossEntropyLoss: loss = -sum(t log s + (1 - t)
 * log(1 - s)) / normalizer, s = sigmoid(x), each element on its own.
 *
 *   bottom 0: (N, ...) scores x
 *   bottom 1: (N, C, ...) targets t in 0 ... 1; class_weighting is for the C
 *   bottom 2: (N) or (N, C, ...) (optional) weights
 *   top 0:    () loss */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/memory_cuda.h"
#include "layers/loss/losses.h"
#include "layers/loss/formulas.h"

/* The state of the layer. */
typedef struct sigmoid_loss {
    fire_loss_t    loss;
    float          normalizer; /* of the last forward */
    fire_scratch_t sigmoid;    /* sigmoid(x), for backward */
    int64_t        classes, inner;
} sigmoid_loss_t;

static fire_status_t sigmoid_loss_setup(fire_layer_t *l)
{
    fire_loss_init(&FIRE_STATE(l, sigmoid_loss_t)->loss, l->param->loss_param,
                   CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__BATCH_SIZE);
    return fire_loss_setup_weights(&FIRE_STATE(l, sigmoid_loss_t)->loss,
                                   l->param->loss_param, true);
}

static fire_status_t sigmoid_loss_reshape(fire_layer_t *l)
{
    sigmoid_loss_t *s = l->state;
    int64_t         n = fire_blob_count(l->bottom[0]),
            items     = fire_blob_dim_or_1(l->bottom[0], 0);

    FIRE_TRY(fire_loss_reshape_pair(l));
    s->classes = fire_blob_dim_or_1(l->bottom[0], 1);
    s->inner   = n > 0 ? n / items / s->classes : 1;
    FIRE_TRY(fire_loss_check_weights(l, &s->loss, 2, n, s->classes));
    return fire_scratch_fit(&s->sigmoid, n);
}

/* Does the element not count? */
static bool is_ignored(const fire_loss_t *s, float target)
{
    return s->has_ignore && (int)target == s->ignore;
}

/* The sigmoid is computed in double with tanh(), as in Caffe, and kept for backward. */
static fire_status_t sigmoid_loss_forward(fire_layer_t *l)
{
    sigmoid_loss_t *s = l->state;
    int64_t         n = fire_blob_count(l->bottom[0]), valid = 0;
    int64_t         items = fire_blob_dim_or_1(l->bottom[0], 0);
    const float    *x, *target;
    float          *top, loss = 0.0f;
    fire_weights_t  w;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &target);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_TRY(fire_loss_weights(l, &s->loss, 2, n, &w));
    FIRE_IF_GPU(
        l, fire_gpu_sigmoid_loss(l->ctx->stream,
                                 &(fire_gpu_sigmoid_t){s->loss, items, n, x, target, w,
                                                       s->inner, s->classes},
                                 fire_gpu_kept(l), top));
    for (int64_t i = 0; i < n; i++) {
        s->sigmoid.x[i] = (float)(0.5 * tanh(0.5 * x[i]) + 0.5);
        if (is_ignored(&s->loss, target[i])) continue;
        loss -=
            fire_cross_entropy(x[i], fire_smooth_target(s->loss.smoothing, target[i])) *
            fire_weight_of(w, i, i / s->inner % s->classes);
        valid++;
    }
    s->normalizer =
        fire_loss_normalizer(&s->loss, items, items > 0 ? n / items : 0, valid);
    top[0] = loss / s->normalizer;
    return FIRE_OK;
}

/* dx = (sigmoid(x) - target) * loss weight / normalizer; 0 where ignored. */
static fire_status_t sigmoid_loss_backward(fire_layer_t *l)
{
    sigmoid_loss_t *s = l->state;
    int64_t         n = fire_blob_count(l->bottom[0]);
    const float    *x, *target, *seed;
    float          *dx, weight;
    fire_weights_t  w;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &target);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_TRY(fire_loss_weights(l, &s->loss, 2, n, &w));
    FIRE_IF_GPU(l, fire_gpu_sigmoid_dx(l->ctx->stream,
                                       &(fire_gpu_sigmoid_t){s->loss, 0, n, x, target,
                                                             w, s->inner, s->classes},
                                       seed, fire_gpu_kept(l), dx));
    weight = seed[0] / s->normalizer;
    for (int64_t i = 0; i < n; i++)
        dx[i] =
            is_ignored(&s->loss, target[i])
                ? 0.0f
                : (s->sigmoid.x[i] - fire_smooth_target(s->loss.smoothing, target[i])) *
                      weight * fire_weight_of(w, i, i / s->inner % s->classes);
    return FIRE_OK;
}

static void sigmoid_loss_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, sigmoid_loss_t)->sigmoid);
    fire_loss_fini(&FIRE_STATE(l, sigmoid_loss_t)->loss);
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_sigmoid_cross_entropy_loss_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = fire_gpu_keep_float /* the normalizer */,
    .forward  = sigmoid_loss_forward,
    .backward = sigmoid_loss_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_sigmoid_cross_entropy_loss_ref = {
    .name     = "ref",
    .forward  = sigmoid_loss_forward,
    .backward = sigmoid_loss_backward,
};

static const fire_kernel_t *const sigmoid_loss_kernels[] = {
    FIRE_IF_CUDA(fire_sigmoid_cross_entropy_loss_cuda)
        &fire_sigmoid_cross_entropy_loss_ref,
    NULL};

const fire_layer_ops_t fire_layer_sigmoid_cross_entropy_loss = {
    .type        = "SigmoidCrossEntropyLoss",
    .bottoms     = {2, 3},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 6,
    .state_size  = sizeof(sigmoid_loss_t),
    .setup       = sigmoid_loss_setup,
    .reshape     = sigmoid_loss_reshape,
    .teardown    = sigmoid_loss_teardown,
    .kernels     = sigmoid_loss_kernels,
};
