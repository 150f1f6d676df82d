/* fold.h - makes an exported model smaller without changing what it computes, up to
 * rounding. */
#ifndef FIRE_ONNX_FOLD_H
#define FIRE_ONNX_FOLD_H
#include "onnx/model.h"

/* Put each BatchNormalization, Mul and Add by constants of the channels into the weights
 * of the Conv or Gemm that alone feeds it. */
fire_status_t fire_onnx_fold(fire_onnx_model_t *m);
#endif
