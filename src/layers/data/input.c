/* input.c - Input: tops that the caller fills.
 *
 *   top i: the shape of input_param, one for all tops or one for each; empty without */
#include "layers/layer.h"

static fire_status_t input_setup(fire_layer_t *l)
{
    const Caffe__InputParameter *p      = l->param->input_param;
    int                          nshape = p != NULL ? (int)p->n_shape : 0;

    if (nshape > 1 && nshape != l->ntop)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d shapes for %d tops; give none, one, or one for each",
                         nshape, l->ntop);
    for (int i = 0; i < l->ntop && nshape > 0; i++) {
        const Caffe__BlobShape *shape = p->shape[nshape == 1 ? 0 : i];

        FIRE_TRY(fire_blob_reshape(l->top[i], (int)shape->n_dim, shape->dim));
    }
    return FIRE_OK;
}

/* The caller may give the tops other shapes later, so nothing is reshaped here. */
static fire_status_t input_reshape(fire_layer_t *l)
{
    (void)l;
    return FIRE_OK;
}

const fire_kernel_t fire_input_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .forward = input_reshape,
};

const fire_kernel_t fire_input_ref = {
    .name    = "ref",
    .forward = input_reshape,
};

static const fire_kernel_t *const input_kernels[] = {&fire_input_cuda, &fire_input_ref,
                                                     NULL};

const fire_layer_ops_t fire_layer_input = {
    .type    = "Input",
    .bottoms = {0, 0},
    .tops    = {1, -1},
    .setup   = input_setup,
    .reshape = input_reshape,
    .kernels = input_kernels,
};
