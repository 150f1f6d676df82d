/* layer_cuda.h - what the GPU kernels of layers share: formats and memory.
 *
 * Layers that compute (convolution, pooling, normalisation) take blobs in the format of
 * the net: its precision, channels last where the libraries are faster with that. Layers
 * that treat all elements alike take them as they lie. */
#ifndef FIRE_LAYERS_LAYER_CUDA_H
#define FIRE_LAYERS_LAYER_CUDA_H
#include "device/cuda/kernel/view.h"
#include "layers/memory_cuda.h"

FIRE_BEGIN_C
/* The net's format for this blob. */
fire_format_t fire_gpu_format(const fire_layer_t *l, const fire_blob_t *b);
/* The same with channels last, for even rows and columns alone. */
fire_format_t fire_gpu_format_even(fire_format_t f);
/* As the values lie on the GPU now, plain float32 if they are elsewhere. */
fire_format_t fire_gpu_format_of(const fire_blob_t *b, fire_part_t part);

/* The blob as it lies in this format. */
fire_gpu_view_t fire_gpu_view(const fire_blob_t *b, const fire_format_t *f);

/* Where a parameter's gradient goes. *add_p: to what is there; else there is nothing yet,
 * and it is to be written. */
fire_status_t fire_gpu_gradient(fire_blob_t *param, bool *add_p, float **diff_p);

/* Is memory to be saved where that costs a little time? It goes round, and nets in 16 bits
 * are the large ones. */
bool fire_gpu_is_tight(const fire_layer_t *l);
FIRE_END_C
#endif
