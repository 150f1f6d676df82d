/* chain.h - several layers, one behind the other, for one node. A chain begins at an input
 * of the node; each function appends a layer, or none where it would change nothing; at
 * the end, the last layer gets the node's name and its output. */
#ifndef FIRE_ONNX_IMPORT_CHAIN_H
#define FIRE_ONNX_IMPORT_CHAIN_H
#include "onnx/import/take.h"

typedef struct fire_onnx_chain {
    const char *blob; /* at its end, with its shape */
    int         ndim;
    int64_t     dim[FIRE_MAX_DIMS];
} fire_onnx_chain_t;

/* Input i of the node; a constant becomes a Parameter. */
fire_status_t fire_onnx_chain_begin(fire_onnx_import_t *x, int i, fire_onnx_chain_t *c);
/* Output i of the node is what the chain has come to. */
fire_status_t fire_onnx_chain_end(fire_onnx_import_t *x, int i,
                                  const fire_onnx_chain_t *c);
/* A tensor in a shape of as many elements, as a Parameter. learned: it is trained. */
fire_status_t fire_onnx_chain_constant(fire_onnx_import_t       *x,
                                       const fire_onnx_tensor_t *t, bool learned,
                                       int ndim, const int64_t *dim,
                                       fire_onnx_chain_t *c);

/* A layer that keeps the shape; *l_p takes its settings. */
fire_status_t fire_onnx_chain_add(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                  const char *type, Caffe__LayerParameter **l_p);
/* (shift + scale c) ^ power */
fire_status_t fire_onnx_chain_power(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                    float power, float scale, float shift);
/* Between two limits. */
fire_status_t fire_onnx_chain_clip(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                   double low, double high);
/* Element by element with another chain of the same shape; c + second d, ... */
fire_status_t fire_onnx_chain_eltwise(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                      const fire_onnx_chain_t           *d,
                                      Caffe__EltwiseParameter__EltwiseOp op,
                                      float                              second);
/* "Bias" or "Scale" by another chain, which has the shape of some axes from `axis` on. */
fire_status_t fire_onnx_chain_affine(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     const char *type, const fire_onnx_chain_t *by,
                                     int axis);

fire_status_t fire_onnx_chain_reshape(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                      int ndim, const int64_t *dim);
/* Axis order[i] becomes axis i. */
fire_status_t fire_onnx_chain_permute(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                      const int *order);
/* Elements [begin, end) of an axis. */
fire_status_t fire_onnx_chain_cut(fire_onnx_import_t *x, fire_onnx_chain_t *c, int axis,
                                  int64_t begin, int64_t end);
fire_status_t fire_onnx_chain_tile(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                   int axis, int64_t times);
/* Repeat it to a shape that it fits to. */
fire_status_t fire_onnx_chain_spread(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     int ndim, const int64_t *dim);
/* begin[i] elements before and end[i] behind axis i; negative numbers cut off. */
fire_status_t fire_onnx_chain_pad(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                  Caffe__PadParameter__Mode mode, float value,
                                  const int64_t *begin, const int64_t *end);
/* Times a number for each place of two axes from `axis` on, which is not learned; takes
 * over factor[h][w]. */
fire_status_t fire_onnx_chain_factor(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     float *factor, int axis, int64_t h, int64_t w);
/* The mean or the maximum of each plane of 4 axes. */
fire_status_t fire_onnx_chain_global(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     bool mean);
/* The sum, mean, ... of the axes from `axis` on, which are no more. */
fire_status_t fire_onnx_chain_reduce(fire_onnx_import_t *x, fire_onnx_chain_t *c,
                                     Caffe__ReductionParameter__ReductionOp op,
                                     int axis, float coeff);
#endif
