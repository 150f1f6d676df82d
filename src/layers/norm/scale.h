/* scale.h - what the kernels of Scale share. */
#ifndef FIRE_LAYERS_NORM_SCALE_H
#define FIRE_LAYERS_NORM_SCALE_H
#include "layers/norm/affine.h"

FIRE_BEGIN_C
/* State of the layer. */
typedef struct fire_scale {
    fire_affine_t view; /* of bottom 0, for the operand g */
    int           axis; /* of bottom 0 that g begins at */
    int           bias; /* index of the bias among the blobs; -1: none */
} fire_scale_t;
FIRE_END_C
#endif
