/* euclidean_loss.c - loss = sum((a - b)^2) / 2N; both bottoms take a gradient */
#include "device/cpu/blas.h"
#include "layers/cuda/losses.h"

typedef struct euclidean {
    fire_scratch_t diff; /* a - b */
} euclidean_t;

static fire_status_t euclidean_reshape(fire_layer_t *l)
{
    FIRE_TRY(fire_loss_reshape_pair(l));
    return fire_scratch_fit(&FIRE_STATE(l, euclidean_t)->diff,
                            fire_blob_count(l->bottom[0]));
}

static fire_status_t euclidean_forward(fire_layer_t *l)
{
    float       *diff  = FIRE_STATE(l, euclidean_t)->diff.x;
    int64_t      n     = fire_blob_count(l->bottom[0]);
    float        items = (float)fire_blob_dim_or_1(l->bottom[0], 0);
    const float *a, *b;
    float       *top;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &b);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_IF_GPU(
        l, fire_gpu_pair_loss(
               l->ctx->stream,
               &(fire_gpu_pair_t){.kind = FIRE_PAIR_SQUARE, .n = n, .a = a, .b = b},
               0.5f / items, top));
    for (int64_t i = 0; i < n; i++)
        diff[i] = a[i] - b[i];
    top[0] = fire_dot(n, diff, diff) / items / 2.0f;
    return FIRE_OK;
}

/* The divisor's sign is the bottom's. */
static fire_status_t backward_to(fire_layer_t *l, int bottom, float divisor)
{
    const float    *diff = FIRE_STATE(l, euclidean_t)->diff.x;
    fire_gpu_pair_t pair = {.kind = FIRE_PAIR_SQUARE,
                            .n    = fire_blob_count(l->bottom[0])};
    const float    *seed;
    float          *dx, weight;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &pair.a);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &pair.b);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_OUT(l, l->bottom[bottom], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_pair_dx(l->ctx->stream, &pair, seed, divisor, dx));
    weight = seed[0] / divisor;
    for (int64_t i = 0; i < pair.n; i++)
        dx[i] = weight * diff[i];
    return FIRE_OK;
}

static fire_status_t euclidean_backward(fire_layer_t *l)
{
    float items = (float)fire_blob_dim_or_1(l->bottom[0], 0);

    if (l->propagate_down[0]) FIRE_TRY(backward_to(l, 0, items));
    if (l->propagate_down[1]) FIRE_TRY(backward_to(l, 1, -items));
    return FIRE_OK;
}

static void euclidean_teardown(fire_layer_t *l)
{
    fire_scratch_free(&FIRE_STATE(l, euclidean_t)->diff);
}

static const fire_kernel_t euclidean_kernels[] = {
    FIRE_CUDA_ROW(.forward = euclidean_forward, .backward = euclidean_backward){
        .name = "ref", .forward = euclidean_forward, .backward = euclidean_backward},
    {0},
};

const fire_layer_ops_t fire_layer_euclidean_loss = {
    .type       = "EuclideanLoss",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .state_size = sizeof(euclidean_t),
    .reshape    = euclidean_reshape,
    .teardown   = euclidean_teardown,
    .kernels    = euclidean_kernels,
};
