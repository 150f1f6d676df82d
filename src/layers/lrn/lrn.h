/* lrn.h - what the kernels of LRN share. */
#ifndef FIRE_LAYERS_LRN_LRN_H
#define FIRE_LAYERS_LRN_LRN_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* State of the layer. */
typedef struct fire_lrn {
    int64_t size; /* of the window: channels, or places along an axis; odd */
    float   alpha, beta, k;
    bool    within; /* WITHIN_CHANNEL */
} fire_lrn_t;
FIRE_END_C
#endif
