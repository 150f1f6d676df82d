/* shapes.h - nets without their data: shapes of inputs are given, or follow from
 * crop_size or from the deploy net beside the file. */
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

/* Edit a net that is not built yet. Data layers whose blob is given, or whose data are
 * missing, become Input layers. A blob that no layer brings in is an error, and so is a
 * batch that no layer takes. */
fire_status_t fire_net_set_shapes(Caffe__NetParameter     *param,
                                  const fire_net_shapes_t *wanted);

/* The batch_size inside a data layer of any kind, to read or change; NULL: it has none. */
uint32_t *fire_layer_batch_size(const Caffe__LayerParameter *l);
#endif
