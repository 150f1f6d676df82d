/* view.c - a top that shares the memory of its bottom. */
#include "layers/shape/view.h"

void fire_view_share(fire_layer_t *l)
{
    fire_blob_share(l->top[0], l->bottom[0], FIRE_DATA);
    fire_blob_share(l->top[0], l->bottom[0], FIRE_DIFF);
}

fire_status_t fire_view_reshape(fire_layer_t *l, int ndim, const int64_t *dim)
{
    FIRE_TRY(fire_blob_reshape(l->top[0], ndim, dim));
    fire_view_share(l);
    return FIRE_OK;
}

static fire_status_t view_forward(fire_layer_t *l)
{
    fire_view_share(l);
    return FIRE_OK;
}

static fire_status_t view_backward(fire_layer_t *l)
{
    (void)l; /* both ends are the same memory */
    return FIRE_OK;
}

const fire_kernel_t fire_view_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = view_forward,
    .backward = view_backward,
};

const fire_kernel_t fire_view_ref = {
    .name     = "ref",
    .forward  = view_forward,
    .backward = view_backward,
};

const fire_kernel_t *const fire_view_kernels[] = {
    FIRE_IF_CUDA(fire_view_cuda) &fire_view_ref, NULL};
