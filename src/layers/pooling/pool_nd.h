/* pool_nd.h - pooling over any number of spatial axes: which elements a window holds and
 * which windows hold an element, inline for CPU and GPU. Images are (planes, in...),
 * results (planes, out...). */
#ifndef FIRE_LAYERS_POOLING_POOL_ND_H
#define FIRE_LAYERS_POOLING_POOL_ND_H
#include "base/everywhere.h"
#include "device/window.h"
#include "layers/layer.h"

FIRE_BEGIN_C
/* Sizes along each axis, in elements; size_in and size_out are of a plane. */
typedef struct fire_pool_nd {
    int     axes;
    bool    max; /* MAX, else AVE */
    int64_t kernel[FIRE_MAX_SPATIAL], stride[FIRE_MAX_SPATIAL], pad[FIRE_MAX_SPATIAL];
    int64_t in[FIRE_MAX_SPATIAL], out[FIRE_MAX_SPATIAL];
    int64_t size_in, size_out;
} fire_pool_nd_t;

/* A box of places in an array of shape `dim`: begin ... end - 1 along each axis. `at` is
 * the place of the walk through it, last axis fastest, and `offset` its element. */
typedef struct fire_pool_walk {
    int64_t begin[FIRE_MAX_SPATIAL], end[FIRE_MAX_SPATIAL], at[FIRE_MAX_SPATIAL];
    int64_t offset;
    int64_t area;  /* of a window: what AVE divides by, see fire_pool_box_t */
    bool    empty; /* no element lies inside */
} fire_pool_walk_t;

/* Go to the first place. */
FIRE_EVERYWHERE void fire_pool_walk_begin(int axes, const int64_t *dim,
                                          fire_pool_walk_t *b)
{
    b->offset = 0;
    b->empty  = false;
    for (int i = 0; i < axes; i++) {
        b->at[i]  = b->begin[i];
        b->offset = b->offset * dim[i] + b->begin[i];
        if (b->begin[i] >= b->end[i]) b->empty = true;
    }
}

/* Go to the next place; false at the end. */
FIRE_EVERYWHERE bool fire_pool_walk_next(int axes, const int64_t *dim,
                                         fire_pool_walk_t *b)
{
    int64_t step = 1;

    for (int i = axes - 1; i >= 0; i--) {
        if (++b->at[i] < b->end[i]) {
            b->offset += step;
            return true;
        }
        b->offset -= (b->at[i] - 1 - b->begin[i]) * step;
        b->at[i] = b->begin[i];
        step *= dim[i];
    }
    return false;
}

/* The part of output o's window that lies inside the image. */
FIRE_EVERYWHERE fire_pool_walk_t fire_pool_window_of(const fire_pool_nd_t *p, int64_t o)
{
    fire_pool_walk_t b;

    b.area = 1;
    for (int i = p->axes - 1; i >= 0; i--, o /= p->out[i + 1]) {
        int64_t begin = o % p->out[i] * p->stride[i] - p->pad[i];
        int64_t end = begin + p->kernel[i], most = p->in[i] + p->pad[i];

        if (end > most) end = most;
        b.area *= end - begin;
        b.begin[i] = begin < 0 ? 0 : begin;
        b.end[i]   = end < p->in[i] ? end : p->in[i];
    }
    fire_pool_walk_begin(p->axes, p->in, &b);
    return b;
}

/* The outputs whose windows hold element x. */
FIRE_EVERYWHERE fire_pool_walk_t fire_pool_windows_with(const fire_pool_nd_t *p,
                                                        int64_t               x)
{
    fire_pool_walk_t b;

    b.area = 0;
    for (int i = p->axes - 1; i >= 0; i--, x /= p->in[i + 1]) {
        int64_t far = x % p->in[i] + p->pad[i], end = far / p->stride[i] + 1;

        b.begin[i] = far < p->kernel[i] ? 0 : (far - p->kernel[i]) / p->stride[i] + 1;
        b.end[i]   = end < p->out[i] ? end : p->out[i];
    }
    fire_pool_walk_begin(p->axes, p->out, &b);
    return b;
}

/* The largest element of output o's window in plane x, and where it is (-1: nowhere),
 * or the mean. */
FIRE_EVERYWHERE float fire_pool_nd_value(const fire_pool_nd_t *p, const float *x,
                                         int64_t o, int32_t *index)
{
    fire_pool_walk_t b    = fire_pool_window_of(p, o);
    float            best = -3.402823466e+38f, sum = 0.0f;
    bool             more = !b.empty;

    *index = -1;
    for (; more; more = fire_pool_walk_next(p->axes, p->in, &b)) {
        sum += x[b.offset];
        if (x[b.offset] > best) {
            best   = x[b.offset];
            *index = (int32_t)b.offset;
        }
    }
    if (p->max) return best;
    return b.area != 0 ? sum / (float)b.area : 0.0f;
}

/* The gradient of element x of a plane, whose outputs have gradients dy and came from
 * index (MAX only). */
FIRE_EVERYWHERE float fire_pool_nd_gradient(const fire_pool_nd_t *p, const float *dy,
                                            const int32_t *index, int64_t x)
{
    fire_pool_walk_t b    = fire_pool_windows_with(p, x);
    bool             more = !b.empty;
    float            sum  = 0.0f;

    for (; more; more = fire_pool_walk_next(p->axes, p->out, &b)) {
        if (!p->max)
            sum += dy[b.offset] / (float)fire_pool_window_of(p, b.offset).area;
        else if (index[b.offset] == x)
            sum += dy[b.offset];
    }
    return sum;
}

/* Forward and backward of the layer where it has not two spatial axes, on both places.
 * index: (planes, out...) where it computes, kept for backward. */
fire_status_t fire_pooling_nd_forward(fire_layer_t *l, int32_t *index);
fire_status_t fire_pooling_nd_backward(fire_layer_t *l, const int32_t *index);

/* On a GPU. mask: the second top, or NULL. */
fire_status_t fire_gpu_pool_nd(fire_stream_t *s, const fire_pool_nd_t *p,
                               int64_t planes, const float *x, float *y, int32_t *index,
                               float *mask);
fire_status_t fire_gpu_pool_nd_back(fire_stream_t *s, const fire_pool_nd_t *p,
                                    int64_t planes, const float *dy,
                                    const int32_t *index, float *dx);
FIRE_END_C
#endif
