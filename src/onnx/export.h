/* export.h - for the functions that say a layer in ONNX's operators. Each is one line of
 * operators.def and looks like
 *
 *     void fire_onnx_put_relu(fire_onnx_export_t *x)
 *     {
 *         fire_onnx_op(x, "Relu", fire_onnx_out(x, 0), fire_onnx_in(x, 0), NULL);
 *     }
 *
 * The net is built, so that all shapes are known: x->layer has its bottoms, tops, settings
 * and parameters. The first failure is kept in x->st; all calls after it do nothing and
 * return "", so that a function need not check each. Names live as long as x. */
#ifndef FIRE_ONNX_EXPORT_H
#define FIRE_ONNX_EXPORT_H
#include "net/net_state.h"
#include "onnx/model.h"
#include "onnx/onnx.h"

/* The value that a blob holds at this point of the net. A layer that works in place
 * gives the blob another value. */
typedef struct fire_onnx_value {
    const fire_blob_t *blob;
    const char        *name; /* NULL: none yet */
    const char        *next; /* its name when the current layer is done */
    int64_t            other[FIRE_MAX_DIMS]; /* its shape for another batch size */
} fire_onnx_value_t;

typedef struct fire_onnx_export {
    fire_net_t                      *net;
    fire_onnx_model_t               *m;
    const fire_onnx_export_config_t *config;
    int                              opset;
    fire_status_t                    st;

    const fire_layer_t *layer; /* the current one, number `index` of the net */
    int                 index;
    Onnx__NodeProto    *node; /* the last one, which attributes are added to */
    bool               *done; /* [layers] it was said together with an earlier one */

    fire_onnx_value_t *value; /* [blobs of the net] */
    char             **name;  /* [nname] all names in use */
    int64_t            nname, name_cap;
    uint32_t          *slot; /* [nslot] hash table: indices into name, from 1 */
    int64_t            nslot;
} fire_onnx_export_t;

/* ---- values ---- */

/* Name of the value that bottom i holds, and the name to give to top i. Where the layer
 * works in place, in() still gives the old value. */
const char *fire_onnx_in(fire_onnx_export_t *x, int i);
const char *fire_onnx_out(fire_onnx_export_t *x, int i);
/* Is the top read by a later layer, or an output of the net? */
bool fire_onnx_is_used(const fire_onnx_export_t *x, int top);
/* Top i is the same value as `in`. */
void fire_onnx_same(fire_onnx_export_t *x, const char *in, int top);

/* Constants: parameter i of the layer, called LAYER.SUFFIX; a number; numbers.
 * What is called scalar has no axes. */
const char *fire_onnx_param(fire_onnx_export_t *x, int i, const char *suffix);
const char *fire_onnx_scalar(fire_onnx_export_t *x, float value);
const char *fire_onnx_scalar_integer(fire_onnx_export_t *x, int64_t value);
const char *fire_onnx_floats(fire_onnx_export_t *x, int ndim, const int64_t *dim,
                             const float *values);
const char *fire_onnx_integers(fire_onnx_export_t *x, int64_t n, const int64_t *values);
/* Parameter i in another shape of as many elements: its values are not copied. */
const char *fire_onnx_param_as(fire_onnx_export_t *x, int i, const char *suffix,
                               int ndim, const int64_t *dim);

/* ---- nodes ---- */

/* Append a node; the inputs, "" for one left out, end with NULL. out NULL: the value
 * gets a name. Returns the name of the output. */
const char *fire_onnx_op(fire_onnx_export_t *x, const char *op, const char *out, ...)
    __attribute__((sentinel));
/* One more output or input of the last node. */
const char *fire_onnx_more(fire_onnx_export_t *x, const char *out);
void        fire_onnx_also(fire_onnx_export_t *x, const char *in);

/* Attributes of the last node. */
void fire_onnx_int(fire_onnx_export_t *x, const char *name, int64_t value);
void fire_onnx_ints(fire_onnx_export_t *x, const char *name, int n,
                    const int64_t *values);
void fire_onnx_float(fire_onnx_export_t *x, const char *name, float value);
void fire_onnx_text(fire_onnx_export_t *x, const char *name, const char *text);

/* ---- shapes ---- */

/* Does this dimension change with the batch size? Only where that is left open. */
bool fire_onnx_varies(const fire_onnx_export_t *x, const fire_blob_t *b, int axis);
/* This dimension of a top is known only when the net runs. */
void fire_onnx_leave_open(fire_onnx_export_t *x, int top, int axis);
/* Give `in`, which has the shape of `from`, the shape dim; varies[i] (NULL: none) tells
 * that dim[i] changes with the batch size. Fails if that cannot be said. */
const char *fire_onnx_reshape_to(fire_onnx_export_t *x, const char *in, const char *out,
                                 const fire_blob_t *from, int ndim, const int64_t *dim,
                                 const bool *varies);
/* The same with the shape of a blob. */
const char *fire_onnx_reshape(fire_onnx_export_t *x, const char *in, const char *out,
                              const fire_blob_t *from, const fire_blob_t *to);
/* The same where `in` has other axes than `to`: no axis is kept, one may be open. */
const char *fire_onnx_reshape_rows(fire_onnx_export_t *x, const char *in,
                                   const char *out, const fire_blob_t *to);
/* The shape of a blob as a tensor of integers. `like`: a value whose first `same` axes
 * it has; those may change with the batch size. */
const char *fire_onnx_shape(fire_onnx_export_t *x, const fire_blob_t *b,
                            const char *like, int same);

/* Reduce axes [first, end) by "ReduceSum", ...; out may be NULL. */
const char *fire_onnx_reduce(fire_onnx_export_t *x, const char *op, const char *in,
                             const char *out, int first, int end, bool keep);
/* Elements [begin, end) of an axis. */
const char *fire_onnx_cut(fire_onnx_export_t *x, const char *in, const char *out,
                          int axis, int64_t begin, int64_t end);

/* Fail: say why the layer has no form in ONNX. */
void fire_onnx_refuse(fire_onnx_export_t *x, const char *why);
/* Fail if a dimension changes with the batch size. */
void fire_onnx_needs_fixed(fire_onnx_export_t *x, const fire_blob_t *b, int axis);

/* ---- the table ---- */

typedef void (*fire_onnx_put_t)(fire_onnx_export_t *x);

/* The function for a type of layers; NULL: there is none. */
fire_onnx_put_t fire_onnx_find_put(const char *type);

/* ---- parts of export.c ---- */

/* Inputs of the graph for a layer that reads data, with its transformation in front. */
void fire_onnx_put_inputs(fire_onnx_export_t *x);
/* The layer as an operator of domain "caffe". */
void fire_onnx_put_custom(fire_onnx_export_t *x);
/* The tops have their new values from now on. */
void fire_onnx_layer_done(fire_onnx_export_t *x);
/* A name nobody has yet: `text`, or `text` with a number behind. */
const char *fire_onnx_name(fire_onnx_export_t *x, const char *text);
#endif
