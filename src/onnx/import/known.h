/* known.h - tensors that are computed while a model is read: constants, shapes, and what
 * follows from them. */
#ifndef FIRE_ONNX_IMPORT_KNOWN_H
#define FIRE_ONNX_IMPORT_KNOWN_H
#include "onnx/import/take.h"

/* A new tensor of this type. Fails with FIRE_ERR_UNSUPPORTED if all of them together
 * would be much larger than the model. */
fire_status_t fire_onnx_make_known(fire_onnx_import_t *x, int type, int ndim,
                                   const int64_t *dim, fire_onnx_tensor_t *t_p);
/* Set element i of a tensor of FLOAT or INT64; integers are rounded towards zero. */
void fire_onnx_put_known(fire_onnx_tensor_t *t, int64_t i, double v);
bool fire_onnx_is_integer(int type);

/* The shape that two shapes are repeated to; fails if they do not fit together. */
fire_status_t fire_onnx_common_shape(int na, const int64_t *a, int nb, const int64_t *b,
                                     int *ndim_p, int64_t dim[FIRE_MAX_DIMS]);
/* Index in a tensor of the element that is repeated to place `at` of the shape. */
int64_t fire_onnx_repeated(const fire_onnx_tensor_t *t, int ndim, const int64_t *dim,
                           int64_t at);

/* The node by its layers, which are run now where that is cheap: its outputs are constants
 * then. */
fire_status_t fire_onnx_compute_layers(fire_onnx_import_t *x, fire_onnx_take_t take);

/* The function that computes an operator's result; NULL: there is none. Operators that
 * only move elements (known_move.c) keep the type; others find them by numbers
 * (known_index.c). */
fire_onnx_take_t fire_onnx_find_math(const fire_onnx_import_t *x);
fire_onnx_take_t fire_onnx_find_move(const char *op);
fire_onnx_take_t fire_onnx_find_index(const char *op);
#endif
