/* inner_product.h - settings and sizes of InnerProduct, for its kernels. */
#ifndef FIRE_LAYERS_COMMON_INNER_PRODUCT_H
#define FIRE_LAYERS_COMMON_INNER_PRODUCT_H
#include "layers/layer.h"

typedef struct fire_inner_product {
    int     axis;
    int64_t rows, inputs, outputs;
    bool    bias, transpose;
} fire_inner_product_t;
#endif
