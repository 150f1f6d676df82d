/* import.c - a model becomes a net: its nodes in order, each said by its function of
 * operators.def. What cannot be had is collected and reported at the end. */
#include "onnx/import.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "model/message.h"

#define TAKE(op, function) fire_status_t function(fire_onnx_import_t *x);
#include "onnx/operators.def"

typedef struct take_row {
    const char      *op;
    fire_onnx_take_t take;
} take_row_t;

#define TAKE(op, function) {op, function},
static const take_row_t takes[] = {
#include "onnx/operators.def"
};

fire_onnx_take_t fire_onnx_find_take(const char *op)
{
    for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++)
        if (strcmp(takes[i].op, op) == 0) return takes[i].take;
    return NULL;
}

/* ---- inputs ---- */

/* The sizes that --shape gives an input; *n_p is -1 if it gives none. */
static fire_status_t given_shape(const fire_onnx_import_t *x, const char *name,
                                 int *n_p, int64_t dim[FIRE_MAX_DIMS])
{
    size_t n = strlen(name);

    *n_p = -1;
    for (int64_t i = 0; i < x->nshape; i++) {
        const char *at = x->shape[i];
        char       *end;

        if (strncmp(at, name, n) != 0 || at[n] != '=') continue;
        *n_p = 0;
        for (at += n; *at != '\0'; at = end) {
            if (*n_p == FIRE_MAX_DIMS) break;
            dim[*n_p] = strtoll(at + 1, &end, 10);
            if (end == at + 1 || dim[*n_p] < 1 || (*end != ',' && *end != '\0'))
                return FIRE_FAIL(FIRE_ERR_INVALID, "--shape \"%s\": write BLOB=N,C,H,W",
                                 x->shape[i]);
            (*n_p)++;
        }
    }
    return FIRE_OK;
}

static fire_status_t open_dim(const char *input, int axis)
{
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "dimension %d of input \"%s\" is left open: give --shape "
                     "%s=N,C,H,W",
                     axis, input, input);
}

/* The input's shape; the first dimension, where it is left open, is the batch size. */
static fire_status_t input_shape(const fire_onnx_import_t   *x,
                                 const Onnx__ValueInfoProto *in, int *ndim_p,
                                 int64_t dim[FIRE_MAX_DIMS])
{
    const Onnx__TensorShapeProto *shape;

    FIRE_TRY(given_shape(x, in->name, ndim_p, dim));
    if (*ndim_p >= 0) return FIRE_OK;
    if (in->type == NULL || in->type->tensor_type == NULL ||
        (shape = in->type->tensor_type->shape) == NULL)
        return open_dim(in->name, 0);
    if (shape->n_dim > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_PARSE, "input \"%s\" has %zu axes", in->name,
                         shape->n_dim);
    *ndim_p = (int)shape->n_dim;
    for (int i = 0; i < *ndim_p; i++) {
        const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];

        dim[i] = d->dim_value;
        if (i == 0 && x->batch > 0)
            dim[i] = x->batch;
        else if (i == 0 && dim[i] < 1)
            dim[i] = 1;
        if (dim[i] < 1) return open_dim(in->name, i);
    }
    return FIRE_OK;
}

static fire_status_t add_input_layer(fire_onnx_import_t        *x,
                                     const fire_onnx_operand_t *v)
{
    Caffe__LayerParameter *l;
    Caffe__InputParameter *p;
    Caffe__BlobShape      *shape;

    FIRE_TRY(fire_message_add_message(x->net, "layer", &l));
    FIRE_TRY(fire_message_add_string(l, "name", v->blob));
    FIRE_TRY(fire_message_add_string(l, "type", "Input"));
    FIRE_TRY(fire_message_add_string(l, "top", v->blob));
    FIRE_TRY(fire_message_add_message(l, "input_param", &p));
    FIRE_TRY(fire_message_add_message(p, "shape", &shape));
    for (int i = 0; i < v->ndim; i++)
        FIRE_TRY(fire_message_put(shape, fire_field_find(shape->base.descriptor, "dim"),
                                  &v->dim[i]));
    return FIRE_OK;
}

