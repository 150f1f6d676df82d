/* import.h - for the functions that say an operator as layers. Each is one line of
 * operators.def and takes the current node, x->node. It adds layers, then tells what the
 * node's outputs are: blobs with their shapes, or constants. FIRE_ERR_UNSUPPORTED means
 * that the node cannot be had; the import goes on, to report all such nodes at once.
 *
 * All shapes are known, because the batch size is: a Shape is a constant, and what is
 * computed from it too (fold). */
#ifndef FIRE_ONNX_IMPORT_H
#define FIRE_ONNX_IMPORT_H
#include "caffe.pb-c.h"
#include "onnx/model.h"
#include "onnx/onnx.h"

typedef enum fire_onnx_state {
    FIRE_ONNX_NOTHING, /* no node has made it yet */
    FIRE_ONNX_BLOB,    /* a blob of the net */
    FIRE_ONNX_CONST,   /* known now */
    FIRE_ONNX_LOST,    /* its node, or one before it, cannot be had */
} fire_onnx_state_t;

/* A value of the graph. */
typedef struct fire_onnx_operand {
    const char               *name; /* in the graph */
    fire_onnx_state_t         state;
    const char               *blob; /* FIRE_ONNX_BLOB: its name in the net */
    const fire_onnx_tensor_t *t;    /* FIRE_ONNX_CONST */
    int                       ndim;
    int64_t                   dim[FIRE_MAX_DIMS];
    int64_t                   reader; /* the last node that reads it */
    int                       nreader;
    bool                      is_output; /* of the graph */
} fire_onnx_operand_t;

/* Parameter `index` of a layer, written after the net. */
typedef struct fire_onnx_weight {
    size_t             layer;
    fire_onnx_tensor_t t; /* name unused; data in the model's file or own */
} fire_onnx_weight_t;

typedef struct fire_onnx_import {
    fire_onnx_model_t *m;
    int64_t            batch;
    const char *const *shape; /* [nshape] "BLOB=N,C,H,W" */
    int64_t            nshape;

    Onnx__NodeProto *node; /* the current one, number `index` */
    int64_t          index;
    bool            *done;  /* [nodes] said together with an earlier one */
    size_t           first; /* the node's first layer, once it has one */
    /* Its first input, where that is a constant that became a Parameter. */
    fire_onnx_operand_t parameter;

    fire_onnx_operand_t **value; /* [nvalue], found by a hash table of [nslot] */
    int64_t               nvalue, value_cap, nslot;
    uint32_t             *slot;
    fire_onnx_tensor_t  **made; /* [nmade] constants computed here */
    int64_t               nmade, made_cap;
    int64_t               computed; /* elements of theirs */
    char                **text;     /* [ntext] names given here */
    int64_t               ntext, text_cap;

    Caffe__NetParameter *net;
    fire_onnx_weight_t  *weight; /* [nweight] in the order of layers */
    int64_t              nweight, weight_cap;
    fire_str_t           lost; /* "node (Op): why; ..." */
    int64_t              nlost;
} fire_onnx_import_t;

/* ---- the node's inputs and settings ---- */

/* Input i; NULL if the node has none there. blob() makes a constant a Parameter,
 * constant() fails for a blob with FIRE_ERR_UNSUPPORTED. */
fire_onnx_operand_t *fire_onnx_input(const fire_onnx_import_t *x, int i);
fire_status_t        fire_onnx_blob(fire_onnx_import_t *x, int i,
                                    const fire_onnx_operand_t **v_p);
fire_status_t        fire_onnx_constant(const fire_onnx_import_t *x, int i,
                                        const fire_onnx_tensor_t **t_p);
fire_onnx_operand_t *fire_onnx_output(const fire_onnx_import_t *x, int i);

const Onnx__AttributeProto *fire_onnx_attribute(const Onnx__NodeProto *node,
                                                const char            *name);
/* Do attributes hold what their names tell? */
fire_status_t fire_onnx_check_attributes(const Onnx__NodeProto *node);
int64_t       fire_onnx_get_int(const fire_onnx_import_t *x, const char *name,
                                int64_t otherwise);
float         fire_onnx_get_float(const fire_onnx_import_t *x, const char *name,
                                  float otherwise);
/* Is the text attribute this one? `otherwise`: if it is not there. */
bool fire_onnx_text_is(const fire_onnx_import_t *x, const char *name, const char *text,
                       bool otherwise);
/* An attribute or, where that is missing, input `i` (-1: none) as integers. *n_p is 0 if
 * there is neither; fails for more than FIRE_MAX_DIMS. */
