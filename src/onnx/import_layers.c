/* import_layers.c - layers of the new net, their names and parameters. */
#include <ctype.h>
#include <string.h>
#include "base/alloc.h"
#include "model/message.h"
#include "onnx/import/known.h"

/* ---- names ---- */

static fire_status_t keep_text(fire_onnx_import_t *x, char *text, const char **text_p)
{
    fire_status_t st =
        fire_grow(&x->text, &x->text_cap, x->ntext + 1, sizeof(*x->text));

    if (st < 0) {
        fire_free(text);
        return st;
    }
    *text_p = x->text[x->ntext++] = text;
    return FIRE_OK;
}

/* Is it the name of a layer, a blob, or an output of the graph? */
static bool is_taken(const fire_onnx_import_t *x, const char *name)
{
    for (size_t i = 0; i < x->net->n_layer; i++) {
        const Caffe__LayerParameter *l = x->net->layer[i];

        if (strcmp(l->name, name) == 0) return true;
        for (size_t k = 0; k < l->n_top; k++)
            if (strcmp(l->top[k], name) == 0) return true;
    }
    for (int64_t i = 0; i < x->m->noutput; i++)
        if (strcmp(x->m->output[i]->name, name) == 0) return true;
    return false;
}

/* "layer1.0.conv1.weight" as "layer1.0.conv1"; false for names that exporters make up. */
static bool weight_stem(const char *name, fire_str_t *out, fire_status_t *st_p)
{
    const char *dot = strrchr(name, '.');

    if (dot == NULL || dot == name || strstr(name, "::") != NULL ||
        (strcmp(dot, ".weight") != 0 && strcmp(dot, ".gain") != 0 &&
         strcmp(dot, ".folded_weight") != 0))
        return false;
    *st_p = fire_str_add(out, name, (size_t)(dot - name));
    return true;
}

/* The text up to `end` without "_1" behind a name. */
static size_t without_number(const char *name, size_t n)
{
    size_t k = n;

    while (k > 1 && isdigit((unsigned char)name[k - 1]))
        k--;
    return k < n && k > 1 && name[k - 1] == '_' ? k - 1 : n;
}

/* "/layer1/layer1.0/conv1/Conv" as "layer1.0/conv1": a part that the next one repeats goes,
 * and so does the operator at the end. */
static fire_status_t path_stem(const char *name, const char *op, fire_str_t *out)
{
    while (*name == '/')
        name++;
    while (*name != '\0') {
        size_t      n    = strcspn(name, "/");
        const char *next = name + n + (name[n] == '/');
        size_t      bare = without_number(name, n);
        bool        repeated =
            strncmp(next, name, n) == 0 && (next[n] == '.' || next[n] == '/');
        bool is_op = *next == '\0' && out->n > 0 && bare == strlen(op) &&
                     strncmp(name, op, bare) == 0;

        if (n > 0 && !repeated && !is_op)
            FIRE_TRY(
                fire_str_printf(out, "%s%.*s", out->n > 0 ? "/" : "", (int)n, name));
        name = next;
    }
    return FIRE_OK;
}

/* What the graph calls the node: after its weights, by its path, or by its result. */
static fire_status_t stem_of(const fire_onnx_import_t *x, fire_str_t *out)
{
    const Onnx__NodeProto *node = x->node;
    fire_status_t          st   = FIRE_OK;

    if (node->n_input > 1 && weight_stem(node->input[1], out, &st)) return st;
    if (node->name != NULL && strchr(node->name, '/') != NULL)
        FIRE_TRY(path_stem(node->name, node->op_type, out));
    else if (node->name != NULL && node->name[0] != '\0' &&
             strncmp(node->name, "node_", 5) != 0)
        FIRE_TRY(fire_str_printf(out, "%s", node->name));
    if (out->n == 0) FIRE_TRY(fire_str_printf(out, "%s", node->output[0]));
    return FIRE_OK;
}

fire_status_t fire_onnx_layer_name(fire_onnx_import_t *x, const char *step,
                                   const char **name_p)
{
    fire_str_t    stem = {0};
    char         *name = NULL;
    fire_status_t st   = stem_of(x, &stem);

    if (st >= 0 && step != NULL) st = fire_str_printf(&stem, "/%s", step);
    if (st >= 0) st = fire_strdup(stem.text, &name);
    for (int i = 2; st >= 0 && is_taken(x, name); i++) {
        fire_free(name);
        name = NULL;
        st   = fire_asprintf(&name, "%s_%d", stem.text, i);
    }
    fire_str_fini(&stem);
    return st < 0 ? st : keep_text(x, name, name_p);
}

/* ---- layers ---- */

static fire_status_t add_layer(fire_onnx_import_t *x, const char *type,
                               const char *name, const char *top, const char *bottom,
                               Caffe__LayerParameter **l_p)
{
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_message_add_message(x->net, "layer", &l));
    FIRE_TRY(fire_message_add_string(l, "name", name));
    FIRE_TRY(fire_message_add_string(l, "type", type));
    if (bottom != NULL) FIRE_TRY(fire_message_add_string(l, "bottom", bottom));
    FIRE_TRY(fire_message_add_string(l, "top", top));
    *l_p = l;
    return FIRE_OK;
}

/* "convolution" of "Convolution" */
static void lower(const char *type, char out[32])
{
    size_t i = 0;

    for (; type[i] != '\0' && i < 31; i++)
        out[i] = (char)tolower((unsigned char)type[i]);
    out[i] = '\0';
}

fire_status_t fire_onnx_step(fire_onnx_import_t *x, const char *type,
                             const char *bottom, Caffe__LayerParameter **l_p)
{
    char        step[32];
    const char *name;

    lower(type, step);
    FIRE_TRY(fire_onnx_layer_name(x, step, &name));
    return add_layer(x, type, name, name, bottom, l_p);
}