static fire_status_t add_input(fire_onnx_import_t *x, const Onnx__ValueInfoProto *in)
{
    fire_onnx_operand_t *v;
    int64_t              n;

    if (in->name == NULL)
        return FIRE_FAIL(FIRE_ERR_PARSE, "an input of the graph has no name");
    FIRE_TRY(fire_onnx_add_value(x, in->name, &v));
    if (v->state != FIRE_ONNX_NOTHING) return FIRE_OK; /* old files list weights too */
    FIRE_TRY(input_shape(x, in, &v->ndim, v->dim));
    FIRE_TRY(fire_onnx_elements(v->ndim, v->dim, &n));
    if (in->type != NULL && in->type->tensor_type != NULL &&
        in->type->tensor_type->elem_type != 0 &&
        fire_onnx_type_size(in->type->tensor_type->elem_type) == 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "input \"%s\" is not of numbers",
                         in->name);
    v->state = FIRE_ONNX_BLOB;
    v->blob  = v->name;
    return add_input_layer(x, v);
}

/* ---- values ---- */

static fire_status_t add_tensors(fire_onnx_import_t *x)
{
    fire_onnx_operand_t *v;

    for (int64_t i = 0; i < x->m->ntensor; i++) {
        fire_onnx_tensor_t *t = &x->m->tensor[i];

        FIRE_TRY(fire_onnx_add_value(x, t->name, &v));
        if (v->state != FIRE_ONNX_NOTHING)
            return FIRE_FAIL(FIRE_ERR_PARSE, "two tensors are called \"%s\"", t->name);
        v->state = t->data != NULL || t->count == 0 ? FIRE_ONNX_CONST : FIRE_ONNX_LOST;
        v->t     = t;
        v->ndim  = t->ndim;
        memcpy(v->dim, t->dim, sizeof(v->dim));
    }
    return FIRE_OK;
}

/* Who reads which value, and that no value is made twice. */
static fire_status_t add_edges(fire_onnx_import_t *x)
{
    fire_onnx_operand_t *v;

    for (int64_t i = 0; i < x->m->nnode; i++) {
        Onnx__NodeProto *node = x->m->node[i];

        if (node->op_type == NULL || node->n_output == 0)
            return FIRE_FAIL(FIRE_ERR_PARSE, "node %lld has no operator or no output",
                             (long long)i);
        for (size_t k = 0; k < node->n_input; k++) {
            if (node->input[k][0] == '\0') continue;
            FIRE_TRY(fire_onnx_add_value(x, node->input[k], &v));
            v->reader = i;
            v->nreader++;
        }
        for (size_t k = 0; k < node->n_output; k++)
            if (node->output[k][0] != '\0')
                FIRE_TRY(fire_onnx_add_value(x, node->output[k], &v));
    }
    for (int64_t i = 0; i < x->m->noutput; i++) {
        if (x->m->output[i]->name == NULL)
            return FIRE_FAIL(FIRE_ERR_PARSE, "an output of the graph has no name");
        FIRE_TRY(fire_onnx_add_value(x, x->m->output[i]->name, &v));
        v->is_output = true;
    }
    return FIRE_OK;
}

/* ---- nodes ---- */

static const char *name_of(const Onnx__NodeProto *node)
{
    if (node->name != NULL && node->name[0] != '\0') return node->name;
    return node->output[0];
}

/* Bytes of a message for nodes that cannot be had. */
enum { MOST_LOST = 1500 };

/* Remember a node that cannot be had, with the reason of the last failure. What the
 * message has no room for is logged. */
static fire_status_t lose(fire_onnx_import_t *x)
{
    x->nlost++;
    if (x->lost.n > MOST_LOST) {
        FIRE_LOG(WARNING, "node \"%s\" (%s): %s", name_of(x->node), x->node->op_type,
                 fire_last_error());
        return FIRE_OK;
    }
    return fire_str_printf(&x->lost, "%snode \"%s\" (%s): %s",
                           x->lost.n > 0 ? "; " : "", name_of(x->node),
                           x->node->op_type, fire_last_error());
}

