/* put.h - all functions of operators.def that say a layer in ONNX's operators. */
#ifndef FIRE_ONNX_EXPORT_PUT_H
#define FIRE_ONNX_EXPORT_PUT_H
#include "onnx/export.h"

#define PUT(type, function) void function(fire_onnx_export_t *x);
#include "onnx/operators.def"

/* pooling.h's windows as a node; out NULL: a new name. average: else the maximum. */
struct fire_pool_windows;
const char *fire_onnx_pool(fire_onnx_export_t *x, const char *in, const char *out,
                           const struct fire_pool_windows *p, bool average);
#endif
