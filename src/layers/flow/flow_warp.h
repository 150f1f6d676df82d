/* flow_warp.h - FlowWarp, place by place; inline for CPU and GPU. */
#ifndef FIRE_LAYERS_FLOW_FLOW_WARP_H
#define FIRE_LAYERS_FLOW_FLOW_WARP_H
#include "base/everywhere.h"
#include "layers/layer.h"

FIRE_BEGIN_C
/* image, top: (items, channels, height, width); flow: (items, 2, height, width). fill:
 * what the flow takes from outside of the image */
typedef struct fire_flow_warp {
    int64_t items, channels, height, width;
    float   fill;
} fire_flow_warp_t;

/* Where a place takes its value from: four elements of a plane and how far between
 * them. */
typedef struct fire_flow_source {
    bool    inside;
    int64_t top, bottom, left, right; /* rows and columns */
    float   down, across;             /* 0 ... 1 */
} fire_flow_source_t;

/* Of place i of an item. */
FIRE_EVERYWHERE fire_flow_source_t fire_flow_source(const fire_flow_warp_t *p,
                                                    const float *flow, int64_t i)
{
    float              x = (float)(i % p->width) + flow[i];
    float              y = (float)(i / p->width) + flow[i + p->height * p->width];
    fire_flow_source_t s = {};

    s.inside = x >= 0 && y >= 0 && x < (float)p->width && y < (float)p->height;
    if (!s.inside) return s;
    s.left   = (int64_t)x;
    s.top    = (int64_t)y;
    s.right  = s.left + 1 < p->width ? s.left + 1 : s.left;
    s.bottom = s.top + 1 < p->height ? s.top + 1 : s.top;
    s.across = x - (float)s.left;
    s.down   = y - (float)s.top;
    return s;
}

/* One of the four elements in a plane. */
#define FIRE_FLOW_AT(p, x, row, column) ((x)[(row) * (p)->width + (column)])

FIRE_EVERYWHERE float fire_flow_value(const fire_flow_warp_t *p, fire_flow_source_t s,
                                      const float *x)
{
    if (!s.inside) return p->fill;
    return (1 - s.across) * (1 - s.down) * FIRE_FLOW_AT(p, x, s.top, s.left) +
           s.across * (1 - s.down) * FIRE_FLOW_AT(p, x, s.top, s.right) +
           (1 - s.across) * s.down * FIRE_FLOW_AT(p, x, s.bottom, s.left) +
           s.across * s.down * FIRE_FLOW_AT(p, x, s.bottom, s.right);
}

/* Add what one plane's gradients dy give to its elements, in order of places. */
FIRE_EVERYWHERE void fire_flow_spread(const fire_flow_warp_t *p, const float *flow,
                                      const float *dy, float *dx)
{
    for (int64_t i = 0; i < p->height * p->width; i++)
        dx[i] = 0.0f;
    for (int64_t i = 0; i < p->height * p->width; i++) {
        fire_flow_source_t s = fire_flow_source(p, flow, i);

        if (!s.inside) continue;
        FIRE_FLOW_AT(p, dx, s.top, s.left) += dy[i] * (1 - s.across) * (1 - s.down);
        FIRE_FLOW_AT(p, dx, s.top, s.right) += dy[i] * s.across * (1 - s.down);
        FIRE_FLOW_AT(p, dx, s.bottom, s.left) += dy[i] * (1 - s.across) * s.down;
        FIRE_FLOW_AT(p, dx, s.bottom, s.right) += dy[i] * s.across * s.down;
    }
}

/* The gradient of the flow at place i of an item: dflow[i] across, and down. */
FIRE_EVERYWHERE void fire_flow_slope(const fire_flow_warp_t *p, const float *flow,
                                     const float *x, const float *dy, float *dflow,
                                     int64_t i)
{
    fire_flow_source_t s      = fire_flow_source(p, flow, i);
    int64_t            plane  = p->height * p->width;
    float              across = 0.0f, down = 0.0f;

    for (int64_t c = 0; c < p->channels && s.inside; c++, x += plane, dy += plane) {
        float a = FIRE_FLOW_AT(p, x, s.top, s.left),
              b = FIRE_FLOW_AT(p, x, s.top, s.right);
        float d = FIRE_FLOW_AT(p, x, s.bottom, s.left);
        float e = FIRE_FLOW_AT(p, x, s.bottom, s.right);

        across += dy[i] * ((1 - s.down) * (b - a) + s.down * (e - d));
        down += dy[i] * ((1 - s.across) * (d - a) + s.across * (e - b));
    }
    dflow[i]         = across;
    dflow[i + plane] = down;
}

fire_status_t fire_gpu_flow_warp(fire_stream_t *s, const fire_flow_warp_t *p,
                                 const float *x, const float *flow, float *y);
fire_status_t fire_gpu_flow_warp_dx(fire_stream_t *s, const fire_flow_warp_t *p,
                                    const float *flow, const float *dy, float *dx);
fire_status_t fire_gpu_flow_warp_dflow(fire_stream_t *s, const fire_flow_warp_t *p,
                                       const float *flow, const float *x,
                                       const float *dy, float *dflow);
FIRE_END_C
#endif
