/* taps.h - images resized by weights along each axis (Resample, Downsample): element
 * (h, w) of the result is the sum of row_weight * column_weight * input over a few rows
 * and columns. Tables of the weights are made once per shape. */
#ifndef FIRE_LAYERS_VISION_RESAMPLE_TAPS_H
#define FIRE_LAYERS_VISION_RESAMPLE_TAPS_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* A table: entry k of element i, first[i] <= k < first[i + 1], is weight[k] times
 * element index[k] of the other side. The arrays are in `words` of fire_taps_t. */
typedef struct fire_tap_table {
    int64_t first, index, weight; /* where they begin */
} fire_tap_table_t;

/* State of such a layer. from[axis] has the input's elements for each of the result,
 * back[axis] the result's for each of the input; axis 0 height, 1 width. */
typedef struct fire_taps {
    int64_t          planes, in[2], out[2];
    fire_tap_table_t from[2], back[2];
    int32_t         *words; /* all tables; weights as the bits of floats. Owned. */
    int64_t          count, cap;
} fire_taps_t;

/* The weight of input place `at` in result `i`, which lies at `centre` of the input; `arg`
 * is the caller's. Weights of a result are divided by their sum; a result without any
 * is 0. */
typedef float fire_tap_weight_t(const void *arg, int axis, float distance);

/* Fill the tables: centre(arg, axis, i) is where in the input result i lies; input
 * places up to `radius` from its rounded value count. */
typedef struct fire_tap_rule {
    float (*centre)(const void *arg, int axis, int64_t i);
    fire_tap_weight_t *weight;
    const void        *arg;
    int64_t            radius[2];
} fire_tap_rule_t;

/* planes, in[] and out[] are set. */
fire_status_t fire_taps_fill(fire_taps_t *t, const fire_tap_rule_t *rule);

void                              fire_taps_teardown(fire_layer_t *l);
extern const fire_kernel_t *const fire_taps_kernels[];

/* y from x, or with `back` dx from dy; words: the tables in device memory. */
fire_status_t fire_gpu_taps(fire_stream_t *s, const fire_taps_t *t, const void *words,
                            bool back, const float *x, float *y);
FIRE_END_C
#endif
