/* take.h - all functions of operators.def that say an operator as layers, and what the
 * families share. */
#ifndef FIRE_ONNX_IMPORT_TAKE_H
#define FIRE_ONNX_IMPORT_TAKE_H
#include "model/message.h"
#include "onnx/import.h"

#define TAKE(op, function) fire_status_t function(fire_onnx_import_t *x);
#include "onnx/operators.def"

enum { FIRE_ONNX_MOST_PARTS = 256 }; /* inputs of Concat, outputs of Split */

/* The settings message of a layer: FIRE_ONNX_SETTINGS(l, "relu_param", &p). */
#define FIRE_ONNX_SETTINGS(l, field, p) \
    FIRE_TRY(fire_message_add_message((l), (field), (p)))
/* Append a number to a repeated field. */
fire_status_t fire_onnx_append_u32(void *msg, const char *field, int64_t value);
/* Append kernel, stride, ... as one number if all are equal, else one for each axis. */
fire_status_t fire_onnx_append_sizes(void *msg, const char *field, int n,
                                     const int64_t *values, int64_t otherwise);

/* What Slice takes of each axis: count[i] elements, step[i] apart, from begin[i] on. */
typedef struct fire_onnx_parts {
    int64_t begin[FIRE_MAX_DIMS], step[FIRE_MAX_DIMS], count[FIRE_MAX_DIMS];
} fire_onnx_parts_t;

fire_status_t fire_onnx_read_parts(const fire_onnx_import_t *x, int ndim,
                                   const int64_t *dim, fire_onnx_parts_t *p);
/* Sizes of Split's parts of an axis of n: the input, an attribute, or equal ones. */
fire_status_t fire_onnx_read_split(const fire_onnx_import_t *x, int64_t n,
                                   int64_t part[FIRE_ONNX_MOST_PARTS]);
/* The axis of a Bias or Scale with two bottoms. */
fire_status_t fire_onnx_set_axis(Caffe__LayerParameter *l, int axis);

/* An element-wise layer without settings. */
fire_status_t fire_onnx_take_unary(fire_onnx_import_t *x, const char *type,
                                   Caffe__LayerParameter **l_p);
/* (shift + scale x) ^ power as a Power layer between bottom and *blob_p. */
fire_status_t fire_onnx_power(fire_onnx_import_t *x, bool last, const char **blob_p,
                              float power, float scale, float shift);

/* Several nodes that are one layer: x sigmoid(x), begun by the current Sigmoid, and
 * x / 2 (1 + erf(x / sqrt(2))), begun by the division. *matched_p: they are said. */
fire_status_t fire_onnx_match_swish(fire_onnx_import_t *x, bool *matched_p);
fire_status_t fire_onnx_match_gelu(fire_onnx_import_t *x, bool *matched_p);
/* Gelu by its approximation with a tanh. */
fire_status_t fire_onnx_take_gelu_tanh(fire_onnx_import_t *x);
#endif