fire_status_t fire_onnx_get_ints(const fire_onnx_import_t *x, const char *name, int i,
                                 int *n_p, int64_t values[FIRE_MAX_DIMS]);
/* An axis from 0 on; fails outside of ndim. */
fire_status_t fire_onnx_axis(int64_t axis, int ndim, int *axis_p);

#define FIRE_ONNX_LACKS(...) FIRE_FAIL(FIRE_ERR_UNSUPPORTED, __VA_ARGS__)

/* ---- layers ---- */

/* Append a layer that reads the blob `bottom` (NULL: none yet). last() has the node's
 * name and makes its output 0, step() is one on the way, with a name of its own. *l_p is
 * the net's. The top has the layer's name or, for an output of the graph, the output's. */
fire_status_t fire_onnx_step(fire_onnx_import_t *x, const char *type,
                             const char *bottom, Caffe__LayerParameter **l_p);
fire_status_t fire_onnx_last(fire_onnx_import_t *x, const char *type,
                             const char *bottom, Caffe__LayerParameter **l_p);
/* A name for a layer of the node, or for a step of it, that no other layer has. */
fire_status_t fire_onnx_layer_name(fire_onnx_import_t *x, const char *step,
                                   const char **name_p);
fire_status_t fire_onnx_add_bottom(Caffe__LayerParameter *l, const char *blob);
/* One more top of the last layer: the node's output i. */
fire_status_t fire_onnx_add_top(fire_onnx_import_t *x, Caffe__LayerParameter *l, int i);
/* The next parameter of the layer added last: a tensor in another shape of as many
 * elements, or floats, which are taken over (also on failure). */
fire_status_t fire_onnx_give_tensor(fire_onnx_import_t *x, const fire_onnx_tensor_t *t,
                                    int ndim, const int64_t *dim);
fire_status_t fire_onnx_give_floats(fire_onnx_import_t *x, float *values, int ndim,
                                    const int64_t *dim);
/* The parameters of the layer are not learned. */
fire_status_t fire_onnx_freeze(Caffe__LayerParameter *l, int n);

/* ---- results ---- */

/* Output i is a blob: that of the layer added last, of this shape. */
fire_status_t fire_onnx_set_blob(fire_onnx_import_t *x, int i, const char *blob,
                                 int ndim, const int64_t *dim);
fire_status_t fire_onnx_set_like(fire_onnx_import_t *x, int i, const char *blob,
                                 const fire_onnx_operand_t *like);
/* Output i is the same as a value; a constant, which is taken over. */
void fire_onnx_set_same(fire_onnx_import_t *x, int i, const fire_onnx_operand_t *v);
fire_status_t fire_onnx_set_const(fire_onnx_import_t *x, int i, fire_onnx_tensor_t *t);
/* The same for a constant of x->made. */
void fire_onnx_set_known(fire_onnx_import_t *x, int i, const fire_onnx_tensor_t *t);

/* A layer that gives a blob another shape; *blob_p becomes its top. last: as
 * fire_onnx_last(). */
fire_status_t fire_onnx_reshape_blob(fire_onnx_import_t *x, bool last,
                                     const char **blob_p, int from_ndim,
                                     const int64_t *from, int ndim, const int64_t *dim);
/* Elements of a shape; fails where they are too many. */
fire_status_t fire_onnx_elements(int ndim, const int64_t *dim, int64_t *n_p);

/* ---- the table, and parts of the import ---- */

typedef fire_status_t (*fire_onnx_take_t)(fire_onnx_import_t *x);

/* The function for an operator; NULL: there is none. */
fire_onnx_take_t fire_onnx_find_take(const char *op);

/* If the node's result is known now, make it constants; *folded_p tells. */
fire_status_t fire_onnx_fold_node(fire_onnx_import_t *x, bool *folded_p);

fire_onnx_operand_t *fire_onnx_find_value(const fire_onnx_import_t *x,
                                          const char               *name);
fire_status_t        fire_onnx_add_value(fire_onnx_import_t *x, const char *name,
                                         fire_onnx_operand_t **v_p);
/* Append a parameter's values to the layer's message. */
fire_status_t fire_onnx_add_blob(Caffe__LayerParameter *l, const fire_onnx_tensor_t *t);
/* Write DIR/deploy.prototxt, train_val.prototxt, solver.prototxt and net.caffemodel. */
fire_status_t fire_onnx_write_net(fire_onnx_import_t *x, const char *folder);
#endif
