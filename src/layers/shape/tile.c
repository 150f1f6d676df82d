/* tile.c - repeats the bottom `tiles` times along an axis */
#include <string.h>

#include "device/cpu/blas.h"
#include "layers/shape/move.h"

typedef struct tile {
    int64_t tiles, outer, inner; /* outer: product of the dimensions before the axis;
                                  * inner: of the axis and those after it */
} tile_t;

static fire_status_t tile_reshape(fire_layer_t *l)
{
    const Caffe__TileParameter *p =
        FIRE_PARAM(l, tile_param, CAFFE__TILE_PARAMETER__INIT);
    const fire_blob_t *x = l->bottom[0];
    tile_t            *s = l->state;
    int64_t            dim[FIRE_MAX_DIMS];
    int                axis;

    if (p->tiles < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "tiles %d; it must be at least 1", p->tiles);
    FIRE_TRY(fire_blob_axis(x, p->axis, "tile_param", &axis));
    s->tiles = p->tiles;
    s->outer = fire_blob_count_range(x, 0, axis);
    s->inner = fire_blob_count_range(x, axis, x->ndim);
    memcpy(dim, x->dim, sizeof(dim));
    if (__builtin_mul_overflow(dim[axis], s->tiles, &dim[axis]))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%d tiles of %lld elements are too many",
                         p->tiles, (long long)x->dim[axis]);
    return fire_blob_reshape(l->top[0], x->ndim, dim);
}

static fire_status_t tile_forward(fire_layer_t *l)
{
    const tile_t *s = l->state;
    const float  *x;
    float        *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_tile(l->ctx->stream, s->outer, s->tiles, s->inner, x, y));
    for (int64_t i = 0; i < s->outer; i++, x += s->inner)
        for (int64_t t = 0; t < s->tiles; t++, y += s->inner)
            fire_copy(s->inner, x, y);
    return FIRE_OK;
}

static fire_status_t tile_backward(fire_layer_t *l)
{
    const tile_t *s = l->state;
    const float  *dy;
    float        *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(
        l, fire_gpu_tile_back(l->ctx->stream, s->outer, s->tiles, s->inner, dy, dx));
    for (int64_t i = 0; i < s->outer; i++, dx += s->inner) {
        fire_copy(s->inner, dy, dx);
        dy += s->inner;
        for (int64_t t = 1; t < s->tiles; t++, dy += s->inner)
            fire_axpy(s->inner, 1.0f, dy, dx);
    }
    return FIRE_OK;
}

const fire_kernel_t fire_tile_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = tile_forward,
    .backward = tile_backward,
};

const fire_kernel_t fire_tile_ref = {
    .name     = "ref",
    .forward  = tile_forward,
    .backward = tile_backward,
};

static const fire_kernel_t *const tile_kernels[] = {
    FIRE_IF_CUDA(fire_tile_cuda) &fire_tile_ref, NULL};

const fire_layer_ops_t fire_layer_tile = {
    .type       = "Tile",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(tile_t),
    .reshape    = tile_reshape,
    .kernels    = tile_kernels,
};
