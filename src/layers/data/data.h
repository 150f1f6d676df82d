/* data.h - what a trainer can ask of a Data layer. */
#ifndef FIRE_LAYERS_DATA_DATA_H
#define FIRE_LAYERS_DATA_DATA_H
#include "data/store.h"
#include "layers/layer.h"

/* Keep the layer's records in the workers' memory from now on: see data/store.h. To be
 * called before the layer's first pass; batch_size and shuffle are the layer's own.
 * Layers of other types are left as they are. */
fire_status_t fire_data_keep_in_memory(fire_layer_t               *l,
                                       const fire_store_options_t *options);
#endif
