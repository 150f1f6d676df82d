/* pair_loss.c - forward and backward of losses that compare two bottoms. */
#include "layers/loss/pair_loss.h"

#include "layers/loss/formulas.h"

fire_status_t fire_pair_loss_reshape(fire_layer_t *l)
{
    fire_pair_loss_t *s = l->state;

    FIRE_TRY(fire_loss_reshape_pair(l));
    s->divisor = (float)fire_blob_dim_or_1(l->bottom[0], 0);
    return fire_scratch_fit(&s->diff, fire_blob_count(l->bottom[0]));
}

void fire_pair_loss_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, fire_pair_loss_t)->diff);
}

/* Bottoms 2 and 3 (optional) are weights. */
static fire_status_t read_bottoms(fire_layer_t *l, fire_gpu_pair_t *p)
{
    const fire_pair_loss_t *s = l->state;

    *p = (fire_gpu_pair_t){
        .kind = s->rule->kind, .n = fire_blob_count(l->bottom[0]), .sigma2 = s->sigma2};
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &p->a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &p->b);
    if (l->nbottom > 2) FIRE_IN(l, l->bottom[2], FIRE_DATA, &p->in);
    if (l->nbottom > 3) FIRE_IN(l, l->bottom[3], FIRE_DATA, &p->out);
    return FIRE_OK;
}

/* Top 1 of SmoothL1LossOHEM (optional): (N, 1, H, W), sums over the channels. */
static fire_status_t give_rows(fire_layer_t *l, const fire_gpu_pair_t *p)
{
    const fire_pair_loss_t *s     = l->state;
    int64_t                 items = fire_blob_dim_or_1(l->bottom[0], 0);
    int64_t channels              = l->bottom[0]->ndim > 1 ? l->bottom[0]->dim[1] : 1;
    int64_t inner = fire_blob_count(l->top[1]) / (items > 0 ? items : 1);
    float  *row;

    FIRE_OUT(l, l->top[1], FIRE_DATA, &row);
    FIRE_IF_GPU(l, fire_gpu_smooth_rows(l->ctx->stream, p, items, channels, row));
    fire_fill(items * inner, 0.0f, row);
    for (int64_t i = 0; i < p->n; i++)
        row[i / inner / channels * inner + i % inner] +=
            fire_smooth_l1(p->sigma2, s->diff.x[i]);
    return FIRE_OK;
}

/* Top 0. */
static fire_status_t give_loss(fire_layer_t *l, const fire_gpu_pair_t *p)
{
    const fire_pair_loss_t *s = l->state;
    float                  *top;

    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_IF_GPU(
        l, fire_gpu_pair_loss(l->ctx->stream, p, s->rule->scale / s->divisor, top));
    top[0] = s->rule->sum(p, s->diff.x) / s->divisor;
    return FIRE_OK;
}

static fire_status_t pair_loss_forward(fire_layer_t *l)
{
    fire_gpu_pair_t p;

    FIRE_TRY(read_bottoms(l, &p));
    FIRE_TRY(give_loss(l, &p));
    return l->ntop > 1 ? give_rows(l, &p) : FIRE_OK;
}

/* Gradient of one bottom; the divisor is negative for b. */
static fire_status_t backward_to(fire_layer_t *l, int bottom, float divisor)
{
    const fire_pair_loss_t *s = l->state;
    fire_gpu_pair_t         p;
    const float            *seed;
    float                  *dx;

    FIRE_TRY(read_bottoms(l, &p));
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_OUT(l, l->bottom[bottom], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_pair_dx(l->ctx->stream, &p, seed, divisor, dx));
    s->rule->slope(&p, s->diff.x, seed[0] / divisor, dx);
    return FIRE_OK;
}

/* The gradient of b is the negative of a's. */
static fire_status_t pair_loss_backward(fire_layer_t *l)
{
    float divisor = FIRE_STATE(l, fire_pair_loss_t)->divisor;

    if (l->propagate_down[0]) FIRE_TRY(backward_to(l, 0, divisor));
    if (l->propagate_down[1]) FIRE_TRY(backward_to(l, 1, -divisor));
    return FIRE_OK;
}

const fire_kernel_t fire_pair_loss_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = pair_loss_forward,
    .backward = pair_loss_backward,
};

const fire_kernel_t fire_pair_loss_ref = {
    .name     = "ref",
    .forward  = pair_loss_forward,
    .backward = pair_loss_backward,
};

const fire_kernel_t *const fire_pair_loss_kernels[] = {
    FIRE_IF_CUDA(fire_pair_loss_cuda) &fire_pair_loss_ref, NULL};
