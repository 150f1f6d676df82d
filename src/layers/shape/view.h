/* view.h - layers whose top is the bottom with another shape (Reshape, Flatten). They
 * share memory, data and diff, so nothing is copied in either direction. */
#ifndef FIRE_LAYERS_SHAPE_VIEW_H
#define FIRE_LAYERS_SHAPE_VIEW_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* In reshape: the top gets this shape, of the same count, and the bottom's memory. */
fire_status_t fire_view_reshape(fire_layer_t *l, int ndim, const int64_t *dim);

/* In forward: share anew, as the bottom's memory may have been replaced since. */
void fire_view_share(fire_layer_t *l);

extern const fire_kernel_t *const fire_view_kernels[];
FIRE_END_C
#endif
