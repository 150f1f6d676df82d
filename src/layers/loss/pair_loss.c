/* pair_loss.c - forward and backward of losses that compare two bottoms. */
#include "layers/loss/pair_loss.h"

fire_status_t fire_pair_loss_reshape(fire_layer_t *l)
{
    FIRE_TRY(fire_loss_reshape_pair(l));
    return fire_scratch_fit(&FIRE_STATE(l, fire_pair_loss_t)->diff,
                            fire_blob_count(l->bottom[0]));
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

/* N is the first dimension of bottom 0. */
static fire_status_t pair_loss_forward(fire_layer_t *l)
{
    const fire_pair_loss_t *s     = l->state;
    float                   items = (float)fire_blob_dim_or_1(l->bottom[0], 0);
    fire_gpu_pair_t         p;
    float                  *top;

    FIRE_TRY(read_bottoms(l, &p));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_IF_GPU(l, fire_gpu_pair_loss(l->ctx->stream, &p, s->rule->scale / items, top));
    top[0] = s->rule->sum(&p, s->diff.x) / items;
    return FIRE_OK;
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
    float items = (float)fire_blob_dim_or_1(l->bottom[0], 0);

    if (l->propagate_down[0]) FIRE_TRY(backward_to(l, 0, items));
    if (l->propagate_down[1]) FIRE_TRY(backward_to(l, 1, -items));
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
