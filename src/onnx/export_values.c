/* export_values.c - names of values, and constants. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/export.h"

static void keep(fire_onnx_export_t *x, fire_status_t st)
{
    if (x->st >= 0) x->st = st;
}

void fire_onnx_refuse(fire_onnx_export_t *x, const char *why)
{
    if (x->st >= 0) x->st = FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "%s", why);
}

void fire_onnx_needs_fixed(fire_onnx_export_t *x, const fire_blob_t *b, int axis)
{
    if (x->st >= 0 && fire_onnx_varies(x, b, axis))
        fire_onnx_refuse(x, "the batch size cannot be left open here, choose one: "
                            "--batch N");
}

/* ---- unique names ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (; *text != '\0'; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

/* The slot of a name, or the free one where it belongs. */
static uint32_t *slot_of(const fire_onnx_export_t *x, const char *text)
{
    int64_t i = hash_of(text) % x->nslot;

    while (x->slot[i] != 0 && strcmp(x->name[x->slot[i] - 1], text) != 0)
        i = (i + 1) % x->nslot;
    return &x->slot[i];
}

/* Keep half of the table free. */
static fire_status_t fit_slots(fire_onnx_export_t *x)
{
    if (x->nslot > 2 * x->nname + 2) return FIRE_OK;
    fire_free(x->slot);
    x->slot  = NULL;
    x->nslot = 4 * x->nname + 256;
    FIRE_TRY(FIRE_NEW(&x->slot, x->nslot));
    for (int64_t i = 0; i < x->nname; i++)
        *slot_of(x, x->name[i]) = (uint32_t)i + 1;
    return FIRE_OK;
}

static fire_status_t add_name(fire_onnx_export_t *x, const char *text)
{
    char     *copy;
    uint32_t *slot;
    int       number = 1;

    FIRE_TRY(fit_slots(x));
    FIRE_TRY(fire_grow(&x->name, &x->name_cap, x->nname + 1, sizeof(*x->name)));
    FIRE_TRY(fire_strdup(text, &copy));
    for (slot = slot_of(x, copy); *slot != 0; slot = slot_of(x, copy)) {
        fire_free(copy);
        FIRE_TRY(fire_asprintf(&copy, "%s_%d", text, ++number));
    }
    x->name[x->nname++] = copy;
    *slot               = (uint32_t)x->nname;
    return FIRE_OK;
}

const char *fire_onnx_name(fire_onnx_export_t *x, const char *text)
{
    if (x->st >= 0) keep(x, add_name(x, text));
    return x->st < 0 ? "" : x->name[x->nname - 1];
}

/* LAYER/SUFFIX or LAYER.SUFFIX */
static const char *name_inside(fire_onnx_export_t *x, char separator,
                               const char *suffix)
{
    char       *text;
    const char *name = "";

    if (x->st < 0) return "";
    keep(x, fire_asprintf(&text, "%s%c%s", x->layer->param->name, separator, suffix));
    if (x->st < 0) return "";
    name = fire_onnx_name(x, text);
    fire_free(text);
    return name;
}

/* ---- values of blobs ---- */

static fire_onnx_value_t *value_of(fire_onnx_export_t *x, const fire_blob_t *b)
{
    for (int i = 0; i < x->net->nblob; i++)
        if (x->value[i].blob == b) return &x->value[i];
    return NULL;
}

const char *fire_onnx_in(fire_onnx_export_t *x, int i)
{
    const fire_onnx_value_t *v;

    if (x->st < 0) return "";
    v = value_of(x, x->layer->bottom[i]);
    if (v != NULL && v->name != NULL) return v->name;
    keep(x,
         FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "its bottom \"%s\" has no value in the model",
                   x->layer->param->bottom[i]));
    return "";
}

static bool is_output(const fire_onnx_export_t *x, const fire_blob_t *b)
{
    for (int i = 0; i < x->net->noutput; i++)
        if (x->net->blob[x->net->output[i]].blob == b) return true;
    return false;
}

bool fire_onnx_is_used(const fire_onnx_export_t *x, int top)
{
    const fire_blob_t *b = x->layer->top[top];

    if (is_output(x, b)) return true;
    for (int i = x->index + 1; i < x->net->nlayer; i++)
        for (int k = 0; k < x->net->layer[i].base.nbottom; k++)
            if (x->net->layer[i].base.bottom[k] == b) return true;
    return false;
}

/* Does a later layer write a blob of this name? */
static bool is_replaced(const fire_onnx_export_t *x, const char *name)
{
    for (int i = x->index + 1; i < x->net->nlayer; i++)
        for (size_t k = 0; k < x->net->layer[i].base.param->n_top; k++)
            if (strcmp(x->net->layer[i].base.param->top[k], name) == 0) return true;
    return false;
}

