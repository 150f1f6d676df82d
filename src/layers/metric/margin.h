/* margin.h - inner products with an angular margin: the class of the label must be closer
 * by a factor of the angle. */
#ifndef FIRE_LAYERS_METRIC_MARGIN_H
#define FIRE_LAYERS_METRIC_MARGIN_H
#include "device/cpu/blas.h"
#include "layers/layer.h"
#include "layers/loss/loss.h"

/* State. x (rows, inputs), weights (outputs, inputs), y (rows, outputs). */
typedef struct fire_margin {
    bool    unit;  /* weights have length 1: SphereFace */
    int     times; /* the margin m, 1 to 4 */
    int     axis;
    int64_t rows, inputs, outputs;
    float   lambda; /* of the last forward */
    /* SphereFace: dy x, and weights of length 1 in a test, each as large as the weights */
    fire_scratch_t product, weights;
} fire_margin_t;

fire_status_t fire_margin_setup(fire_layer_t                             *l,
                                const Caffe__MarginInnerProductParameter *p, bool unit);
fire_status_t fire_margin_reshape(fire_layer_t *l);
void          fire_margin_teardown(fire_layer_t *l);
double        fire_margin_macs(const fire_layer_t *l);

extern const fire_kernel_t *const fire_margin_kernels[];
#endif
