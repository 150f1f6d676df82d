/* external.h - values of tensors that lie outside of the model's file. */
#ifndef FIRE_ONNX_EXTERNAL_H
#define FIRE_ONNX_EXTERNAL_H
#include "onnx/model.h"

/* Map a file, once for all who ask; it belongs to the model. */
fire_status_t fire_onnx_map(fire_onnx_model_t *m, const char *path,
                            const fire_onnx_file_t **file_p);

/* Set t->data to the values that head->external_data tells of: `bytes` of them in a
 * regular file of `folder` or below. Names that lead out of it are refused. */
fire_status_t fire_onnx_external(fire_onnx_model_t *m, const Onnx__TensorProto *head,
                                 const char *folder, uint64_t bytes,
                                 fire_onnx_tensor_t *t);
#endif