/* The name for output i's blob: the layer's, unless the graph's users know it by one. */
static const char *top_name(const fire_onnx_import_t *x, int i, const char *otherwise)
{
    const fire_onnx_operand_t *v = fire_onnx_output(x, i);

    return v != NULL && v->is_output ? v->name : otherwise;
}

fire_status_t fire_onnx_last(fire_onnx_import_t *x, const char *type,
                             const char *bottom, Caffe__LayerParameter **l_p)
{
    const char *name;

    FIRE_TRY(fire_onnx_layer_name(x, NULL, &name));
    return add_layer(x, type, name, top_name(x, 0, name), bottom, l_p);
}

fire_status_t fire_onnx_add_bottom(Caffe__LayerParameter *l, const char *blob)
{
    return fire_message_add_string(l, "bottom", blob);
}

fire_status_t fire_onnx_add_top(fire_onnx_import_t *x, Caffe__LayerParameter *l, int i)
{
    const char *name;
    char       *text;

    for (int k = (int)l->n_top;; k++) {
        FIRE_TRY(fire_asprintf(&text, "%s/%d", l->name, k));
        if (!is_taken(x, text)) break;
        fire_free(text);
    }
    FIRE_TRY(keep_text(x, text, &name));
    return fire_message_add_string(l, "top", top_name(x, i, name));
}

/* ---- parameters ---- */

static fire_status_t give(fire_onnx_import_t *x, fire_onnx_tensor_t *t)
{
    fire_status_t st = fire_onnx_tensor_count(t);

    if (st >= 0)
        st = fire_grow(&x->weight, &x->weight_cap, x->nweight + 1, sizeof(*x->weight));
    if (st < 0) {
        fire_onnx_tensor_fini(t);
        return st;
    }
    x->weight[x->nweight++] = (fire_onnx_weight_t){x->net->n_layer - 1, *t};
    return FIRE_OK;
}

/* Layers whose weights are no integers. */
static bool is_learned(const Caffe__LayerParameter *l)
{
    static const char *const types[] = {"BatchNorm", "Convolution", "Deconvolution",
                                        "InnerProduct", "PReLU"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(l->type, types[i]) == 0) return true;
    return false;
}

fire_status_t fire_onnx_give_tensor(fire_onnx_import_t *x, const fire_onnx_tensor_t *t,
                                    int ndim, const int64_t *dim)
{
    fire_onnx_tensor_t w = {.type = t->type, .ndim = ndim, .data = t->data};

    if (ndim > 0) memcpy(w.dim, dim, (size_t)ndim * sizeof(*dim));
    FIRE_TRY(fire_onnx_tensor_count(&w));
    if (fire_onnx_is_integer(t->type) && is_learned(x->net->layer[x->net->n_layer - 1]))
        return FIRE_FAIL(FIRE_ERR_PARSE, "its tensor \"%s\" is of integers",
                         t->name != NULL ? t->name : "");
    if (w.count != t->count || fire_onnx_type_size(t->type) == 0)
        return FIRE_FAIL(
            FIRE_ERR_PARSE, "its tensor \"%s\" has %lld elements, not %lld",
            t->name != NULL ? t->name : "", (long long)t->count, (long long)w.count);
    return give(x, &w);
}

fire_status_t fire_onnx_give_floats(fire_onnx_import_t *x, float *values, int ndim,
                                    const int64_t *dim)
{
    fire_onnx_tensor_t w = {
        .type = FIRE_ONNX(FLOAT), .ndim = ndim, .data = values, .own = values};

    if (ndim > 0) memcpy(w.dim, dim, (size_t)ndim * sizeof(*dim));
    return give(x, &w);
}

fire_status_t fire_onnx_freeze(Caffe__LayerParameter *l, int n)
{
    for (int i = 0; i < n; i++) {
        Caffe__ParamSpec *spec;

        FIRE_TRY(fire_message_add_message(l, "param", &spec));
        spec->has_lr_mult = spec->has_decay_mult = true;
        spec->lr_mult = spec->decay_mult = 0;
    }
    return FIRE_OK;
}

/* ---- reshaping ---- */

fire_status_t fire_onnx_reshape_blob(fire_onnx_import_t *x, bool last,
                                     const char **blob_p, int from_ndim,
                                     const int64_t *from, int ndim, const int64_t *dim)
{
    Caffe__LayerParameter   *l;
    Caffe__ReshapeParameter *p;
    Caffe__BlobShape        *shape;
    int64_t                  have, want;

    FIRE_TRY(fire_onnx_elements(from_ndim, from, &have));
    FIRE_TRY(fire_onnx_elements(ndim, dim, &want));
    if (have != want)
        return FIRE_FAIL(FIRE_ERR_PARSE, "a shape of %lld elements for %lld",
                         (long long)want, (long long)have);
    FIRE_TRY(last ? fire_onnx_last(x, "Reshape", *blob_p, &l)
                  : fire_onnx_step(x, "Reshape", *blob_p, &l));
    FIRE_TRY(fire_message_add_message(l, "reshape_param", &p));
    FIRE_TRY(fire_message_add_message(p, "shape", &shape));
    for (int i = 0; i < ndim; i++) { /* 0: as the bottom, whatever the batch size */
        int64_t d = i == 0 && from_ndim > 0 && from[0] == dim[0] ? 0 : dim[i];

        FIRE_TRY(fire_message_put(shape, fire_field_find(shape->base.descriptor, "dim"),
                                  &d));
    }
    *blob_p = l->top[0];
    return FIRE_OK;
}
