/* patterns.c - layers that exporters write as several nodes. */
#include <math.h>
#include <string.h>
#include "onnx/import/take.h"

/* Number of the node that alone reads v, if it is of this operator; -1 otherwise. */
static int64_t only_reader(const fire_onnx_import_t *x, const fire_onnx_operand_t *v,
                           const char *op)
{
    const Onnx__NodeProto *node;

    if (v == NULL || v->nreader != 1 || v->is_output || v->state != FIRE_ONNX_NOTHING)
        return -1;
    node = x->m->node[v->reader];
    return strcmp(node->op_type, op) == 0 && node->n_input == 2 && node->n_output == 1
               ? v->reader
               : -1;
}

static const fire_onnx_operand_t *result(const fire_onnx_import_t *x, int64_t node)
{
    return fire_onnx_find_value(x, x->m->node[node]->output[0]);
}

/* The input of a node of two that is not v. */
static const fire_onnx_operand_t *other(const fire_onnx_import_t *x, int64_t node,
                                        const fire_onnx_operand_t *v)
{
    char **input = x->m->node[node]->input;

    return fire_onnx_find_value(x, input[strcmp(input[0], v->name) == 0 ? 1 : 0]);
}

static bool is_number(const fire_onnx_import_t *x, const fire_onnx_operand_t *v,
                      double want)
{
    const Onnx__NodeProto      *node;
    const Onnx__AttributeProto *a;
    fire_onnx_tensor_t          t;
    bool                        is;

    if (v == NULL) return false;
    if (v->state == FIRE_ONNX_CONST)
        return v->t->count == 1 && fabs(fire_onnx_tensor_number(v->t, 0) - want) < 1e-6;
    for (int64_t i = x->index; i < x->m->nnode; i++) { /* a Constant that comes later */
        node = x->m->node[i];
        if (node->n_output != 1 || strcmp(node->output[0], v->name) != 0) continue;
        a = strcmp(node->op_type, "Constant") == 0 ? fire_onnx_attribute(node, "value")
                                                   : NULL;
        if (a == NULL || !a->has_t ||
            fire_onnx_tensor_parse(x->m, a->t.data, a->t.len, NULL, &t) < 0)
            return false;
        is = t.count == 1 && t.data != NULL &&
             fabs(fire_onnx_tensor_number(&t, 0) - want) < 1e-6;
        fire_onnx_tensor_fini(&t);
        return is;
    }
    return false;
}

/* One layer for the nodes up to number `end`, whose name and result it has. */
static fire_status_t say(fire_onnx_import_t *x, const char *type,
                         const fire_onnx_operand_t *in, int64_t end)
{
    Onnx__NodeProto       *here = x->node;
    Caffe__LayerParameter *l;
    fire_status_t          st;

    x->done[end] = true;
    x->node      = x->m->node[end];
    st           = fire_onnx_last(x, type, in->blob, &l);
    if (st >= 0) st = fire_onnx_set_like(x, 0, l->top[0], in);
    x->node = here;
    return st;
}

fire_status_t fire_onnx_match_swish(fire_onnx_import_t *x, bool *matched_p)
{
    const fire_onnx_operand_t *in   = fire_onnx_input(x, 0),
                              *gate = fire_onnx_output(x, 0);
    int64_t mul                     = only_reader(x, gate, "Mul");

    *matched_p = mul >= 0 && in != NULL && in->state == FIRE_ONNX_BLOB &&
                 other(x, mul, gate) == in;
    return *matched_p ? say(x, "Swish", in, mul) : FIRE_OK;
}

fire_status_t fire_onnx_match_gelu(fire_onnx_import_t *x, bool *matched_p)
{
    const fire_onnx_operand_t *in = fire_onnx_input(x, 0), *v = fire_onnx_output(x, 0);
    int64_t                    erf, add, mul, half;
    bool                       div = strcmp(x->node->op_type, "Div") == 0;

    *matched_p = false;
    if (in == NULL || in->state != FIRE_ONNX_BLOB || v == NULL || v->nreader != 1 ||
        !is_number(x, fire_onnx_input(x, 1), div ? sqrt(2) : sqrt(0.5)))
        return FIRE_OK;
    erf = v->reader;
    if (strcmp(x->m->node[erf]->op_type, "Erf") != 0) return FIRE_OK;
    v   = result(x, erf);
    add = only_reader(x, v, "Add");
    if (add < 0 || !is_number(x, other(x, add, v), 1)) return FIRE_OK;
    v   = result(x, add);
    mul = only_reader(x, v, "Mul");
    if (mul < 0 || other(x, mul, v) != in) return FIRE_OK;
    v    = result(x, mul);
    half = only_reader(x, v, "Mul");
    if (half < 0 || !is_number(x, other(x, half, v), 0.5)) return FIRE_OK;
    x->done[erf] = x->done[add] = x->done[mul] = true;
    *matched_p                                 = true;
    return say(x, "GELU", in, half);
}
