/* vector_length.c - ChannelNorm, of FlowNet2: the length of the vector of channels at
 * each place.
 *
 *   bottom 0: (N, C, H, W)      top 0: (N, 1, H, W) */
#include "layers/flow/vector_length.h"

#include <math.h>

#include "device/cpu/parallel.h"

static fire_status_t vector_length_reshape(fire_layer_t *l)
{
    const fire_blob_t *x                  = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS] = {0};

    if (x->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the bottom has no channel axis (axis 1)");
    for (int i = 0; i < x->ndim; i++)
        dim[i] = i == 1 ? 1 : x->dim[i];
    return fire_blob_reshape(l->top[0], x->ndim, dim);
}

static fire_status_t vector_length_forward(fire_layer_t *l)
{
    fire_blob_t *b = l->bottom[0];
    int64_t      c = b->dim[1], n = fire_blob_count(l->top[0]);
    int64_t      plane = fire_blob_count_range(b, 2, b->ndim);
    const float *x;
    float       *y;

    FIRE_IN(l, b, FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_vector_length(l->ctx->stream, b->dim[0], c, plane, x, y));
    FIRE_PARALLEL(i, n, n * c > FIRE_GRAIN)
    {
        const float *at  = x + i / plane * c * plane + i % plane;
        float        sum = 0.0f;

        for (int64_t k = 0; k < c; k++)
            sum += at[k * plane] * at[k * plane];
        y[i] = sqrtf(sum);
    }
    return FIRE_OK;
}

/* dx = dy x / y; 0 where y is. */
static fire_status_t vector_length_backward(fire_layer_t *l)
{
    fire_blob_t *b = l->bottom[0];
    int64_t      c = b->dim[1], n = fire_blob_count(b);
    int64_t      plane = fire_blob_count_range(b, 2, b->ndim);
    const float *x, *y, *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, b, FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DATA, &y);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_vector_length_dx(l->ctx->stream, b->dim[0], c, plane, x, y,
                                             dy, dx));
    FIRE_PARALLEL(i, n, n > FIRE_GRAIN)
    {
        int64_t at = i / (c * plane) * plane + i % plane;

        dx[i] = y[at] > 0.0f ? dy[at] * x[i] / y[at] : 0.0f;
    }
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_vector_length_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = vector_length_forward,
    .backward = vector_length_backward,
};
#endif

const fire_kernel_t fire_vector_length_ref = {
    .name     = "ref",
    .forward  = vector_length_forward,
    .backward = vector_length_backward,
};

static const fire_kernel_t *const vector_length_kernels[] = {
    FIRE_IF_CUDA(fire_vector_length_cuda) &fire_vector_length_ref, NULL};

const fire_layer_ops_t fire_layer_vector_length = {
    .type    = "ChannelNorm",
    .bottoms = {1, 1},
    .tops    = {1, 1},
    .reshape = vector_length_reshape,
    .kernels = vector_length_kernels,
};