/* Are all inputs there? *lost_p: one belongs to a node that cannot be had. */
static fire_status_t check_inputs(const fire_onnx_import_t *x, bool *lost_p)
{
    *lost_p = false;
    for (int i = 0; i < (int)x->node->n_input; i++) {
        const fire_onnx_operand_t *v = fire_onnx_input(x, i);

        if (v == NULL) continue;
        *lost_p |= v->state == FIRE_ONNX_LOST;
        if (v->state == FIRE_ONNX_NOTHING)
            return FIRE_FAIL(
                FIRE_ERR_PARSE,
                "node \"%s\" (%s) reads \"%s\", which no earlier node makes: "
                "the graph has a cycle or is not sorted",
                name_of(x->node), x->node->op_type, v->name);
    }
    return FIRE_OK;
}

static fire_status_t check_outputs(const fire_onnx_import_t *x)
{
    for (int i = 0; i < (int)x->node->n_output; i++) {
        const fire_onnx_operand_t *v = fire_onnx_output(x, i);

        if (v != NULL && v->state != FIRE_ONNX_NOTHING)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "node \"%s\" makes \"%s\", which exists already",
                             name_of(x->node), v->name);
    }
    return FIRE_OK;
}

/* Is the node of the standard operators? */
static bool is_standard(const Onnx__NodeProto *node)
{
    return node->domain == NULL || node->domain[0] == '\0' ||
           strcmp(node->domain, "ai.onnx") == 0;
}

static fire_status_t take_node(fire_onnx_import_t *x)
{
    fire_onnx_take_t take = fire_onnx_find_take(x->node->op_type);
    bool             folded;

    if (is_standard(x->node)) FIRE_TRY(fire_onnx_check_attributes(x->node));
    FIRE_TRY(fire_onnx_fold_node(x, &folded));
    if (folded) return FIRE_OK;
    if (!is_standard(x->node))
        return FIRE_ONNX_LACKS("operators of the domain \"%s\" are not known",
                               x->node->domain);
    if (take == NULL) return FIRE_ONNX_LACKS("no layer does this");
    return take(x);
}

static fire_status_t take_nodes(fire_onnx_import_t *x)
{
    for (x->index = 0; x->index < x->m->nnode; x->index++) {
        bool          lost;
        fire_status_t st = FIRE_OK;

        x->node  = x->m->node[x->index];
        x->first = x->net->n_layer;
        if (x->done[x->index]) continue;
        FIRE_TRY(check_inputs(x, &lost));
        FIRE_TRY(check_outputs(x));
        if (!lost) st = take_node(x);
        if (st == FIRE_ERR_UNSUPPORTED)
            FIRE_TRY(lose(x));
        else if (st < 0)
            return fire_error_prefix(st, "node \"%s\" (%s)", name_of(x->node),
                                     x->node->op_type);
        for (int i = 0; i < (int)x->node->n_output; i++) {
            fire_onnx_operand_t *v = fire_onnx_output(x, i);

            if (v != NULL && v->state == FIRE_ONNX_NOTHING) v->state = FIRE_ONNX_LOST;
        }
    }
    if (x->nlost > 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "%lld node%s no form here: %s%s",
                         (long long)x->nlost, x->nlost == 1 ? " has" : "s have",
                         x->lost.text,
                         x->lost.n > MOST_LOST ? "; the log has the others" : "");
    return FIRE_OK;
}

/* ---- the model ---- */

static void fini(fire_onnx_import_t *x)
{
    for (int64_t i = 0; i < x->nvalue; i++)
        fire_free(x->value[i]);
    for (int64_t i = 0; i < x->nmade; i++) {
        fire_onnx_tensor_fini(x->made[i]);
        fire_free(x->made[i]);
    }
    for (int64_t i = 0; i < x->ntext; i++)
        fire_free(x->text[i]);
    for (int64_t i = 0; i < x->nweight; i++)
        fire_onnx_tensor_fini(&x->weight[i].t);
    fire_free(x->value);
    fire_free(x->made);
    fire_free(x->text);
    fire_free(x->weight);
    fire_free(x->slot);
    fire_free(x->done);
    fire_str_fini(&x->lost);
    fire_message_free(x->net);
}

