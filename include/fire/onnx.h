/* onnx.h - nets to ONNX files, ONNX files to nets.
 *
 * An ONNX file holds a graph of standard operators and its weights; onnxruntime, OpenVINO,
 * TensorRT, OpenCV and others run it. Both directions need no other program. */
#ifndef FIRE_ONNX_H
#define FIRE_ONNX_H
#include <fire/net.h>

FIRE_BEGIN_C
/* How to export a net. Begin with
 *     fire_onnx_export_config_t config = FIRE_ONNX_EXPORT_CONFIG_INIT;
 * and change what should differ. */
typedef struct fire_onnx_export_config {
    size_t size;       /* sizeof(fire_onnx_export_config_t); set by the macro */
    int    opset;      /* version of the operators, FIRE_ONNX_OPSET_MIN to _MAX */
    int    batch;      /* 0: left open; else the first dimension of all inputs */
    bool   fold;       /* put BatchNorm, Scale and Bias behind a convolution or an inner
                   * product into its weights */
    bool   custom_ops; /* write layers that ONNX cannot say as operators of the domain
                      * "caffe"; false: they are errors */
    bool with_transform; /* subtract the mean and scale as transform_param of the layer
                          * that makes the input says */
    bool rgb; /* the file takes channels as red, green, blue; the net the reverse */
    bool external; /* write the weights to a second file, PATH.data, always; false:
                    * only if the file would exceed 2 GB */
} fire_onnx_export_config_t;

enum { FIRE_ONNX_OPSET_MIN = 13, FIRE_ONNX_OPSET_MAX = 22 };

#define FIRE_ONNX_EXPORT_CONFIG_INIT                                                \
    {                                                                               \
        sizeof(fire_onnx_export_config_t), 17, 0, false, false, false, false, false \
    }

/* Write a net with its weights to an ONNX file. The net must have been created in phase
 * FIRE_TEST and mode FIRE_OBSERVED; layers that read data become inputs. Inputs are
 * reshaped for a moment and get their shapes back, not their values. config NULL:
 * FIRE_ONNX_EXPORT_CONFIG_INIT. The file is complete or, after a failure, as it was.
 *
 * Fails with FIRE_ERR_UNSUPPORTED if a layer has no form in ONNX (the message names it),
 * or a shape cannot be left open (give `batch`); with FIRE_ERR_INVALID for a config that
 * cannot be, FIRE_ERR_IO, FIRE_ERR_NOMEM. */
FIRE_CALL fire_onnx_export(fire_net_t *net, const char *path,
                           const fire_onnx_export_config_t *config);

/* How to import a file. Begin with
 *     fire_onnx_import_config_t config = FIRE_ONNX_IMPORT_CONFIG_INIT; */
typedef struct fire_onnx_import_config {
    size_t size;   /* sizeof(fire_onnx_import_config_t); set by the macro */
    int    batch;  /* first dimension of the inputs; 0: as in the file, or 1 */
    int    nshape; /* shapes of inputs, "NAME=N,C,H,W", where the file */
    const char *const *shape; /* [nshape] leaves more open than the first dimension */
} fire_onnx_import_config_t;

#define FIRE_ONNX_IMPORT_CONFIG_INIT                  \
    {                                                 \
        sizeof(fire_onnx_import_config_t), 0, 0, NULL \
    }

/* Read an ONNX file and write, to a folder that is made if it is missing:
 *   deploy.prototxt      the net
 *   train_val.prototxt   the net with data layers, loss and accuracy, where it has one
 *                        input of images and one output of scores
 *   solver.prototxt      for that
 *   net.caffemodel       the weights of both
 * Layers are called as in the graph. config NULL: FIRE_ONNX_IMPORT_CONFIG_INIT.
 *
 * Fails with FIRE_ERR_UNSUPPORTED if nodes have no form as layers; the message, and a
 * warning for each in the log, name them all. FIRE_ERR_PARSE: a damaged file, or one
 * whose external data lead out of its folder; FIRE_ERR_INVALID: an open dimension without
 * a shape; FIRE_ERR_IO, FIRE_ERR_NOMEM. */
FIRE_CALL fire_onnx_import(const char *path, const char *folder,
                           const fire_onnx_import_config_t *config);
FIRE_END_C
#endif
