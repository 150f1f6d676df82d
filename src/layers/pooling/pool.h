/* pool.h - pooling of planes on the CPU, for Pooling, SPP and LRN within channels, and
 * the geometry of its windows, for the GPU too. */
#ifndef FIRE_LAYERS_POOLING_POOL_H
#define FIRE_LAYERS_POOLING_POOL_H
#include "base/everywhere.h"
#include "layers/layer.h"

FIRE_BEGIN_C
/* Windows over a plane: sizes in elements, [0] height and [1] width; in, out: of x and
 * y. */
typedef struct fire_pool_windows {
    int64_t kernel[2], stride[2], pad[2];
    int64_t in[2], out[2];
} fire_pool_windows_t;

/* Set out[] from the rest. Caffe's rule: round the number of windows up (down if
 * `round_down`); with padding, drop a last window that begins beyond the image and the
 * padding before it. */
fire_status_t fire_pool_reshape(fire_pool_windows_t *p, bool round_down);

/* The rule for one axis: the number of windows, below 1 if there is none. pads: some
 * axis is padded. */
int64_t fire_pool_places(int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                         bool pads, bool round_down);

/* A window: the part of it inside the image, begin ... end - 1. */
typedef struct fire_pool_box {
    int64_t begin[2], end[2];
    int64_t area; /* what AVE divides by: padding counts, overhang behind it does not */
} fire_pool_box_t;

/* The window of output (row, column). */
FIRE_EVERYWHERE fire_pool_box_t fire_pool_box(const fire_pool_windows_t *p, int64_t row,
                                              int64_t column)
{
    int64_t         at[2] = {row, column};
    fire_pool_box_t b;

    b.area = 1;
    for (int i = 0; i < 2; i++) {
        int64_t begin = at[i] * p->stride[i] - p->pad[i];
        int64_t end = begin + p->kernel[i], most = p->in[i] + p->pad[i];

        if (end > most) end = most;
        b.area *= end - begin;
        b.begin[i] = begin < 0 ? 0 : begin;
        b.end[i]   = end < p->in[i] ? end : p->in[i];
    }
    return b;
}

/* SPP's pyramid: level i cuts the image into 2^i x 2^i windows that do not overlap. */
enum { FIRE_PYRAMID_LEVELS = 16 };

typedef struct fire_pyramid {
    int                 levels;
    fire_pool_windows_t level[FIRE_PYRAMID_LEVELS];
    int64_t offset[FIRE_PYRAMID_LEVELS + 1]; /* of each level in one image's result */
} fire_pyramid_t;

/* x, dx: (planes, in), y, dy: (planes, out). index: (planes, out), where in its plane
 * each value came from; -1 for a window outside of the image. Backward overwrites
 * dx. */
void fire_pool_max(const fire_pool_windows_t *p, int64_t planes, const float *x,
                   float *y, int32_t *index);
void fire_pool_pick_back(const fire_pool_windows_t *p, int64_t planes, const float *dy,
                         const int32_t *index, float *dx);
void fire_pool_ave(const fire_pool_windows_t *p, int64_t planes, const float *x,
                   float *y);
void fire_pool_ave_back(const fire_pool_windows_t *p, int64_t planes, const float *dy,
                        float *dx);
/* Stochastic pooling (Zeiler and Fergus, 2013). Training (draw) takes an element with a
 * probability proportional to its value; u: (planes, out), uniform random numbers of
 * [0, 1). Testing (expect) takes the mean under that distribution. */
void fire_pool_draw(const fire_pool_windows_t *p, int64_t planes, const float *u,
                    const float *x, float *y, int32_t *index);
void fire_pool_expect(const fire_pool_windows_t *p, int64_t planes, const float *x,
                      float *y);
FIRE_END_C
#endif
