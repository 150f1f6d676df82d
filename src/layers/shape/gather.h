/* gather.h - layers that only move elements: top block j of every item is bottom block
 * from[j] of that item. A layer says how in its reshape; the rest is shared. */
#ifndef FIRE_LAYERS_SHAPE_GATHER_H
#define FIRE_LAYERS_SHAPE_GATHER_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* The state of such a layer. items * n * block elements in all. */
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
