/* shapes.h - runs nets without their data: the shapes of inputs are given, or guessed
 * from crop_size or from deploy.prototxt in the same directory. */
#ifndef FIRE_NET_SHAPES_H
#define FIRE_NET_SHAPES_H
#include "caffe.pb-c.h"
#include "base/error.h"

typedef struct fire_net_shapes {
    const char        *file;  /* of the net, for messages and to find deploy.prototxt */
    const char *const *shape; /* [nshape] "BLOB=N,C,H,W" */
    int64_t            nshape;
    int64_t            batch; /* samples; 0: leave it */
} fire_net_shapes_t;

/* Edit a NetParameter before the net is created. Data layers with a given shape, or
 * with a missing database, become Input layers. Fails for a shape of a blob that is no
 * data layer's top, and for a batch size that no layer has. */
fire_status_t fire_net_set_shapes(Caffe__NetParameter     *param,
                                  const fire_net_shapes_t *wanted);

/* The batch_size inside a data layer of any kind, to read or change; NULL: it has none. */
uint32_t *fire_layer_batch_size(const Caffe__LayerParameter *l);
#endif
