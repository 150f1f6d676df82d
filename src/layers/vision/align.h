/* align.h - feature maps read between their places, for ROIAlign, ROIWarping and
 * MaskResize: each element of the result (regions, C, H', W') is the mean of a lattice of
 * points of the map (N, C, H, W), interpolated bilinearly. In arrays of two, [0] is
 * height and [1] width. Inline functions are for CPU and GPU. */
#ifndef FIRE_LAYERS_VISION_ALIGN_H
#define FIRE_LAYERS_VISION_ALIGN_H
#include "layers/vision/interp.h"
#include "layers/vision/roi.h"

typedef enum fire_align_kind {
    FIRE_ALIGN_MEAN, /* several points inside of each bin of the region (Mask R-CNN) */
    FIRE_ALIGN_GRID, /* one at each corner of a bin (MS-CNN, Cascade R-CNN) */
    FIRE_ALIGN_WARP, /* one at the start of each bin, of regions in whole places (MNC) */
    FIRE_ALIGN_SIZE, /* no regions: the whole map, item by item (MNC's MaskResize) */
} fire_align_kind_t;

/* A layer and the shapes of a pass. */
typedef struct fire_align {
    fire_align_kind_t kind;
    float             scale; /* from a region's coordinates to places */
    float             pad; /* GRID: a region grows by that part of itself, each side */
    int64_t           points; /* MEAN: along a side of a bin; 0: as many as places */
    int64_t           in[4], out[4];
    const float      *roi; /* (regions, FIRE_ROI_ROW); NULL with SIZE */
} fire_align_t;

/* The points of one region along both axes. */
typedef struct fire_lattice {
    float   start[2], bin[2];
    int64_t points[2]; /* to a bin; 0: the region has none, its result is 0 */
} fire_lattice_t;

/* Read the shapes of bottom 0 and top 0 into a. */
static inline void fire_align_shapes(const fire_layer_t *l, fire_align_t *a)
{
    for (int i = 0; i < 4; i++) {
        a->in[i]  = l->bottom[0]->dim[i];
        a->out[i] = l->top[0]->dim[i];
    }
}

FIRE_BEGIN_C
/* The kernels: the state of the layer is a fire_align_t, whose settings setup fills. */
extern const fire_kernel_t *const fire_align_kernels[];
/* Reshape with regions in bottom 1: top 0 becomes (regions, C, height, width). */
fire_status_t fire_align_reshape(fire_layer_t *l, int64_t height, int64_t width);

/* On a GPU; a region of an image that does not exist gives NaN. */
fire_status_t fire_gpu_align(fire_stream_t *s, const fire_align_t *a, const float *x,
                             float *y);
fire_status_t fire_gpu_align_back(fire_stream_t *s, const fire_align_t *a,
                                  const float *dy, float *dx);
fire_status_t fire_gpu_align_back_roi(fire_stream_t *s, const fire_align_t *a,
                                      const float *x, const float *dy, float *droi);
FIRE_END_C

FIRE_EVERYWHERE fire_lattice_t fire_align_lattice(const fire_align_t *a, int64_t region)
{
    const float   *roi = a->roi + region * FIRE_ROI_ROW;
    fire_lattice_t t;

    for (int i = 0; i < 2; i++) {
        float low, high;

        t.points[i] = 1;
        if (a->kind == FIRE_ALIGN_SIZE) {
            t.start[i] = 0.0f;
            t.bin[i]   = (float)a->in[2 + i] / (float)a->out[2 + i];
            continue;
        }
        low  = roi[2 - i];
        high = roi[4 - i];
        if (a->kind == FIRE_ALIGN_GRID) {
            float pad = (high - low + 1.0f) * a->pad;

            t.start[i] = (low - pad) * a->scale - 0.5f;
            high       = (high + pad) * a->scale - 0.5f;
            t.bin[i]   = (high - t.start[i]) / (float)(a->out[2 + i] - 1);
            if (!(high > t.start[i])) t.points[i] = 0;
        } else if (a->kind == FIRE_ALIGN_WARP) {
            t.start[i] = roundf(low * a->scale);
            high       = fmaxf(roundf(high * a->scale) - t.start[i], 0.0f);
            t.bin[i]   = high / (float)a->out[2 + i];
        } else {
            t.start[i]  = low * a->scale;
            high        = fmaxf(high * a->scale - t.start[i], 1.0f);
            t.bin[i]    = high / (float)a->out[2 + i];
            t.points[i] = a->points > 0 ? a->points : (int64_t)ceilf(t.bin[i]);
        }
    }
    if (t.points[0] * t.points[1] == 0) t.points[0] = t.points[1] = 0;
    return t;
}

/* Where point number `point` of bin number `bin` lies along an axis. */
FIRE_EVERYWHERE float fire_align_at(const fire_align_t *a, const fire_lattice_t *t,
                                    int axis, int64_t bin, int64_t point)
{
    float at = (float)bin;

    if (a->kind == FIRE_ALIGN_MEAN)
        at += ((float)point + 0.5f) / (float)t->points[axis];
    return t->start[axis] + at * t->bin[axis];
}

/* The two places that a point lies between, and their shares; both 0 for a point outside
 * of the map. */
FIRE_EVERYWHERE fire_mix_t fire_align_mix(const fire_align_t *a, int axis, float at)
{
    int64_t    n      = a->in[2 + axis];
    float      margin = a->kind == FIRE_ALIGN_MEAN ? 1.0f : 0.5f; /* counts as inside */
    fire_mix_t m      = {0, 0, 0.0f, 0.0f};

    if (!(at >= -margin && at <= (float)(n - 1) + margin)) return m;
    at       = fminf(fmaxf(at, 0.0f), (float)(n - 1));
    m.low    = (int64_t)at;
    m.high   = m.low < n - 1 ? m.low + 1 : m.low;
    m.w_high = at - (float)m.low;
    m.w_low  = 1.0f - m.w_high;
    return m;
}

FIRE_EVERYWHERE fire_mix_t fire_align_point(const fire_align_t   *a,
                                            const fire_lattice_t *t, int axis,
                                            int64_t bin, int64_t point)
{
    return fire_align_mix(a, axis, fire_align_at(a, t, axis, bin, point));
}

/* Share of place `at` in a point. */
FIRE_EVERYWHERE float fire_mix_share(const fire_mix_t *m, int64_t at)
{
    return (at == m->low ? m->w_low : 0.0f) + (at == m->high ? m->w_high : 0.0f);
}

FIRE_EVERYWHERE float fire_align_value(const fire_mix_t *h, const fire_mix_t *w,
                                       int64_t width, const float *x)
{
    const float *low = x + h->low * width, *high = x + h->high * width;

    return h->w_low * (w->w_low * low[w->low] + w->w_high * low[w->high]) +
           h->w_high * (w->w_low * high[w->low] + w->w_high * high[w->high]);
}

/* The gradients of the value with respect to the height and the width of the point. */
FIRE_EVERYWHERE void fire_align_slope(const fire_mix_t *h, const fire_mix_t *w,
                                      int64_t width, const float *x, float *slope)
{
    const float *low = x + h->low * width, *high = x + h->high * width;
    bool         inside = h->w_low + h->w_high > 0.0f && w->w_low + w->w_high > 0.0f;

    slope[0] = slope[1] = 0.0f;
    if (!inside) return;
    slope[0] = w->w_low * (high[w->low] - low[w->low]) +
               w->w_high * (high[w->high] - low[w->high]);
    slope[1] = h->w_low * (low[w->high] - low[w->low]) +
               h->w_high * (high[w->high] - high[w->low]);
}
#endif
