/* export_nodes.c - nodes, their attributes, and shapes that are known up to the batch
 * size. */
#include <stdarg.h>
#include <string.h>
#include "base/alloc.h"
#include "model/message.h"
#include "onnx/export.h"

static void keep(fire_onnx_export_t *x, fire_status_t st)
{
    if (x->st >= 0) x->st = st;
}

const char *fire_onnx_more(fire_onnx_export_t *x, const char *out)
{
    if (out == NULL && x->st >= 0) {
        char *text;

        keep(x, fire_asprintf(&text, "%s/%s", x->layer->param->name, x->node->op_type));
        if (x->st < 0) return "";
        out = fire_onnx_name(x, text);
        fire_free(text);
    }
    if (x->st >= 0) keep(x, fire_message_add_string(x->node, "output", out));
    return x->st < 0 ? "" : out;
}

void fire_onnx_also(fire_onnx_export_t *x, const char *in)
{
    if (x->st >= 0) keep(x, fire_message_add_string(x->node, "input", in));
}

const char *fire_onnx_op(fire_onnx_export_t *x, const char *op, const char *out, ...)
{
    va_list     ap;
    const char *in;

    if (x->st >= 0) keep(x, fire_onnx_add_node(x->m, &x->node));
    if (x->st >= 0) keep(x, fire_message_add_string(x->node, "op_type", op));
    va_start(ap, out);
    while ((in = va_arg(ap, const char *)) != NULL)
        fire_onnx_also(x, in);
    va_end(ap);
    out = fire_onnx_more(x, out);
    if (x->st >= 0) keep(x, fire_message_add_string(x->node, "name", out));
    return out;
}

/* ---- attributes ---- */

static Onnx__AttributeProto *add_attribute(fire_onnx_export_t *x, const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *a;

    if (x->st >= 0) keep(x, fire_message_add_message(x->node, "attribute", &a));
    if (x->st >= 0) keep(x, fire_message_add_string(a, "name", name));
    if (x->st < 0) return NULL;
    a->has_type = true;
    a->type     = type;
    return a;
}

#define TYPE(name) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##name

void fire_onnx_int(fire_onnx_export_t *x, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = add_attribute(x, name, TYPE(INT));

    if (a == NULL) return;
    a->has_i = true;
    a->i     = value;
}

void fire_onnx_ints(fire_onnx_export_t *x, const char *name, int n,
                    const int64_t *values)
{
    Onnx__AttributeProto *a = add_attribute(x, name, TYPE(INTS));

    if (a == NULL) return;
    for (int i = 0; i < n; i++)
        keep(x, fire_message_put(a, fire_field_find(a->base.descriptor, "ints"),
                                 &values[i]));
}

void fire_onnx_float(fire_onnx_export_t *x, const char *name, float value)
{
    Onnx__AttributeProto *a = add_attribute(x, name, TYPE(FLOAT));

    if (a == NULL) return;
    a->has_f = true;
    a->f     = value;
}

void fire_onnx_text(fire_onnx_export_t *x, const char *name, const char *text)
{
    Onnx__AttributeProto *a = add_attribute(x, name, TYPE(STRING));
    ProtobufCBinaryData   bytes;
    char                 *copy;

    if (a == NULL) return;
    keep(x, fire_strdup(text, &copy));
    if (x->st < 0) return;
    bytes    = (ProtobufCBinaryData){strlen(copy), (uint8_t *)copy};
    a->has_s = true;
    a->s     = bytes;
}

/* ---- shapes ---- */

/* In Reshape's language, 0 keeps the dimension at this place and -1, once, is what is
 * left. */
const char *fire_onnx_reshape_to(fire_onnx_export_t *x, const char *in, const char *out,
                                 const fire_blob_t *from, int ndim, const int64_t *dim,
                                 const bool *varies)
{
    int64_t shape[FIRE_MAX_DIMS];
    int     rest = 0;

    for (int i = 0; i < ndim && x->st >= 0; i++) {
        shape[i] = dim[i];
        if (varies == NULL || !varies[i]) continue;
        if (i < from->ndim && from->dim[i] == dim[i] && fire_onnx_varies(x, from, i)) {
            shape[i] = 0;
        } else {
            shape[i] = -1;
            rest++;
        }
    }
    if (rest > 1)
        fire_onnx_refuse(x, "its shape cannot be said for an open batch size, choose "
                            "one: --batch N");
    return fire_onnx_op(x, "Reshape", out, in, fire_onnx_integers(x, ndim, shape),
                        NULL);
}

const char *fire_onnx_reshape(fire_onnx_export_t *x, const char *in, const char *out,
                              const fire_blob_t *from, const fire_blob_t *to)
{
    bool varies[FIRE_MAX_DIMS];

    for (int i = 0; i < to->ndim; i++)
        varies[i] = fire_onnx_varies(x, to, i);
    return fire_onnx_reshape_to(x, in, out, from, to->ndim, to->dim, varies);
}

const char *fire_onnx_reshape_rows(fire_onnx_export_t *x, const char *in,
                                   const char *out, const fire_blob_t *to)
{
    static const fire_blob_t none = {.ndim = 0};

    return fire_onnx_reshape(x, in, out, &none, to);
}

const char *fire_onnx_shape(fire_onnx_export_t *x, const fire_blob_t *b,
                            const char *like, int same)
{
    const char *shape, *first;
    bool        open = false;

    for (int i = 0; i < b->ndim; i++) {
        if (i >= same) fire_onnx_needs_fixed(x, b, i);
        open |= fire_onnx_varies(x, b, i);
    }
    if (!open) return fire_onnx_integers(x, b->ndim, b->dim);
    shape = fire_onnx_op(x, "Shape", NULL, like, NULL);
    first = fire_onnx_cut(x, shape, NULL, 0, 0, same);
    if (same == b->ndim) return first;
    shape = fire_onnx_op(x, "Concat", NULL, first,
                         fire_onnx_integers(x, b->ndim - same, b->dim + same), NULL);
    fire_onnx_int(x, "axis", 0);
    return shape;
}

/* Axes became an input of ReduceSum in version 13, of the others in 18. */
const char *fire_onnx_reduce(fire_onnx_export_t *x, const char *op, const char *in,
                             const char *out, int first, int end, bool keep_axes)
{
    int64_t axis[FIRE_MAX_DIMS];
    int     n = 0;

    for (int i = first; i < end; i++)
        axis[n++] = i;
    if (n == 0) return out == NULL ? in : fire_onnx_op(x, "Identity", out, in, NULL);
    if (x->opset >= 18 || strcmp(op, "ReduceSum") == 0) {
        out = fire_onnx_op(x, op, out, in, fire_onnx_integers(x, n, axis), NULL);
    } else {
        out = fire_onnx_op(x, op, out, in, NULL);
        fire_onnx_ints(x, "axes", n, axis);
    }
    fire_onnx_int(x, "keepdims", keep_axes);
    return out;
}

const char *fire_onnx_cut(fire_onnx_export_t *x, const char *in, const char *out,
                          int axis, int64_t begin, int64_t end)
{
    int64_t     a        = axis;
    const char *at_begin = fire_onnx_integers(x, 1, &begin);
    const char *at_end   = fire_onnx_integers(x, 1, &end);

    return fire_onnx_op(x, "Slice", out, in, at_begin, at_end,
                        fire_onnx_integers(x, 1, &a), NULL);
}
