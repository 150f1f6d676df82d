/* accuracy.h - what the kernels of Accuracy share. */
#ifndef FIRE_LAYERS_LOSS_ACCURACY_H
#define FIRE_LAYERS_LOSS_ACCURACY_H
#include "layers/loss/loss.h"

typedef struct fire_accuracy {
    fire_loss_t labels;
    int         axis, top_k;
    int64_t     outer, classes, inner;
    int64_t    *items; /* [classes] items of that class in this batch */
} fire_accuracy_t;
#endif
