/* depthwise_simd.h - what both passes of the depthwise kernel for 3x3 windows share:
 * the job, one channel block's map, and access to its rows.
 *
 * Arrays are blocked: (image, block of channels, height, width, lane), with 16 or 8
 * channels (lanes) to a block, so that one vector holds one place of all the block's
 * channels. A "map" is one block of one image. */
#ifndef FIRE_LAYERS_CONV_DEPTHWISE_DEPTHWISE_SIMD_H
#define FIRE_LAYERS_CONV_DEPTHWISE_DEPTHWISE_SIMD_H
#include "device/cpu/blocked.h"
#include "device/cpu/simd.h"

enum {
    FIRE_DW_TAPS   = 3, /* of the window, along each axis */
    FIRE_DW_WINDOW = FIRE_DW_TAPS * FIRE_DW_TAPS,
    FIRE_DW_SUMS =
        FIRE_DW_WINDOW + 1, /* gradients of the taps, then that of the bias */
    FIRE_DW_AHEAD = 32,     /* prefetch about so many places before they are used */
};

/* One forward or backward pass over a bottom/top pair; constant while threads run. */
typedef struct fire_depthwise_job {
    const fire_blocked_t *in, *out;              /* formats of x, dx and of y, dy */
    int64_t               in_dim[2], out_dim[2]; /* height, width */
    int64_t               stride, pad[2];
    int64_t               wide; /* elements of the longer row of the two */
    const void           *x, *dy;
    void                 *y, *dx;         /* dx NULL: no gradient is wanted */
    bool                  past;           /* store dx past the cache */
    float                 slope;          /* of an absorbed ReLU; 1: none */
    const float          *weights, *bias; /* (channel, tap); (channel) or NULL */
    float                *dw, *db;        /* same shapes, added to; NULL: not wanted */
    const float          *zeros;          /* a row of them, for padding */
    float                *sums; /* (block, image, tap, lane); NULL in forward */
} fire_depthwise_job_t;

/* One block of channels of one image. */
typedef struct fire_depthwise_map {
    int64_t      k;       /* image * blocks + block */
    int64_t      next;    /* the same of the map this thread does next, to prefetch */
    const float *weights; /* (tap, lane), then the bias (lane) */
    float       *sums;    /* the same shape: gradients; NULL in forward */
    float       *buffer;  /* three rows of float32, for bf16 arrays */
} fire_depthwise_map_t;

/* y of one map. And dx, the sums of dw and of db. */
void fire_depthwise_simd_forward_map(const fire_depthwise_job_t *j,
                                     const fire_depthwise_map_t *m);
void fire_depthwise_simd_backward_map(const fire_depthwise_job_t *j,
                                      const fire_depthwise_map_t *m);

/* The rows of one map, to be asked for in ascending order. float32 rows are used in
 * place; of bf16 rows the last three are kept in the buffer, as float32. */
typedef struct fire_depthwise_rows {
    const char  *base, *next; /* first row of this map and of the next one */
    int64_t      n, width;    /* rows; places of a row */
    int64_t      asked;       /* the first row not yet asked for */
    const float *zeros;       /* stands for rows outside of the image */
    float       *buffer;      /* FIRE_DW_TAPS rows */
} fire_depthwise_rows_t;

/* Address of place i of a blocked array. */
FIRE_SIMD const char *fire_depthwise_at(fire_dtype_t t, int lanes, const void *base,
                                        int64_t i)
{
    size_t size = t == FIRE_F32 ? sizeof(float) : sizeof(uint16_t);

    return (const char *)base + i * lanes * (int64_t)size;
}

FIRE_SIMD fire_depthwise_rows_t fire_depthwise_rows(fire_dtype_t t, int lanes,
                                                    const fire_depthwise_job_t *j,
                                                    const fire_depthwise_map_t *m,
                                                    const void                 *base,
                                                    const int64_t              *dim)
{
    int64_t plane = dim[0] * dim[1];

    return (fire_depthwise_rows_t){
        .base   = fire_depthwise_at(t, lanes, base, m->k * plane),
        .next   = fire_depthwise_at(t, lanes, base, m->next * plane),
        .n      = dim[0],
        .width  = dim[1],
        .zeros  = j->zeros,
        .buffer = m->buffer};
}

/* bf16 row -> float32, into the slot of the buffer that the row three back leaves. */
FIRE_SIMD void fire_depthwise_convert_row(fire_dtype_t t, int lanes,
                                          fire_depthwise_rows_t *r, int64_t row)
{
    int64_t n = r->width * lanes;

    for (int64_t i = 0; i < n; i += lanes)
        fire_vf_store(r->buffer + row % FIRE_DW_TAPS * n, FIRE_F32, lanes, i,
                      fire_vf_load(r->base, t, lanes, row * n + i));
}

/* Row `row` as float32 (width, lane); zeros outside of the image. */
FIRE_SIMD const float *fire_depthwise_row(fire_dtype_t t, int lanes,
                                          fire_depthwise_rows_t *r, int64_t row)
{
    int64_t n = r->width * lanes;

    if (row < 0 || row >= r->n) return r->zeros;
    for (; r->asked <= row; r->asked++)
        if (t != FIRE_F32) fire_depthwise_convert_row(t, lanes, r, r->asked);
    return t == FIRE_F32 ? (const float *)r->base + row * n
                         : r->buffer + row % FIRE_DW_TAPS * n;
}

/* The row to prefetch while `row` is worked on: FIRE_DW_AHEAD places later, in this map
 * or in the next one. */
FIRE_SIMD const char *fire_depthwise_row_ahead(fire_dtype_t t, int lanes,
                                               const fire_depthwise_rows_t *r,
                                               int64_t                      row)
{
    int64_t later = 1 + FIRE_DW_AHEAD / r->width;

    row += later < r->n ? later : r->n;
    return row < r->n ? fire_depthwise_at(t, lanes, r->base, row * r->width)
                      : fire_depthwise_at(t, lanes, r->next, (row - r->n) * r->width);
}

FIRE_SIMD void fire_depthwise_fetch(fire_dtype_t t, int lanes, const char *row,
                                    int64_t i)
{
    __builtin_prefetch(fire_depthwise_at(t, lanes, row, i));
}
#endif
