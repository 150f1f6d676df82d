/* gather.h - layers that only move elements (Permute, Reorg, ShuffleChannel): block j
 * of an item of the top is block from[j] of that item of the bottom. A layer fills
 * `from` in its reshape; forward, backward and the GPU's copy of `from` are shared. */
#ifndef FIRE_LAYERS_SHAPE_GATHER_H
#define FIRE_LAYERS_SHAPE_GATHER_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* l->state. The blob is (items, n, block). */
typedef struct fire_gather {
    int64_t  items, n, block;
    int64_t *from; /* [n] a permutation of 0 ... n-1 */
    int64_t  cap;
} fire_gather_t;

/* Room for n entries, to be filled by the caller. */
fire_status_t fire_gather_reshape(fire_gather_t *s, int64_t items, int64_t n,
                                  int64_t block);
void          fire_gather_teardown(fire_layer_t *l);

extern const fire_kernel_t *const fire_gather_kernels[];
FIRE_END_C
#endif
