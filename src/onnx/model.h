/* model.h - an ONNX model in memory: nodes as messages, tensors whose values lie in a
 * mapped file, in a net, or in memory of their own. The writer and the reader stream
 * values between here and files, so that a model of any size is in memory once. */
#ifndef FIRE_ONNX_MODEL_H
#define FIRE_ONNX_MODEL_H
#include <fire/blob.h>
#include "base/text/text.h"
#include "onnx.pb-c.h"

/* FIRE_ONNX(INT64): an element type of a tensor. */
#define FIRE_ONNX(type) ONNX__TENSOR_PROTO__DATA_TYPE__##type

/* A constant of the graph: weights, shapes, indices. */
typedef struct fire_onnx_tensor {
    char       *name;
    int         type; /* FIRE_ONNX(FLOAT), ... */
    int         ndim;
    int64_t     dim[FIRE_MAX_DIMS];
    int64_t     count; /* product of dim */
    const void *data;  /* the values in C order, not always aligned */
    void       *own;   /* memory of data to free; NULL: somebody else's */
} fire_onnx_tensor_t;

/* A file in memory. */
typedef struct fire_onnx_file {
    char  *path;
    void  *bytes;
    size_t n;
} fire_onnx_file_t;

typedef struct fire_onnx_model {
    int64_t opset;  /* version of the standard operators */
    bool    custom; /* uses operators of domain "caffe" */
    char   *name;   /* of the graph */

    int64_t             nnode, node_cap, ntensor, tensor_cap, ninput, input_cap;
    int64_t             noutput, output_cap, nfile, file_cap, nfunction;
    Onnx__NodeProto   **node; /* each reads what earlier ones, inputs or tensors give */
    fire_onnx_tensor_t *tensor;
    Onnx__ValueInfoProto **input, **output;
    fire_onnx_file_t      *file; /* mapped: data of tensors point into them */
} fire_onnx_model_t;

/* An empty model. End it with fire_onnx_model_destroy(); NULL is allowed there. */
fire_status_t fire_onnx_model_create(fire_onnx_model_t **m_p);
void          fire_onnx_model_destroy(fire_onnx_model_t *m);

/* Bytes of one element of a type; 0 for types without a fixed size or unknown here. */
size_t fire_onnx_type_size(int type);

/* Append. add_node() gives an empty node; add_tensor() takes over *t, also on failure,
 * and fails for an unknown type or a shape that cannot be. */
fire_status_t fire_onnx_add_node(fire_onnx_model_t *m, Onnx__NodeProto **node_p);
fire_status_t fire_onnx_add_tensor(fire_onnx_model_t *m, fire_onnx_tensor_t *t);
/* Describe an input or output of the graph. symbol[i] names a dimension that is only
 * known when the model runs; NULL: it is dim[i]. */
fire_status_t fire_onnx_add_input(fire_onnx_model_t *m, const char *name, int ndim,
                                  const int64_t *dim, const char *const *symbol);
fire_status_t fire_onnx_add_output(fire_onnx_model_t *m, const char *name, int ndim,
                                   const int64_t *dim, const char *const *symbol);

void fire_onnx_tensor_fini(fire_onnx_tensor_t *t);
/* Set t->count from its shape; fails if that is negative or too large. */
fire_status_t fire_onnx_tensor_count(fire_onnx_tensor_t *t);
/* Element i as a number; types of floats and integers. */
double  fire_onnx_tensor_number(const fire_onnx_tensor_t *t, int64_t i);
int64_t fire_onnx_tensor_integer(const fire_onnx_tensor_t *t, int64_t i);
/* All elements as float32. */
void fire_onnx_tensor_floats(const fire_onnx_tensor_t *t, float *out);

/* ---- files ---- */

/* Write the model to a file. Where it would exceed the 2 GB that protobuf allows, or
 * with `external`, the values go to a second file, PATH.data. Both are complete or as
 * they were. */
fire_status_t fire_onnx_save(const fire_onnx_model_t *m, const char *path,
                             bool external);

/* Read a file; values stay in the mapped file and in those it refers to, which must lie
 * in its folder or below. Damage is an error with the file's name. parse() does so with
 * n bytes that are in memory and outlive the model; folder NULL: no other files. */
fire_status_t fire_onnx_load(const char *path, fire_onnx_model_t **m_p);
fire_status_t fire_onnx_parse(const void *bytes, size_t n, const char *file,
                              const char *folder, fire_onnx_model_t **m_p);
/* Read one tensor from the n bytes of its message; t->data may point into them. */
fire_status_t fire_onnx_tensor_parse(fire_onnx_model_t *m, const void *bytes, size_t n,
                                     const char *folder, fire_onnx_tensor_t *t);
#endif
