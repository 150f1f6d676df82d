/* smooth_l1_loss.c - Fast R-CNN's loss = sum f(w_in (a - b)) w_out / N, with f(x) =
 * (sigma x)^2 / 2 near zero and |x| - 1 / (2 sigma^2) beyond |x| = 1 / sigma^2. The
 * weights are bottoms 2 and 3, or all 1. */
#include "device/cpu/blas.h"
#include "layers/cuda/losses.h"
#include "layers/loss/formulas.h"

typedef struct smooth_l1 {
    float          sigma2;
    fire_scratch_t diff; /* w_in (a - b) */
} smooth_l1_t;

static fire_status_t smooth_l1_reshape(fire_layer_t *l)
{
    const Caffe__SmoothL1LossParameter *p =
        FIRE_PARAM(l, smooth_l1_loss_param, CAFFE__SMOOTH_L1_LOSS_PARAMETER__INIT);
    smooth_l1_t *s = l->state;
    int64_t      n = fire_blob_count(l->bottom[0]);

    if (!(p->sigma > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "sigma %g; it must be positive",
                         (double)p->sigma);
    if (l->nbottom == 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give both weights, inside and outside, or none");
    FIRE_TRY(fire_loss_reshape_pair(l));
    for (int i = 2; i < l->nbottom; i++)
        if (fire_blob_count(l->bottom[i]) != n)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%lld weights in bottom %d for %lld "
                             "predictions",
                             (long long)fire_blob_count(l->bottom[i]), i, (long long)n);
    s->sigma2 = p->sigma * p->sigma;
    return fire_scratch_fit(&s->diff, n);
}

/* The bottoms; weights may be NULL. */
static fire_status_t read_bottoms(fire_layer_t *l, fire_gpu_pair_t *p)
{
    *p = (fire_gpu_pair_t){.kind   = FIRE_PAIR_SMOOTH,
                           .n      = fire_blob_count(l->bottom[0]),
                           .sigma2 = FIRE_STATE(l, smooth_l1_t)->sigma2};
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &p->a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &p->b);
    if (l->nbottom < 4) return FIRE_OK;
    FIRE_IN(l, l->bottom[2], FIRE_DATA, &p->in);
    FIRE_IN(l, l->bottom[3], FIRE_DATA, &p->out);
    return FIRE_OK;
}

static fire_status_t smooth_l1_forward(fire_layer_t *l)
{
    const smooth_l1_t *s     = l->state;
    float              items = (float)fire_blob_dim_or_1(l->bottom[0], 0);
    float             *top, *diff = s->diff.x, sum = 0.0f;
    fire_gpu_pair_t    p;

    FIRE_TRY(read_bottoms(l, &p));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_IF_GPU(l, fire_gpu_pair_loss(l->ctx->stream, &p, 1.0f / items, top));
    for (int64_t i = 0; i < p.n; i++) {
        diff[i] = p.a[i] - p.b[i];
        if (p.in != NULL) diff[i] *= p.in[i];
        sum += fire_smooth_l1(s->sigma2, diff[i]) * (p.out != NULL ? p.out[i] : 1.0f);
    }
    top[0] = sum / items;
    return FIRE_OK;
}

/* The divisor's sign is the bottom's. */
static fire_status_t backward_to(fire_layer_t *l, int bottom, float divisor)
{
    const smooth_l1_t *s = l->state;
    const float       *seed;
    float             *dx, weight;
    fire_gpu_pair_t    p;

    FIRE_TRY(read_bottoms(l, &p));
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_OUT(l, l->bottom[bottom], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_pair_dx(l->ctx->stream, &p, seed, divisor, dx));
    weight = seed[0] / divisor;
    for (int64_t i = 0; i < p.n; i++) {
        dx[i] = weight * fire_smooth_l1_slope(s->sigma2, s->diff.x[i]);
        if (p.in != NULL) dx[i] *= p.in[i] * p.out[i];
    }
    return FIRE_OK;
}

static fire_status_t smooth_l1_backward(fire_layer_t *l)
{
    float items = (float)fire_blob_dim_or_1(l->bottom[0], 0);

    if (l->propagate_down[0]) FIRE_TRY(backward_to(l, 0, items));
    if (l->propagate_down[1]) FIRE_TRY(backward_to(l, 1, -items));
    return FIRE_OK;
}

static void smooth_l1_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, smooth_l1_t)->diff);
}

static const fire_kernel_t smooth_l1_kernels[] = {
    FIRE_CUDA_ROW(.forward = smooth_l1_forward, .backward = smooth_l1_backward){
        .name = "ref", .forward = smooth_l1_forward, .backward = smooth_l1_backward},
    {0},
};

const fire_layer_ops_t fire_layer_smooth_l1_loss = {
    .type        = "SmoothL1Loss",
    .bottoms     = {2, 4},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 3 << 2,
    .state_size  = sizeof(smooth_l1_t),
    .reshape     = smooth_l1_reshape,
    .teardown    = smooth_l1_teardown,
    .kernels     = smooth_l1_kernels,
};
