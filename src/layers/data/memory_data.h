/* memory_data.h - arrays for a MemoryData layer. */
#ifndef FIRE_LAYERS_DATA_MEMORY_DATA_H
#define FIRE_LAYERS_DATA_MEMORY_DATA_H
#include "layers/layer.h"

/* n samples, one after another, and their labels; n is a multiple of batch_size. The
 * arrays are read at every pass and must outlive the layer or the next call. The next
 * pass begins with the first sample. */
fire_status_t fire_memory_data_set(fire_layer_t *l, const float *data,
                                   const float *labels, int64_t n);
#endif
