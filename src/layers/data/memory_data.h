/* memory_data.h - sets the arrays of a MemoryData layer. */
#ifndef FIRE_LAYERS_DATA_MEMORY_DATA_H
#define FIRE_LAYERS_DATA_MEMORY_DATA_H
#include "layers/layer.h"

/* Set the samples, (n, channels, height, width), and their n labels; n must be a
 * multiple of batch_size. The arrays are read in every pass and must exist until the
 * next call or the end of the layer. The next pass begins with the first sample. */
fire_status_t fire_memory_data_set(fire_layer_t *l, const float *data,
                                   const float *labels, int64_t n);
#endif
