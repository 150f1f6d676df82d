/* pooling_nd.c - Pooling where an image has one spatial axis, or three and more: a video
 * (N, C, length, height, width). MAX and AVE. */
#include "layers/pooling/pooling.h"

#include "device/cpu/parallel.h"
#include "layers/memory_cuda.h"

fire_status_t fire_pooling_nd_forward(fire_layer_t *l, int32_t *index)
{
    const fire_pool_nd_t *p      = &FIRE_STATE(l, fire_pooling_t)->nd;
    int64_t               planes = fire_blob_count_range(l->bottom[0], 0, 2);
    const float          *x;
    float                *y, *mask = NULL;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    if (l->ntop > 1) FIRE_OUT(l, l->top[1], FIRE_DATA, &mask);
    FIRE_IF_GPU(l, fire_gpu_pool_nd(l->ctx->stream, p, planes, x, y, index, mask));
    FIRE_PARALLEL(k, planes, planes * p->size_in > FIRE_GRAIN)
    for (int64_t o = 0; o < p->size_out; o++) {
        int64_t at = k * p->size_out + o;

        y[at] = fire_pool_nd_value(p, x + k * p->size_in, o, &index[at]);
        if (mask != NULL) mask[at] = (float)index[at];
    }
    return FIRE_OK;
}

fire_status_t fire_pooling_nd_backward(fire_layer_t *l, const int32_t *index)
{
    const fire_pool_nd_t *p      = &FIRE_STATE(l, fire_pooling_t)->nd;
    int64_t               planes = fire_blob_count_range(l->bottom[0], 0, 2);
    const float          *dy;
    float                *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_pool_nd_back(l->ctx->stream, p, planes, dy, index, dx));
    FIRE_PARALLEL(k, planes, planes * p->size_in > FIRE_GRAIN)
    for (int64_t i = 0; i < p->size_in; i++)
        dx[k * p->size_in + i] =
            fire_pool_nd_gradient(p, dy + k * p->size_out, index + k * p->size_out, i);
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
static const char *pooling_nd_declines(const fire_layer_t *l)
{
    return FIRE_STATE(l, fire_pooling_t)->nd.axes == 2 ? "not for two spatial axes"
                                                       : NULL;
}

static fire_status_t pooling_nd_prepare(fire_layer_t *l)
{
    return fire_gpu_keep(l, (size_t)fire_blob_count(l->top[0]) * sizeof(int32_t));
}

static fire_status_t gpu_forward(fire_layer_t *l)
{
    return fire_pooling_nd_forward(l, fire_gpu_kept(l));
}

static fire_status_t gpu_backward(fire_layer_t *l)
{
    return fire_pooling_nd_backward(l, fire_gpu_kept(l));
}

const fire_kernel_t fire_pooling_nd_cuda = {
    .name     = "nd",
    .where    = FIRE_GPU,
    .declines = pooling_nd_declines,
    .prepare  = pooling_nd_prepare,
    .forward  = gpu_forward,
    .backward = gpu_backward,
    .release  = fire_gpu_release,
};
#endif
