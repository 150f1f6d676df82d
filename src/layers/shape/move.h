/* move.h - the GPU side of layers that only move values, and of their gradients. All
 * arrays are float32 in device memory. An index that is out of range gives NaN, and an
 * error where the host next waits for the GPU. */
#ifndef FIRE_LAYERS_SHAPE_MOVE_H
#define FIRE_LAYERS_SHAPE_MOVE_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* x, y: (items, n, block); from: [n] in device memory. gather: y[item][j] =
 * x[item][from[j]]; scatter: x[item][from[j]] = y[item][j]. */
fire_status_t fire_gpu_gather(fire_stream_t *s, int64_t items, int64_t n, int64_t block,
                              const int64_t *from, const float *x, float *y);
fire_status_t fire_gpu_scatter(fire_stream_t *s, int64_t items, int64_t n,
                               int64_t block, const int64_t *from, const float *y,
                               float *x);

/* y[i] = x[index[i]] for n rows, the indices being the output of another layer. x has
 * `rows` rows. */
fire_status_t fire_gpu_rows(fire_stream_t *s, int64_t rows, int64_t width, int64_t n,
                            const float *index, const float *x, float *y);
fire_status_t fire_gpu_rows_back(fire_stream_t *s, int64_t rows, int64_t width,
                                 int64_t n, const float *index, const float *dy,
                                 float *dx);
/* The same for tables with more rows than one pass reads (Embed): adds a bias to each
 * row (NULL: none); back adds to dx instead of overwriting it. */
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

/* Crop: y is the part of x that begins at `offset`. */
fire_status_t fire_gpu_crop(fire_stream_t *s, const fire_blob_t *shape_x,
                            const fire_blob_t *shape_y, const int64_t *offset,
                            const float *x, float *y);
fire_status_t fire_gpu_crop_back(fire_stream_t *s, const fire_blob_t *shape_x,
                                 const fire_blob_t *shape_y, const int64_t *offset,
                                 const float *dy, float *dx);

/* ArgMax: for each group of n elements, the indices and the values (NULL: not wanted)
 * of the k largest, the largest first, of equal ones the last first. Elements of a
 * group are `step` apart, so `step` groups are interleaved; results are `step` apart as
 * well, and those of the next `step` groups begin `out` later. */
typedef struct fire_gpu_ranks {
    int64_t groups, n, step, k, out;
} fire_gpu_rank_t;

fire_status_t fire_gpu_rank(fire_stream_t *s, const fire_gpu_rank_t *a, const float *x,
                            float *place, float *value);
FIRE_END_C
#endif
