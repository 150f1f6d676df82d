/* join.h - several arrays as parts of one, and back: Concat and Slice. */
#ifndef FIRE_LAYERS_SHAPE_JOIN_H
#define FIRE_LAYERS_SHAPE_JOIN_H
#include "layers/layer_cuda.h"

FIRE_BEGIN_C
/* The whole is cut along `axis`, in the net's format for it. Parts that are not `wanted`
 * (NULL: all are) are not written. */
fire_status_t fire_gpu_join(fire_layer_t *l, int axis, fire_part_t part, int n,
                            fire_blob_t *const *parts, fire_blob_t *whole);
fire_status_t fire_gpu_cut(fire_layer_t *l, int axis, fire_part_t part, int n,
                           fire_blob_t *const *parts, const bool *wanted,
                           fire_blob_t *whole);
FIRE_END_C
#endif
