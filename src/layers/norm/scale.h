/* scale.h - what the kernels of Scale share. */
#ifndef FIRE_LAYERS_NORM_SCALE_H
#define FIRE_LAYERS_NORM_SCALE_H
#include "layers/norm/affine.h"

FIRE_BEGIN_C
typedef struct fire_scale {
    fire_affine_t view;
    int           axis, bias; /* index of the bias among the parameters, or -1 */
} fire_scale_t;
FIRE_END_C
#endif