/* An output that is known now becomes a Parameter. */
static fire_status_t add_constant_outputs(fire_onnx_import_t *x)
{
    for (int64_t i = 0; i < x->m->noutput; i++) {
        const fire_onnx_operand_t *v = fire_onnx_find_value(x, x->m->output[i]->name);
        Caffe__LayerParameter     *l;
        Caffe__ParameterParameter *p;
        Caffe__BlobShape          *shape;

        if (v->state == FIRE_ONNX_NOTHING)
            return FIRE_FAIL(FIRE_ERR_PARSE, "no node makes the output \"%s\"",
                             v->name);
        if (v->state != FIRE_ONNX_CONST) continue;
        FIRE_TRY(fire_message_add_message(x->net, "layer", &l));
        FIRE_TRY(fire_message_add_string(l, "name", v->name));
        FIRE_TRY(fire_message_add_string(l, "type", "Parameter"));
        FIRE_TRY(fire_message_add_string(l, "top", v->name));
        FIRE_TRY(fire_message_add_message(l, "parameter_param", &p));
        FIRE_TRY(fire_message_add_message(p, "shape", &shape));
        for (int k = 0; k < v->ndim; k++)
            FIRE_TRY(fire_message_put(
                shape, fire_field_find(shape->base.descriptor, "dim"), &v->dim[k]));
        FIRE_TRY(fire_onnx_give_tensor(x, v->t, v->ndim, v->dim));
    }
    return FIRE_OK;
}

static fire_status_t build(fire_onnx_import_t *x)
{
    ProtobufCMessage *net;

    FIRE_TRY(fire_message_create(&caffe__net_parameter__descriptor, &net));
    x->net = (Caffe__NetParameter *)net;
    FIRE_TRY(FIRE_NEW(&x->done, x->m->nnode + 1));
    if (x->m->name[0] != '\0')
        FIRE_TRY(fire_message_add_string(net, "name", x->m->name));
    if (x->m->nfunction > 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "the model has functions of its own, which "
                         "are not supported: inline them");
    FIRE_TRY(add_tensors(x));
    for (int64_t i = 0; i < x->m->ninput; i++)
        FIRE_TRY(add_input(x, x->m->input[i]));
    FIRE_TRY(add_edges(x));
    FIRE_TRY(take_nodes(x));
    return add_constant_outputs(x);
}

static fire_status_t begin(fire_onnx_import_t              *x,
                           const fire_onnx_import_config_t *config)
{
    static const fire_onnx_import_config_t preset = FIRE_ONNX_IMPORT_CONFIG_INIT;

    if (config == NULL) config = &preset;
    if (config->size != sizeof(*config))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a config of %zu bytes, this library knows %zu", config->size,
                         sizeof(*config));
    *x = (fire_onnx_import_t){
        .batch = config->batch, .shape = config->shape, .nshape = config->nshape};
    return FIRE_OK;
}

fire_status_t fire_onnx_to_net(fire_onnx_model_t               *m,
                               const fire_onnx_import_config_t *config,
                               Caffe__NetParameter            **net_p)
{
    fire_onnx_import_t x;
    fire_status_t      st;

    FIRE_TRY(begin(&x, config));
    x.m = m;
    st  = build(&x);
    if (st >= 0) {
        *net_p = x.net;
        x.net  = NULL;
    }
    fini(&x);
    return st;
}

fire_status_t fire_onnx_import(const char *path, const char *folder,
                               const fire_onnx_import_config_t *config)
{
    fire_onnx_import_t x;
    fire_status_t      st;

    FIRE_TRY(begin(&x, config));
    FIRE_TRY(fire_onnx_load(path, &x.m));
    st = build(&x);
    if (st < 0) st = fire_error_prefix(st, "%s", path);
    if (st >= 0) st = fire_dir_make(folder);
    if (st >= 0) st = fire_onnx_write_net(&x, folder);
    fini(&x);
    fire_onnx_model_destroy(x.m);
    return st;
}
