/* batch_reindex.c - top[i] = bottom0[bottom1[i]]: picks items by index, in any order,
 * any number of times. Gradients of an item that is picked several times add up. */
#include <string.h>

#include "layers/shape/move.h"

static fire_status_t batch_reindex_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0], *index = l->bottom[1];
    int64_t            dim[FIRE_MAX_DIMS];

    if (index->ndim != 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "bottom 1, the indices, must have one axis, not %d",
                         index->ndim);
    if (x->ndim < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "bottom 0 has no item axis (axis 0)");
    memcpy(dim, x->dim, sizeof(dim));
    dim[0] = index->dim[0];
    return fire_blob_reshape(l->top[0], x->ndim, dim);
}

static fire_status_t source_item(const fire_layer_t *l, const float *index, int64_t i,
                                 int64_t *item_p)
{
    if (!(index[i] >= 0.0f && index[i] < (float)l->bottom[0]->dim[0]))
        return FIRE_FAIL(FIRE_ERR_INVALID, "index %g at place %lld, of %lld items",
                         (double)index[i], (long long)i,
                         (long long)l->bottom[0]->dim[0]);
    *item_p = (int64_t)index[i];
    return FIRE_OK;
}

static int64_t item_size(const fire_layer_t *l)
{
    return fire_blob_count_range(l->bottom[0], 1, l->bottom[0]->ndim);
}

static fire_status_t batch_reindex_forward(fire_layer_t *l)
{
    int64_t      n = item_size(l), from = 0;
    const float *x, *index;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &index);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_rows(l->ctx->stream, l->bottom[0]->dim[0], n,
                                 l->top[0]->dim[0], index, x, y));
    for (int64_t i = 0; i < l->top[0]->dim[0]; i++) {
        FIRE_TRY(source_item(l, index, i, &from));
        memcpy(y + i * n, x + from * n, (size_t)n * sizeof(*y));
    }
    return FIRE_OK;
}

static fire_status_t batch_reindex_backward(fire_layer_t *l)
{
    int64_t      n = item_size(l), to = 0;
    const float *index, *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &index);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_rows_back(l->ctx->stream, l->bottom[0]->dim[0], n,
                                      l->top[0]->dim[0], index, dy, dx));
    memset(dx, 0, (size_t)fire_blob_count(l->bottom[0]) * sizeof(*dx));
    for (int64_t i = 0; i < l->top[0]->dim[0]; i++) {
        FIRE_TRY(source_item(l, index, i, &to));
        for (int64_t j = 0; j < n; j++)
            dx[to * n + j] += dy[i * n + j];
    }
    return FIRE_OK;
}

const fire_kernel_t fire_batch_reindex_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = batch_reindex_forward,
    .backward = batch_reindex_backward,
};

const fire_kernel_t fire_batch_reindex_ref = {
    .name     = "ref",
    .forward  = batch_reindex_forward,
    .backward = batch_reindex_backward,
};

static const fire_kernel_t *const batch_reindex_kernels[] = {
    FIRE_IF_CUDA(fire_batch_reindex_cuda) &fire_batch_reindex_ref, NULL};

const fire_layer_ops_t fire_layer_batch_reindex = {
    .type        = "BatchReindex",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .no_gradient = 1 << 1,
    .reshape     = batch_reindex_reshape,
    .kernels     = batch_reindex_kernels,
};
