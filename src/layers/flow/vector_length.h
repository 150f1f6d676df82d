/* vector_length.h - the GPU side of ChannelNorm. Arrays are float32 in device memory. */
#ifndef FIRE_LAYERS_FLOW_VECTOR_LENGTH_H
#define FIRE_LAYERS_FLOW_VECTOR_LENGTH_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* x: (items, channels, plane), y: (items, plane). */
fire_status_t fire_gpu_vector_length(fire_stream_t *s, int64_t items, int64_t channels,
                                     int64_t plane, const float *x, float *y);
fire_status_t fire_gpu_vector_length_dx(fire_stream_t *s, int64_t items,
                                        int64_t channels, int64_t plane, const float *x,
                                        const float *y, const float *dy, float *dx);
FIRE_END_C
#endif
