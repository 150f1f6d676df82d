/* memory_data.h - sets the arrays of a MemoryData layer. */
#ifndef FIRE_LAYERS_DATA_MEMORY_DATA_H
#define FIRE_LAYERS_DATA_MEMORY_DATA_H
#include <fire/source.h>

#include "layers/layer.h"

/* Set the samples, (n, channels, height, width), and their n labels; n must be a
 * multiple of batch_size. The arrays are read in every pass and must exist until the
 * next call or the end of the layer. The next pass begins with the first sample. */
fire_status_t fire_memory_data_set(fire_layer_t *l, const float *data,
                                   const float *labels, int64_t n);

/* The samples of this pass and of those after it, n in all, for a layer whose whole
 * batch has `batch` of them. */
void fire_memory_data_ahead(const fire_layer_t *l, int64_t batch, int n,
                            fire_samples_t *samples);

/* Have this function called for the samples of each pass, instead; as
 * fire_net_set_source() says. */
void fire_memory_data_set_source(fire_layer_t *l, fire_fetch_t fetch, void *arg);
#endif
