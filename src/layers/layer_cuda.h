/* layer_cuda.h - what the GPU kernels of layers share: formats, gradients of parameters.
 *
 * Convolution, pooling and normalisation ask for blobs in the format of the net
 * (fire_gpu_format): its precision, and channels last where the libraries are faster
 * with that. Layers for which the order of elements does not matter take the format that
 * the blob has (fire_gpu_format_of), so that nothing is converted. */
#ifndef FIRE_LAYERS_LAYER_CUDA_H
#define FIRE_LAYERS_LAYER_CUDA_H
#include "device/cuda/kernel/view.h"
#include "layers/memory_cuda.h"

FIRE_BEGIN_C
/* The net's format for this blob: precision of ctx; NHWC for 4 dimensions in 16 bits or
 * tf32, else the plain layout. */
fire_format_t fire_gpu_format(const fire_layer_t *l, const fire_blob_t *b);
/* The same with layout FIRE_EVEN: NHWC of the even rows and columns only. */
fire_format_t fire_gpu_format_even(fire_format_t f);
/* The format in which the GPU has the values now; plain float32 if they are on the host. */
fire_format_t fire_gpu_format_of(const fire_blob_t *b, fire_part_t part);

/* The blob as (outer, channels, inner): (num, C, H W), or (num H W, C, 1) for NHWC. */
fire_gpu_view_t fire_gpu_view(const fire_blob_t *b, const fire_format_t *f);

/* The diff of a parameter, float32 on the GPU. *add_p: add to what it holds; else it
 * holds nothing yet (the solver has cleared it): overwrite it. */
fire_status_t fire_gpu_gradient(fire_blob_t *param, bool *add_p, float **diff_p);

/* Should a kernel save memory where that costs a little time? Yes where blobs share
 * memory and are in 16 bits: those are the large nets. */
bool fire_gpu_saves_memory(const fire_layer_t *l);
FIRE_END_C
#endif
