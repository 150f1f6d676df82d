/* affine.h - what Scale and Bias (and BatchNorm) share on the CPU: an operand whose
 * axes equal some consecutive axes of the input, and that is repeated along the others.
 * With the input viewed as (outer, dim, inner), element (o, d, i) is combined with
 * element d of the operand. */
#ifndef FIRE_LAYERS_NORM_AFFINE_H
#define FIRE_LAYERS_NORM_AFFINE_H
#include "device/cpu/blas.h"
#include "layers/layer.h"

FIRE_BEGIN_C
typedef struct fire_affine {
    int64_t outer, dim, inner;
} fire_affine_t;

/* The state of Bias. */
typedef struct fire_bias {
    fire_affine_t view;
    int           axis;
} fire_bias_t;

/* Add a parameter shaped as num_axes axes of bottom 0 from `axis` on (-1: all). */
fire_status_t fire_affine_add_blob(fire_layer_t *l, int axis, int num_axes,
                                   const Caffe__FillerParameter *filler);
/* The view of x for an operand whose first axis is axis `axis` of x; fails where sizes
 * differ. */
fire_status_t fire_affine_match(const fire_blob_t *x, const fire_blob_t *operand,
                                int axis, fire_affine_t *a_p);

/* y = x + b, y may be x. And its gradient, db = (add ? db : 0) + sums of dy; ones: at
 * least `inner` ones. */
void fire_affine_shift(const fire_affine_t *a, const float *x, const float *b,
                       float *y);
void fire_affine_shift_back(const fire_affine_t *a, const float *ones, const float *dy,
                            bool add, float *db);
/* y = x * g. And y = x / g. */
void fire_affine_scale(const fire_affine_t *a, const float *x, const float *g,
                       float *y);
void fire_affine_divide(const fire_affine_t *a, const float *x, const float *g,
                        float *y);
FIRE_END_C
#endif
