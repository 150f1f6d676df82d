/* lrn.h - what the kernels of LRN share. */
#ifndef FIRE_LAYERS_LRN_LRN_H
#define FIRE_LAYERS_LRN_LRN_H
#include "layers/layer.h"

FIRE_BEGIN_C
typedef struct fire_lrn {
    int64_t size;
    float   alpha, beta, k;
    bool    within;
} fire_lrn_t;

const char   *fire_lrn_simd_declines(const fire_layer_t *l);
fire_status_t fire_lrn_simd_forward(fire_layer_t *l);
fire_status_t fire_lrn_simd_backward(fire_layer_t *l);
FIRE_END_C
#endif
