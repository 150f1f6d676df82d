/* correlation.h - Correlation of two images, element by element; inline for CPU and
 * GPU. */
#ifndef FIRE_LAYERS_FLOW_CORRELATION_H
#define FIRE_LAYERS_FLOW_CORRELATION_H
#include <math.h>

#include "base/everywhere.h"
#include "layers/layer.h"
#include "layers/scalar.h"

FIRE_BEGIN_C
/* a, b: (N, channels, in); y: (N, grid[0] grid[1], out). [0] height, [1] width. */
typedef struct fire_correlation {
    int64_t channels, in[2], out[2];
    int64_t kernel, stride1, stride2;
    int64_t pad[2], reach[2]; /* zeros around, the largest displacement */
    int64_t grid[2],
        least[2]; /* displacements: how many, and the number of the first */
    bool subtract;
} fire_correlation_t;

/* The element at (h, w) of a plane, 0 outside of it. */
FIRE_EVERYWHERE float fire_corr_at(const fire_correlation_t *p, const float *x,
                                   int64_t h, int64_t w)
{
    return h >= 0 && w >= 0 && h < p->in[0] && w < p->in[1] ? x[h * p->in[1] + w]
                                                            : 0.0f;
}

/* Displacement number d along an axis, in elements. */
FIRE_EVERYWHERE int64_t fire_corr_shift(const fire_correlation_t *p, int axis,
                                        int64_t d)
{
    return (p->least[axis] + d) * p->stride2;
}

/* Where in the image the kernel of place o begins along an axis. */
FIRE_EVERYWHERE int64_t fire_corr_begin(const fire_correlation_t *p, int axis,
                                        int64_t o)
{
    return o * p->stride1 + p->reach[axis] - p->pad[axis];
}

FIRE_EVERYWHERE float fire_corr_scale(const fire_correlation_t *p)
{
    return 1.0f / (float)(p->kernel * p->kernel * p->channels);
}

/* Element i of the top of one item: the mean of a * b, or of |a - b|, over the kernel. */
FIRE_EVERYWHERE float fire_corr_value(const fire_correlation_t *p, const float *a,
                                      const float *b, int64_t i)
{
    int64_t plane = p->in[0] * p->in[1], d = i / p->out[1] / p->out[0];
    int64_t h   = fire_corr_begin(p, 0, i / p->out[1] % p->out[0]);
    int64_t w   = fire_corr_begin(p, 1, i % p->out[1]);
    int64_t dh  = fire_corr_shift(p, 0, d / p->grid[1]);
    int64_t dw  = fire_corr_shift(p, 1, d % p->grid[1]);
    float   sum = 0.0f;

    for (int64_t c = 0; c < p->channels; c++, a += plane, b += plane)
        for (int64_t k = 0; k < p->kernel * p->kernel; k++) {
            int64_t y = h + k / p->kernel, x = w + k % p->kernel;
            float u = fire_corr_at(p, a, y, x), v = fire_corr_at(p, b, y + dh, x + dw);

            sum += p->subtract ? fabsf(u - v) : u * v;
        }
    return sum * fire_corr_scale(p);
}

/* The gradient of element i of one bottom of an item, whose own values are `mine` and
 * those of the other bottom `other`; second: it is the bottom that is displaced. */
FIRE_EVERYWHERE float fire_corr_gradient(const fire_correlation_t *p, bool second,
                                         const float *mine, const float *other,
                                         const float *dy, int64_t i)
{
    int64_t plane = p->in[0] * p->in[1], first = i / plane * plane;
    int64_t h = i % plane / p->in[1], w = i % p->in[1];
    float   sum = 0.0f;

    for (int64_t d = 0; d < p->grid[0] * p->grid[1]; d++) {
        int64_t dh = fire_corr_shift(p, 0, d / p->grid[1]);
        int64_t dw = fire_corr_shift(p, 1, d % p->grid[1]);
        int64_t y = second ? h - dh : h, x = second ? w - dw : w; /* in bottom 0 */
        float   v     = second ? fire_corr_at(p, other + first, y, x)
                               : fire_corr_at(p, other + first, y + dh, x + dw);
        float   slope = p->subtract ? fire_sign(mine[i] - v) : v;

        for (int64_t k = 0; k < p->kernel * p->kernel; k++) {
            int64_t oh = y - k / p->kernel - fire_corr_begin(p, 0, 0);
            int64_t ow = x - k % p->kernel - fire_corr_begin(p, 1, 0);

            if (oh < 0 || ow < 0 || oh % p->stride1 != 0 || ow % p->stride1 != 0 ||
                oh / p->stride1 >= p->out[0] || ow / p->stride1 >= p->out[1])
                continue;
            sum += slope *
                   dy[(d * p->out[0] + oh / p->stride1) * p->out[1] + ow / p->stride1];
        }
    }
    return sum * fire_corr_scale(p);
}

fire_status_t fire_correlation_setup(fire_layer_t *l, bool one_axis);
fire_status_t fire_correlation_reshape(fire_layer_t *l);
extern const fire_kernel_t *const fire_correlation_kernels[];

fire_status_t fire_gpu_correlation(fire_stream_t *s, const fire_correlation_t *p,
                                   int64_t items, const float *a, const float *b,
                                   float *y);
fire_status_t fire_gpu_correlation_back(fire_stream_t *s, const fire_correlation_t *p,
                                        int64_t items, bool second, const float *mine,
                                        const float *other, const float *dy, float *dx);
FIRE_END_C
#endif
