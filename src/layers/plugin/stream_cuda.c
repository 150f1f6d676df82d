/* stream_cuda.c - the CUDA stream of a plug-in's kernel. */
#include "device/cuda/cuda.h"
#include "layers/plugin/plugin.h"

void *fire_layer_stream(const fire_layer_t *l)
{
    return fire_layer_place(l) == FIRE_GPU ? (void *)fire_cuda_queue() : NULL;
}
