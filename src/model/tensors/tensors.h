/* tensors.h - weights alone, as named arrays in files of other programs: .safetensors and
 * numpy's .npz.
 *
 * An array is called LAYER.weight or LAYER.bias, as in PyTorch. BatchNorm has
 * LAYER.running_mean and LAYER.running_var: Caffe's sums divided by their weight, which
 * is 1 when they come back. Layers with more parameters number them: LAYER.0, LAYER.1,
 * ... A layer "bn/batchnorm" beside a Scale "bn", which is what the import of ONNX makes
 * of one BatchNormalization, shares the name "bn" with it: then the names are those of
 * PyTorch's state_dict(). */
#ifndef FIRE_MODEL_TENSORS_TENSORS_H
#define FIRE_MODEL_TENSORS_TENSORS_H
#include <fire/blob.h>
#include "caffe.pb-c.h"
#include "model/message.h"

/* Does the path end in .safetensors or .npz? */
bool fire_tensors_is_file(const char *path);

/* load() reads a net that has nothing but names and parameters of layers, in the order of
 * their names; save() writes those of a net. Arrays that are no parameters by their names
 * are skipped, with a message. */
fire_status_t fire_tensors_load(const char *path, Caffe__NetParameter **net_p);
fire_status_t fire_tensors_save(const char *path, const Caffe__NetParameter *net);

/* The same from n bytes in memory; `file` names them in messages. */
fire_status_t fire_safetensors_parse(const void *bytes, size_t n, const char *file,
                                     Caffe__NetParameter **net_p);
fire_status_t fire_npz_parse(const void *bytes, size_t n, const char *file,
                             Caffe__NetParameter **net_p);
fire_status_t fire_safetensors_save(const char *path, const Caffe__NetParameter *net);
fire_status_t fire_npz_save(const char *path, const Caffe__NetParameter *net);

/* ---- for the formats ---- */

typedef struct fire_tensor {
    char   *name;
    size_t  group; /* length of the layer's name in it */
    int     index; /* which parameter */
    bool    norm;  /* of a BatchNorm */
    int     ndim;
    int64_t dim[FIRE_MAX_DIMS];
    int64_t count;  /* product of dim */
    float  *values; /* [count] */
} fire_tensor_t;

/* Arrays of a file that is being read; {0} is an empty list. */
typedef struct fire_tensors {
    fire_tensor_t *list;
    int64_t        n, cap;
} fire_tensors_t;

/* Set *count_p to the product of dim; fails for a shape that cannot be. */
fire_status_t fire_tensor_count(int ndim, const int64_t *dim, int64_t *count_p);

/* Append an array and tell where its values go. *values_p is NULL if the name says that
 * it is no parameter. The file must have that many values: this allocates them. */
fire_status_t fire_tensors_add(fire_tensors_t *ts, const char *name, int ndim,
                               const int64_t *dim, float **values_p);
/* Make the net of all arrays, and free them, also on failure. */
fire_status_t fire_tensors_take(fire_tensors_t *ts, const char *file,
                                Caffe__NetParameter **net_p);
void          fire_tensors_fini(fire_tensors_t *ts);

/* Call fn for each parameter of a net: t->values are NULL in a first round, in which
 * only names and shapes are wanted (`values` false). */
typedef fire_status_t (*fire_tensor_fn_t)(void *arg, const fire_tensor_t *t);
fire_status_t fire_tensors_each(const Caffe__NetParameter *net, bool values,
                                fire_tensor_fn_t fn, void *arg);
#endif
