/* data.h - what the trainer can ask of a Data layer. */
#ifndef FIRE_LAYERS_DATA_DATA_H
#define FIRE_LAYERS_DATA_DATA_H
#include "data/store.h"
#include "layers/layer.h"

/* From now on keep the layer's records in the memory of all workers (data/store.h).
 * Call before the layer's first pass. batch_size and shuffle of *options are replaced
 * by the layer's own. Layers of other types are left unchanged. */
fire_status_t fire_data_keep_in_memory(fire_layer_t               *l,
                                       const fire_store_options_t *options);
#endif
