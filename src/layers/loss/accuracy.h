/* accuracy.h - the state of Accuracy, shared by its CPU and CUDA kernels. */
#ifndef FIRE_LAYERS_LOSS_ACCURACY_H
#define FIRE_LAYERS_LOSS_ACCURACY_H
#include "layers/loss/loss.h"

typedef struct fire_accuracy {
    fire_loss_t labels;
    int         axis, top_k;
    int64_t     outer, classes, inner; /* bottom 0 as (outer, classes, inner) */
    int64_t    *items;                 /* [classes] items of each class in this batch */
} fire_accuracy_t;
#endif
