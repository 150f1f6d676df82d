/* softmax.h - softmax on the CPU, for the layer and for the losses that include it. */
#ifndef FIRE_LAYERS_COMMON_SOFTMAX_H
#define FIRE_LAYERS_COMMON_SOFTMAX_H
#include "layers/layer.h"

FIRE_BEGIN_C
/* A blob as (outer, classes, inner); the sum goes over classes. */
typedef struct fire_softmax {
    int     axis;
    int64_t outer, classes, inner;
    float  *ones;  /* [classes] for a product that sums */
    float  *scale; /* [inner] scratch: maxima, then sums, of one outer index */
} fire_softmax_t;

fire_status_t fire_softmax_reshape(fire_softmax_t *s, const fire_blob_t *x, int axis);
void          fire_softmax_fini(fire_softmax_t *s);
/* y may be x. */
void fire_softmax_forward(const fire_softmax_t *s, const float *x, float *y);
FIRE_END_C
#endif
