/* join.h - Concat and Slice on the GPU: several arrays as parts of one. */
#ifndef FIRE_LAYERS_SHAPE_JOIN_H
#define FIRE_LAYERS_SHAPE_JOIN_H
#include "layers/layer_cuda.h"

FIRE_BEGIN_C
/* Copy the parts into the whole, or out of it; the whole is cut along `axis` and in the
 * net's format for it. Parts that are not `wanted` (NULL: all are) are not written. */
fire_status_t fire_gpu_join(fire_layer_t *l, int axis, fire_part_t part, int n,
                            fire_blob_t *const *parts, fire_blob_t *whole);
fire_status_t fire_gpu_cut(fire_layer_t *l, int axis, fire_part_t part, int n,
                           fire_blob_t *const *parts, const bool *wanted,
                           fire_blob_t *whole);
FIRE_END_C
#endif