/* The last value of a blob has the blob's name, earlier ones also the layer's. */
const char *fire_onnx_out(fire_onnx_export_t *x, int i)
{
    fire_onnx_value_t *v = value_of(x, x->layer->top[i]);
    const char        *top;
    char              *text;

    if (x->st < 0) return "";
    top = (size_t)i < x->layer->param->n_top ? x->layer->param->top[i]
                                             : x->layer->param->name;
    if (!is_replaced(x, top)) {
        v->next = fire_onnx_name(x, top);
        return v->next;
    }
    keep(x, fire_asprintf(&text, "%s/%s", top, x->layer->param->name));
    if (x->st < 0) return "";
    v->next = fire_onnx_name(x, text);
    fire_free(text);
    return v->next;
}

void fire_onnx_layer_done(fire_onnx_export_t *x)
{
    for (int i = 0; i < x->layer->ntop; i++) {
        fire_onnx_value_t *v = value_of(x, x->layer->top[i]);

        if (v->next != NULL) v->name = v->next;
        v->next = NULL;
    }
}

/* Without a node, unless the net's output needs its own name. */
void fire_onnx_same(fire_onnx_export_t *x, const char *in, int top)
{
    if (x->st < 0) return;
    if (is_output(x, x->layer->top[top]))
        fire_onnx_op(x, "Identity", fire_onnx_out(x, top), in, NULL);
    else
        value_of(x, x->layer->top[top])->next = in;
}

void fire_onnx_leave_open(fire_onnx_export_t *x, int top, int axis)
{
    value_of(x, x->layer->top[top])->other[axis] = -1;
}

/* ---- constants ---- */

/* Add a tensor, taking over t->own. */
static const char *add_tensor(fire_onnx_export_t *x, fire_onnx_tensor_t *t,
                              const char *name)
{
    if (x->st >= 0) keep(x, fire_strdup(name, &t->name));
    if (x->st >= 0)
        keep(x, fire_onnx_add_tensor(x->m, t));
    else
        fire_onnx_tensor_fini(t);
    return x->st < 0 ? "" : name;
}

static const char *add_copy(fire_onnx_export_t *x, int type, int ndim,
                            const int64_t *dim, const void *values)
{
    fire_onnx_tensor_t t    = {.type = type, .ndim = ndim};
    size_t             size = fire_onnx_type_size(type), n = 1;
    const char        *name = name_inside(x, '/', "constant");

    for (int i = 0; i < ndim; i++) {
        t.dim[i] = dim[i];
        n *= (size_t)dim[i];
    }
    if (x->st >= 0) keep(x, fire_alloc(n, size, "a constant", &t.own));
    if (x->st < 0) return "";
    if (n > 0) memcpy(t.own, values, n * size);
    t.data = t.own;
    return add_tensor(x, &t, name);
}

const char *fire_onnx_scalar(fire_onnx_export_t *x, float value)
{
    return add_copy(x, FIRE_ONNX(FLOAT), 0, NULL, &value);
}

const char *fire_onnx_floats(fire_onnx_export_t *x, int ndim, const int64_t *dim,
                             const float *values)
{
    return add_copy(x, FIRE_ONNX(FLOAT), ndim, dim, values);
}

const char *fire_onnx_scalar_integer(fire_onnx_export_t *x, int64_t value)
{
    return add_copy(x, FIRE_ONNX(INT64), 0, NULL, &value);
}

const char *fire_onnx_integers(fire_onnx_export_t *x, int64_t n, const int64_t *values)
{
    return add_copy(x, FIRE_ONNX(INT64), 1, &n, values);
}

/* The tensor with these values and this shape that is there already: parameters that
 * layers share. */
static const char *find_tensor(const fire_onnx_export_t *x, const float *data, int ndim,
                               const int64_t *dim)
{
    for (int64_t i = 0; i < x->m->ntensor; i++) {
        const fire_onnx_tensor_t *t = &x->m->tensor[i];

        if (t->data == data && t->ndim == ndim &&
            memcmp(t->dim, dim, (size_t)ndim * sizeof(*dim)) == 0)
            return t->name;
    }
    return NULL;
}

const char *fire_onnx_param_as(fire_onnx_export_t *x, int i, const char *suffix,
                               int ndim, const int64_t *dim)
{
    fire_onnx_tensor_t t = {.type = FIRE_ONNX(FLOAT), .ndim = ndim};
    const char        *name;
    const float       *data = NULL;

    if (x->st >= 0)
        keep(x, fire_blob_read(x->layer->blob[i], FIRE_DATA, FIRE_CPU, &data));
    if (x->st < 0) return "";
    name = find_tensor(x, data, ndim, dim);
    if (name != NULL) return name;
    if (ndim > 0) memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    t.data = data;
    return add_tensor(x, &t, name_inside(x, '.', suffix));
}

const char *fire_onnx_param(fire_onnx_export_t *x, int i, const char *suffix)
{
    const fire_blob_t *b = x->layer->blob[i];

    return fire_onnx_param_as(x, i, suffix, b->ndim, b->dim);
}
