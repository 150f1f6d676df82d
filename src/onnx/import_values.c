/* import_values.c - values of the graph, and the settings and results of nodes. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/import/chain.h"

/* ---- the table of values ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (; *text != '\0'; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

static uint32_t *slot_of(const fire_onnx_import_t *x, const char *name)
{
    int64_t i = hash_of(name) % x->nslot;

    while (x->slot[i] != 0 && strcmp(x->value[x->slot[i] - 1]->name, name) != 0)
        i = (i + 1) % x->nslot;
    return &x->slot[i];
}

static fire_status_t fit_slots(fire_onnx_import_t *x)
{
    if (x->nslot > 2 * x->nvalue + 2) return FIRE_OK;
    fire_free(x->slot);
    x->slot  = NULL;
    x->nslot = 4 * x->nvalue + 256;
    FIRE_TRY(FIRE_NEW(&x->slot, x->nslot));
    for (int64_t i = 0; i < x->nvalue; i++)
        *slot_of(x, x->value[i]->name) = (uint32_t)i + 1;
    return FIRE_OK;
}

fire_onnx_operand_t *fire_onnx_find_value(const fire_onnx_import_t *x, const char *name)
{
    uint32_t *slot = x->nslot > 0 ? slot_of(x, name) : NULL;

    return slot != NULL && *slot != 0 ? x->value[*slot - 1] : NULL;
}

fire_status_t fire_onnx_add_value(fire_onnx_import_t *x, const char *name,
                                  fire_onnx_operand_t **v_p)
{
    fire_onnx_operand_t *v;
    uint32_t            *slot;

    FIRE_TRY(fit_slots(x));
    slot = slot_of(x, name);
    if (*slot == 0) {
        FIRE_TRY(fire_grow(&x->value, &x->value_cap, x->nvalue + 1, sizeof(*x->value)));
        FIRE_TRY(FIRE_NEW(&v, 1));
        v->name               = name;
        x->value[x->nvalue++] = v;
        *slot                 = (uint32_t)x->nvalue;
    }
    *v_p = x->value[*slot - 1];
    return FIRE_OK;
}

/* ---- inputs and outputs of the node ---- */

fire_onnx_operand_t *fire_onnx_input(const fire_onnx_import_t *x, int i)
{
    if (i < 0 || (size_t)i >= x->node->n_input || x->node->input[i][0] == '\0')
        return NULL;
    return fire_onnx_find_value(x, x->node->input[i]);
}

fire_onnx_operand_t *fire_onnx_output(const fire_onnx_import_t *x, int i)
{
    if (i < 0 || (size_t)i >= x->node->n_output || x->node->output[i][0] == '\0')
        return NULL;
    return fire_onnx_find_value(x, x->node->output[i]);
}

fire_status_t fire_onnx_blob(fire_onnx_import_t *x, int i,
                             const fire_onnx_operand_t **v_p)
{
    const fire_onnx_operand_t *v = fire_onnx_input(x, i);
    fire_onnx_chain_t          c;

    if (v == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "input %d is missing", i);
    *v_p = v;
    if (v->state == FIRE_ONNX_BLOB) return FIRE_OK;
    FIRE_TRY(fire_onnx_chain_begin(x, i, &c));
    x->parameter       = *v;
    x->parameter.state = FIRE_ONNX_BLOB;
    x->parameter.blob  = c.blob;
    *v_p               = &x->parameter;
    return FIRE_OK;
}

fire_status_t fire_onnx_constant(const fire_onnx_import_t *x, int i,
                                 const fire_onnx_tensor_t **t_p)
{
    const fire_onnx_operand_t *v = fire_onnx_input(x, i);

    if (v == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "input %d is missing", i);
    if (v->state != FIRE_ONNX_CONST)
        return FIRE_ONNX_LACKS("its input %d, \"%s\", must be a constant", i, v->name);
    *t_p = v->t;
    return FIRE_OK;
}

/* ---- attributes ---- */

const Onnx__AttributeProto *fire_onnx_attribute(const Onnx__NodeProto *node,
                                                const char            *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->name != NULL &&
            strcmp(node->attribute[i]->name, name) == 0)
            return node->attribute[i];
    return NULL;
}

#define IS(type) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##type

/* What attributes of these names hold, whatever the operator. */
static const struct {
    const char                         *name;
    Onnx__AttributeProto__AttributeType type;
    const char                         *words;
} kinds[] = {
    {"auto_pad", IS(STRING), "a text"},
    {"axes", IS(INTS), "integers"},
    {"axis", IS(INT), "an integer"},
    {"alpha", IS(FLOAT), "a number"},
    {"beta", IS(FLOAT), "a number"},
    {"blocksize", IS(INT), "an integer"},
    {"ceil_mode", IS(INT), "an integer"},
    {"coordinate_transformation_mode", IS(STRING), "a text"},
    {"dilations", IS(INTS), "integers"},
    {"epsilon", IS(FLOAT), "a number"},
    {"group", IS(INT), "an integer"},
    {"keepdims", IS(INT), "an integer"},
    {"kernel_shape", IS(INTS), "integers"},
    {"mode", IS(STRING), "a text"},
    {"output_padding", IS(INTS), "integers"},
    {"output_shape", IS(INTS), "integers"},
    {"pads", IS(INTS), "integers"},
    {"perm", IS(INTS), "integers"},
    {"scales", IS(FLOATS), "numbers"},
    {"split", IS(INTS), "integers"},
    {"strides", IS(INTS), "integers"},
    {"transA", IS(INT), "an integer"},
    {"transB", IS(INT), "an integer"},
};

