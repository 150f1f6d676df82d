/* inner_product.h - what the kernels of InnerProduct share. */
#ifndef FIRE_LAYERS_COMMON_INNER_PRODUCT_H
#define FIRE_LAYERS_COMMON_INNER_PRODUCT_H
#include "layers/layer.h"

typedef struct fire_inner_product {
    int     axis;
    int64_t rows, inputs, outputs;
    bool    bias, transpose;
} fire_inner_product_t;
#endif
