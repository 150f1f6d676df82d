/* onnx.h (internal) - what the program needs beyond <fire/onnx.h>. */
#ifndef FIRE_ONNX_ONNX_H
#define FIRE_ONNX_ONNX_H
#include <fire/onnx.h>
#include "caffe.pb-c.h"
#include "onnx/model.h"

/* The model of a net, in memory: values of tensors lie in the net, which must outlive
 * it. End *m_p with fire_onnx_model_destroy(). */
fire_status_t fire_onnx_of_net(fire_net_t *net, const fire_onnx_export_config_t *config,
                               fire_onnx_model_t **m_p);

/* The net of a model, without its weights. End *net_p with fire_message_free(). */
fire_status_t fire_onnx_to_net(fire_onnx_model_t               *m,
                               const fire_onnx_import_config_t *config,
                               Caffe__NetParameter            **net_p);
#endif
