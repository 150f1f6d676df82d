/* pad.h - the GPU side of Pad. */
#ifndef FIRE_LAYERS_SHAPE_PAD_H
#define FIRE_LAYERS_SHAPE_PAD_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* The bottom is (items, from, block), the top (items, to, block). They come with a table
 * of source[to], the bottom's element for each place of the top or -1; first[from + 1] and
 * place[to], the places place[first[i]] ... that element i goes to, in order. */
typedef struct fire_pad {
    int64_t items, from, to, block;
    float   value; /* where there is no source */
} fire_pad_t;

fire_status_t fire_gpu_pad(fire_stream_t *s, const fire_pad_t *p, const int64_t *table,
                           const float *x, float *y);
fire_status_t fire_gpu_pad_back(fire_stream_t *s, const fire_pad_t *p,
                                const int64_t *table, const float *dy, float *dx);
FIRE_END_C
#endif
