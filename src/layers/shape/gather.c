/* gather.c - forward and backward of layers that move blocks within an item. */
#include "layers/shape/gather.h"

#include <string.h>

#include "layers/memory_cuda.h"
#include "layers/shape/move.h"

fire_status_t fire_gather_reshape(fire_gather_t *s, int64_t items, int64_t n,
                                  int64_t block)
{
    s->items = items;
    s->n     = n;
    s->block = block;
    return fire_grow(&s->from, &s->cap, n, sizeof(*s->from));
}

void fire_gather_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, fire_gather_t)->from);
}

/* On a GPU: copy the indices there. */
static fire_status_t gather_prepare(fire_layer_t *l)
{
    const fire_gather_t *s = l->state;

    FIRE_IF_GPU(l, fire_gpu_keep_copy(l, s->from, (size_t)s->n * sizeof(*s->from)));
    return FIRE_OK;
}

static fire_status_t gather_forward(fire_layer_t *l)
{
    const fire_gather_t *s     = l->state;
    size_t               bytes = (size_t)s->block * sizeof(float);
    const float         *x;
    float               *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_gather(l->ctx->stream, s->items, s->n, s->block,
                                   fire_gpu_kept(l), x, y));
    for (int64_t i = 0; i < s->items; i++, x += s->n * s->block)
        for (int64_t j = 0; j < s->n; j++, y += s->block)
            memcpy(y, x + s->from[j] * s->block, bytes);
    return FIRE_OK;
}

static fire_status_t gather_backward(fire_layer_t *l)
{
    const fire_gather_t *s     = l->state;
    size_t               bytes = (size_t)s->block * sizeof(float);
    const float         *dy;
    float               *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_scatter(l->ctx->stream, s->items, s->n, s->block,
                                    fire_gpu_kept(l), dy, dx));
    for (int64_t i = 0; i < s->items; i++, dx += s->n * s->block)
        for (int64_t j = 0; j < s->n; j++, dy += s->block)
            memcpy(dx + s->from[j] * s->block, dy, bytes);
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_gather_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = gather_prepare,
    .forward  = gather_forward,
    .backward = gather_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_gather_ref = {
    .name     = "ref",
    .prepare  = gather_prepare,
    .forward  = gather_forward,
    .backward = gather_backward,
};

const fire_kernel_t *const fire_gather_kernels[] = {
    FIRE_IF_CUDA(fire_gather_cuda) &fire_gather_ref, NULL};
