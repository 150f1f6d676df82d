/* matmul.h - sizes of MatMul, for its kernels. */
#ifndef FIRE_LAYERS_COMMON_MATMUL_H
#define FIRE_LAYERS_COMMON_MATMUL_H
#include "layers/layer.h"

/* The state of the layer: `n` products of op(a), rows x inner, and op(b), inner x
 * columns. */
typedef struct fire_matmul {
    bool    transpose_a, transpose_b;
    int64_t n, rows, columns, inner;
} fire_matmul_t;
#endif