fire_status_t fire_onnx_check_attributes(const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const Onnx__AttributeProto *a = fire_onnx_attribute(node, kinds[i].name);

        if (a != NULL && a->has_type && a->type != kinds[i].type)
            return FIRE_FAIL(FIRE_ERR_PARSE, "its attribute \"%s\" must be %s",
                             kinds[i].name, kinds[i].words);
    }
    return FIRE_OK;
}

/* Some writers leave zeros out. */
int64_t fire_onnx_get_int(const fire_onnx_import_t *x, const char *name,
                          int64_t otherwise)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, name);

    if (a == NULL || (!a->has_i && (!a->has_type || a->type != IS(INT))))
        return otherwise;
    return a->i;
}

float fire_onnx_get_float(const fire_onnx_import_t *x, const char *name,
                          float otherwise)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, name);

    if (a == NULL || (!a->has_f && (!a->has_type || a->type != IS(FLOAT))))
        return otherwise;
    return a->f;
}

bool fire_onnx_text_is(const fire_onnx_import_t *x, const char *name, const char *text,
                       bool otherwise)
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, name);

    if (a == NULL || !a->has_s) return otherwise;
    return a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

fire_status_t fire_onnx_get_ints(const fire_onnx_import_t *x, const char *name, int i,
                                 int *n_p, int64_t values[FIRE_MAX_DIMS])
{
    const Onnx__AttributeProto *a = fire_onnx_attribute(x->node, name);
    const fire_onnx_tensor_t   *t = NULL;
    int64_t                     n;

    if (a == NULL && fire_onnx_input(x, i) != NULL)
        FIRE_TRY(fire_onnx_constant(x, i, &t));
    n = a != NULL ? (int64_t)a->n_ints : t != NULL ? t->count : 0;
    if (n > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%lld values of %s are too many", (long long)n,
                         name);
    for (int k = 0; k < (int)n; k++)
        values[k] = a != NULL ? a->ints[k] : fire_onnx_tensor_integer(t, k);
    *n_p = (int)n;
    return FIRE_OK;
}

fire_status_t fire_onnx_axis(int64_t axis, int ndim, int *axis_p)
{
    if (axis < 0) axis += ndim;
    if (axis < 0 || axis >= ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "there is no axis %lld among %d",
                         (long long)axis, ndim);
    *axis_p = (int)axis;
    return FIRE_OK;
}

/* ---- results ---- */

/* As many as a blob can hold. */
fire_status_t fire_onnx_elements(int ndim, const int64_t *dim, int64_t *n_p)
{
    int64_t n = 1;

    for (int i = 0; i < ndim; i++) {
        if (dim[i] < 1 || dim[i] > INT32_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID, "a dimension of %lld cannot be",
                             (long long)dim[i]);
        if (n > (INT64_C(1) << 40) / dim[i])
            return FIRE_FAIL(FIRE_ERR_INVALID, "too many elements: %lld times %lld",
                             (long long)n, (long long)dim[i]);
        n *= dim[i];
    }
    *n_p = n;
    return FIRE_OK;
}

fire_status_t fire_onnx_set_blob(fire_onnx_import_t *x, int i, const char *blob,
                                 int ndim, const int64_t *dim)
{
    fire_onnx_operand_t *v = fire_onnx_output(x, i);
    int64_t              n;

    if (v == NULL) return FIRE_OK;
    FIRE_TRY(fire_onnx_elements(ndim, dim, &n));
    v->state = FIRE_ONNX_BLOB;
    v->blob  = blob;
    v->ndim  = ndim;
    memcpy(v->dim, dim, (size_t)ndim * sizeof(*dim));
    return FIRE_OK;
}

fire_status_t fire_onnx_set_like(fire_onnx_import_t *x, int i, const char *blob,
                                 const fire_onnx_operand_t *like)
{
    return fire_onnx_set_blob(x, i, blob, like->ndim, like->dim);
}

void fire_onnx_set_same(fire_onnx_import_t *x, int i, const fire_onnx_operand_t *v)
{
    fire_onnx_operand_t *out = fire_onnx_output(x, i);

    if (out == NULL) return;
    out->state = v->state;
    out->blob  = v->blob;
    out->t     = v->t;
    out->ndim  = v->ndim;
    memcpy(out->dim, v->dim, sizeof(out->dim));
}

fire_status_t fire_onnx_set_const(fire_onnx_import_t *x, int i, fire_onnx_tensor_t *t)
{
    fire_onnx_tensor_t *kept;
    fire_status_t       st;

    st = fire_grow(&x->made, &x->made_cap, x->nmade + 1, sizeof(*x->made));
    if (st >= 0) st = FIRE_NEW(&kept, 1);
    if (st < 0) {
        fire_onnx_tensor_fini(t);
        return st;
    }
    *kept               = *t;
    x->made[x->nmade++] = kept;
    fire_onnx_set_known(x, i, kept);
    return FIRE_OK;
}

void fire_onnx_set_known(fire_onnx_import_t *x, int i, const fire_onnx_tensor_t *t)
{
    fire_onnx_operand_t *v = fire_onnx_output(x, i);

    if (v == NULL) return;
    v->state = FIRE_ONNX_CONST;
    v->t     = t;
    v->ndim  = t->ndim;
    memcpy(v->dim, t->dim, sizeof(v->dim));
}
