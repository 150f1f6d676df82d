/* feed.h - what layers that read images ahead have in common: tops data (and label)
 * filled from prefetched batches. */
#ifndef FIRE_LAYERS_DATA_FEED_H
#define FIRE_LAYERS_DATA_FEED_H
#include "data/prefetch.h"
#include "layers/layer.h"

enum { FIRE_FEED_DEPTH = 4 }; /* batches ahead, where no setting says */

/* At the head of such a layer's state. */
typedef struct fire_feed {
    fire_prefetch_options_t options; /* set by the layer's setup */
    fire_prefetch_t        *prefetch;
    fire_status_t (*before)(fire_layer_t *l); /* (optional) at the head of a pass */
} fire_feed_t;

/* End of setup: creates the prefetcher, logs the size of the tops. */
fire_status_t fire_feed_setup(fire_layer_t *l);
/* Before the layer frees what its load function uses. */
void fire_feed_teardown(fire_layer_t *l);

fire_status_t              fire_feed_reshape(fire_layer_t *l);
extern const fire_kernel_t fire_feed_kernels[];
#endif
