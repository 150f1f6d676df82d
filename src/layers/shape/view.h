/* view.h - layers whose top is the bottom under another shape: nothing is copied in
 * either direction. */
#ifndef FIRE_LAYERS_SHAPE_VIEW_H
#define FIRE_LAYERS_SHAPE_VIEW_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* Let the top be the bottom's memory, with this shape of the same count. */
fire_status_t fire_view_reshape(fire_layer_t *l, int ndim, const int64_t *dim);

/* The same in forward: the bottom's memory may have been replaced meanwhile. */
void fire_view_share(fire_layer_t *l);

extern const fire_kernel_t *const fire_view_kernels[];
FIRE_END_C
#endif
