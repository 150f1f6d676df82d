/* move.h - GPU arithmetic of layers that only move values, and of their gradients. All
 * arrays are float32 in device memory; an index that is out of range gives NaN,
 * and an error where the host waits next. */
#ifndef FIRE_LAYERS_SHAPE_MOVE_H
#define FIRE_LAYERS_SHAPE_MOVE_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* Of each of `items`: y's block j is x's block from[j], or x's block from[j] is y's block
 * j; n blocks. from lies on the device. */
fire_status_t fire_gpu_gather(fire_stream_t *s, int64_t items, int64_t n, int64_t block,
                              const int64_t *from, const float *x, float *y);
fire_status_t fire_gpu_scatter(fire_stream_t *s, int64_t items, int64_t n,
                               int64_t block, const int64_t *from, const float *y,
                               float *x);

/* Rows of x, `rows` of them, in the order of n indices that layers computed. */
fire_status_t fire_gpu_rows(fire_stream_t *s, int64_t rows, int64_t width, int64_t n,
                            const float *index, const float *x, float *y);
fire_status_t fire_gpu_rows_back(fire_stream_t *s, int64_t rows, int64_t width,
                                 int64_t n, const float *index, const float *dy,
                                 float *dx);
/* The same with a row added to each (NULL: none), for tables with more rows than are
 * used at once; back adds to dx. */
fire_status_t fire_gpu_look_up(fire_stream_t *s, int64_t rows, int64_t width, int64_t n,
                               const float *index, const float *x, const float *bias,
                               float *y);
fire_status_t fire_gpu_look_up_back(fire_stream_t *s, int64_t rows, int64_t width,
                                    int64_t n, const float *index, const float *dy,
                                    float *dx);

fire_status_t fire_gpu_tile(fire_stream_t *s, int64_t outer, int64_t tiles,
                            int64_t inner, const float *x, float *y);
fire_status_t fire_gpu_tile_back(fire_stream_t *s, int64_t outer, int64_t tiles,
                                 int64_t inner, const float *dy, float *dx);

/* y is the part of x that begins at `offset`. */
fire_status_t fire_gpu_crop(fire_stream_t *s, const fire_blob_t *shape_x,
                            const fire_blob_t *shape_y, const int64_t *offset,
                            const float *x, float *y);
fire_status_t fire_gpu_crop_back(fire_stream_t *s, const fire_blob_t *shape_x,
                                 const fire_blob_t *shape_y, const int64_t *offset,
                                 const float *dy, float *dx);

/* For each group of n elements, `step` apart, the places and values (NULL: not wanted)
 * of the k largest, largest first, of equal ones the last first. Groups are neighbours
 * in memory, `step` at a time; results lie `step` apart as well, groups `out` apart. */
typedef struct fire_gpu_ranks {
    int64_t groups, n, step, k, out;
} fire_gpu_rank_t;

fire_status_t fire_gpu_rank(fire_stream_t *s, const fire_gpu_rank_t *a, const float *x,
                            float *place, float *value);
FIRE_END_C
#endif
