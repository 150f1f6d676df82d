/* filter.c - keeps the items whose entry in the last bottom, the selector, is not 0.
 * The number of items, and so the tops' shape, changes with the values. */
#include <string.h>

#include "layers/memory_cuda.h"
#include "layers/shape/move.h"

typedef struct filter {
    int64_t *kept; /* [nkept] items to keep */
    int64_t  nkept, cap;
    bool     shaped; /* before there are values, tops have room for all items */
} filter_t;

static fire_status_t check_shapes(const fire_layer_t *l)
{
    const fire_blob_t *selector = l->bottom[l->nbottom - 1];

    if (l->ntop != l->nbottom - 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d tops for %d bottoms: there is one top for each bottom but "
                         "the selector, which comes last",
                         l->ntop, l->nbottom);
    if (selector->ndim < 1 || selector->count != selector->dim[0])
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the selector (last bottom) must have one value for each item");
    for (int i = 0; i < l->ntop; i++)
        if (fire_blob_dim_or_1(l->bottom[i], 0) != selector->dim[0])
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "bottom %d has %lld items, the selector %lld", i,
                             (long long)fire_blob_dim_or_1(l->bottom[i], 0),
                             (long long)selector->dim[0]);
    return FIRE_OK;
}

static fire_status_t read_selector(fire_layer_t *l)
{
    filter_t    *s        = l->state;
    fire_blob_t *selector = l->bottom[l->nbottom - 1];
    int64_t      n        = selector->dim[0];
    const float *chosen;

    FIRE_TRY(fire_grow(&s->kept, &s->cap, n, sizeof(*s->kept)));
    FIRE_TRY(fire_blob_read(selector, FIRE_DATA, FIRE_CPU, &chosen));
    s->nkept = 0;
    for (int64_t i = 0; i < n; i++)
        if (!s->shaped || chosen[i] != 0.0f) s->kept[s->nkept++] = i;
    s->shaped = true;
    return FIRE_OK;
}

static fire_status_t filter_reshape(fire_layer_t *l)
{
    const filter_t *s = l->state;
    int64_t         dim[FIRE_MAX_DIMS];

    FIRE_TRY(check_shapes(l));
    FIRE_TRY(read_selector(l));
    for (int i = 0; i < l->ntop; i++) {
        memcpy(dim, l->bottom[i]->dim, sizeof(dim));
        dim[0] = s->nkept;
        FIRE_TRY(fire_blob_reshape(l->top[i], l->bottom[i]->ndim, dim));
    }
    return FIRE_OK;
}

static int64_t item_size(const fire_blob_t *b)
{
    return fire_blob_count_range(b, 1, b->ndim);
}

/* On a GPU: copy the list there. */
static fire_status_t send_list(fire_layer_t *l)
{
    const filter_t *s = l->state;

    FIRE_IF_GPU(l, fire_gpu_keep_copy(l, s->kept, (size_t)s->nkept * sizeof(*s->kept)));
    return FIRE_OK;
}

static fire_status_t forward_one(fire_layer_t *l, int i)
{
    const filter_t *s = l->state;
    int64_t         n = item_size(l->bottom[i]);
    const float    *x;
    float          *y;

    FIRE_IN(l, l->bottom[i], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[i], FIRE_DATA, &y);
    FIRE_IF_GPU(
        l, fire_gpu_gather(l->ctx->stream, 1, s->nkept, n, fire_gpu_kept(l), x, y));
    for (int64_t k = 0; k < s->nkept; k++)
        memcpy(y + k * n, x + s->kept[k] * n, (size_t)n * sizeof(*y));
    return FIRE_OK;
}

static fire_status_t filter_forward(fire_layer_t *l)
{
    FIRE_TRY(send_list(l));
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(forward_one(l, i));
    return FIRE_OK;
}

static fire_status_t backward_one(fire_layer_t *l, int i)
{
    const filter_t *s = l->state;
    int64_t         n = item_size(l->bottom[i]);
    const float    *dy;
    float          *dx;

    FIRE_TRY(fire_blob_fill(l->bottom[i], FIRE_DIFF, l->kernel->where, 0.0f));
    FIRE_IN(l, l->top[i], FIRE_DIFF, &dy);
    FIRE_INOUT(l, l->bottom[i], FIRE_DIFF, &dx);
    FIRE_IF_GPU(
        l, fire_gpu_scatter(l->ctx->stream, 1, s->nkept, n, fire_gpu_kept(l), dy, dx));
    for (int64_t k = 0; k < s->nkept; k++)
        memcpy(dx + s->kept[k] * n, dy + k * n, (size_t)n * sizeof(*dx));
    return FIRE_OK;
}

static fire_status_t filter_backward(fire_layer_t *l)
{
    for (int i = 0; i < l->ntop; i++)
        if (l->propagate_down[i]) FIRE_TRY(backward_one(l, i));
    return FIRE_OK;
}

static void filter_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, filter_t)->kept);
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_filter_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = filter_forward,
    .backward = filter_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_filter_ref = {
    .name     = "ref",
    .forward  = filter_forward,
    .backward = filter_backward,
};

static const fire_kernel_t *const filter_kernels[] = {
    FIRE_IF_CUDA(fire_filter_cuda) &fire_filter_ref, NULL};

const fire_layer_ops_t fire_layer_filter = {
    .type       = "Filter",
    .bottoms    = {2, -1},
    .tops       = {1, -1},
    .flags      = FIRE_LAYER_DYNAMIC,
    .state_size = sizeof(filter_t),
    .reshape    = filter_reshape,
    .teardown   = filter_teardown,
    .kernels    = filter_kernels,
};
