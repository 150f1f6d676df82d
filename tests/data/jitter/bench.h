/* bench.h - a layer's augmentation alone, and a picture for it: a coloured slope, blue
 * growing to the right, green downwards, red 40. */
#ifndef FIRE_TESTS_DATA_JITTER_BENCH_H
#define FIRE_TESTS_DATA_JITTER_BENCH_H
#include <math.h>

#include "data/jitter/jitter.h"
#include "rig.h"

enum { H = 12, W = 16, AREA = H * W };

extern uint8_t slope[AREA * 3]; /* (H, W, 3) once a bench is open */

/* A layer's augmentation, with what it needs. */
typedef struct bench {
    Caffe__LayerParameter *param;
    fire_transform_t       transform;
    fire_jitter_t          jitter;
    fire_workspace_t       scratch;
    fire_pixels_t          pixels;
} bench_t;

/* text: of a transform_param. */
fire_status_t open_bench(bench_t *b, const char *text, Caffe__Phase phase);
void          close_bench(bench_t *b);

/* Change the slope as this sample; it comes as a record of planes, as in a Datum. */
fire_status_t run_sample(bench_t *b, int64_t sample);

/* A value of the result. */
uint8_t at(const bench_t *b, int y, int x, int c);

#define WITH(b, text, phase)               \
    bench_t b;                             \
    CHECK_OK(open_bench(&b, text, phase)); \
    for (int64_t sample = 0; sample < 200; sample++)
#endif
