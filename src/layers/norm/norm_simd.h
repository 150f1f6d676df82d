/* norm_simd.h - kernels of BatchNorm and Scale that work on channels in blocks. */
#ifndef FIRE_LAYERS_NORM_NORM_SIMD_H
#define FIRE_LAYERS_NORM_NORM_SIMD_H
#include "layers/layer.h"

const char   *fire_norm_simd_declines(const fire_layer_t *l);
fire_status_t fire_norm_simd_prepare(fire_layer_t *l);
fire_status_t fire_norm_simd_backward(fire_layer_t *l);
void          fire_norm_simd_release(fire_layer_t *l);
unsigned      fire_norm_simd_needs(const fire_layer_t *l);
fire_status_t fire_norm_simd_again(fire_layer_t *l);

fire_status_t fire_batch_norm_simd_forward(fire_layer_t *l);
bool fire_batch_norm_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next);

const char   *fire_scale_simd_declines(const fire_layer_t *l);
fire_status_t fire_scale_simd_forward(fire_layer_t *l);
bool          fire_scale_simd_absorbs(const fire_layer_t *l, const fire_layer_t *next);
#endif
