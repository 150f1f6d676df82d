/* tensors.c - see tensors.h: from names to layers and back. */
#include "model/tensors/tensors.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "model/blob_proto.h"

static const char *const plain[]  = {"weight", "bias"};
static const char *const norms[]  = {"running_mean", "running_var"};
static const char        behind[] = "/batchnorm"; /* the layer beside its Scale */

enum {
    PLAIN           = 2,
    NORMS           = 2,
    WEIGHT_OF_SUMS  = 2 /* BatchNorm's third */,
    MOST_PARAMETERS = 100
};

bool fire_tensors_is_file(const char *path)
{
    return fire_path_has_suffix(path, ".safetensors") ||
           fire_path_has_suffix(path, ".npz");
}

fire_status_t fire_tensors_load(const char *path, Caffe__NetParameter **net_p)
{
    char         *bytes;
    size_t        n;
    fire_status_t st;

    FIRE_TRY(fire_file_read(path, &bytes, &n));
    st = fire_path_has_suffix(path, ".npz")
             ? fire_npz_parse(bytes, n, path, net_p)
             : fire_safetensors_parse(bytes, n, path, net_p);
    fire_free(bytes);
    return st;
}

fire_status_t fire_tensors_save(const char *path, const Caffe__NetParameter *net)
{
    return fire_path_has_suffix(path, ".npz") ? fire_npz_save(path, net)
                                              : fire_safetensors_save(path, net);
}

/* ---- names to layers ---- */

static int find(const char *const *list, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0) return i;
    return -1;
}

/* Which parameter the part of a name behind its last dot means; -1: none. */
static int index_of(const char *suffix, bool *norm_p)
{
    int i = find(norms, NORMS, suffix);

    *norm_p = i >= 0;
    if (i >= 0) return i;
    i = find(plain, PLAIN, suffix);
    if (i >= 0) return i;
    if (suffix[0] < '0' || suffix[0] > '9' || strlen(suffix) > 2) return -1;
    if (suffix[1] != '\0' && (suffix[0] == '0' || suffix[1] < '0' || suffix[1] > '9'))
        return -1;
    return atoi(suffix);
}

fire_status_t fire_tensor_count(int ndim, const int64_t *dim, int64_t *count_p)
{
    int64_t count = 1;

    for (int i = 0; i < ndim; i++)
        if (dim[i] < 0 || __builtin_mul_overflow(count, dim[i], &count) ||
            count > INT64_MAX / (int64_t)sizeof(double))
            return FIRE_FAIL(FIRE_ERR_PARSE, "a shape that cannot be");
    *count_p = count;
    return FIRE_OK;
}

fire_status_t fire_tensors_add(fire_tensors_t *ts, const char *name, int ndim,
                               const int64_t *dim, float **values_p)
{
    const char   *dot = strrchr(name, '.');
    fire_tensor_t t   = {.ndim = ndim};
    fire_status_t st;

    *values_p = NULL;
    t.index   = dot != NULL && dot > name ? index_of(dot + 1, &t.norm) : -1;
    if (t.index < 0) {
        FIRE_LOG(INFO, "Ignoring \"%.200s\": no parameter has such a name", name);
        return FIRE_OK;
    }
    t.group = (size_t)(dot - name);
    if (ndim > 0) memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    FIRE_TRY(fire_tensor_count(ndim, dim, &t.count));
    FIRE_TRY(fire_grow(&ts->list, &ts->cap, ts->n + 1, sizeof(*ts->list)));
    FIRE_TRY(fire_strdup(name, &t.name));
    st = FIRE_NEW(&t.values, t.count);
    if (st < 0) {
        fire_free(t.name);
        return st;
    }
    ts->list[ts->n++] = t;
    *values_p         = t.values;
    return FIRE_OK;
}

void fire_tensors_fini(fire_tensors_t *ts)
{
    for (int64_t i = 0; i < ts->n; i++) {
        fire_free(ts->list[i].name);
        fire_free(ts->list[i].values);
    }
    fire_free(ts->list);
    *ts = (fire_tensors_t){0};
}

static int compare_layers(const fire_tensor_t *a, const fire_tensor_t *b)
{
    size_t n = a->group < b->group ? a->group : b->group;
    int    c = memcmp(a->name, b->name, n);

    if (c != 0) return c;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return (int)a->norm - (int)b->norm;
}

static int compare(const void *p, const void *q)
{
    const fire_tensor_t *a = p, *b = q;
    int                  c = compare_layers(a, b);

    return c != 0 ? c : a->index - b->index;
}

/* Move a tensor's values to a new parameter of the layer. */
static fire_status_t move(fire_tensor_t *t, Caffe__LayerParameter *l)
{
    Caffe__BlobProto *proto;

    FIRE_TRY(fire_message_add_message(l, "blobs", &proto));
    FIRE_TRY(fire_blob_proto_set_shape(proto, t->ndim, t->dim));
    proto->data   = t->values;
    proto->n_data = (size_t)t->count;
    t->values     = NULL;
    return FIRE_OK;
}

/* The statistics of a BatchNorm are sums with a weight of 1. */
static fire_status_t add_weight_of_sums(Caffe__LayerParameter *l)
{
    static const int64_t dim = 1;
    static const float   one = 1;
    Caffe__BlobProto    *proto;

    FIRE_TRY(fire_message_add_message(l, "blobs", &proto));
    FIRE_TRY(fire_blob_proto_set_shape(proto, 1, &dim));
    return fire_blob_proto_write(proto, FIRE_DATA, 1, &one);
}

/* The n tensors of a layer are parameters 0 ... n - 1. A single bias is the one parameter
 * of a Bias layer. */
static fire_status_t check_indices(const fire_tensor_t *t, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (t[i].index == t[i - 1].index)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "\"%.200s\" is there twice, or under two names",
                             t[i].name);
    for (int64_t i = 0; i < n; i++)
        if (t[i].index != i && (n > 1 || t->norm || t->index > 1))
            return FIRE_FAIL(FIRE_ERR_PARSE, "\"%.200s\" lacks a parameter before it",
                             t[i].name);
    return FIRE_OK;
}

/* The layer of the n tensors at t. `beside`: the tensors before are of a layer of the
 * same name. */
static fire_status_t add_layer(Caffe__NetParameter *net, fire_tensor_t *t, int64_t n,
                               bool beside)
{
    Caffe__LayerParameter *l;
    char                  *name;
    fire_status_t          st;

    FIRE_TRY(check_indices(t, n));
    FIRE_TRY(
        fire_asprintf(&name, "%.*s%s", (int)t->group, t->name, beside ? behind : ""));
    st = fire_message_add_message(net, "layer", &l);
    if (st >= 0) st = fire_message_add_string(l, "name", name);
    fire_free(name);
    for (int64_t i = 0; i < n && st >= 0; i++)
        st = move(&t[i], l);
    if (st >= 0 && t->norm) st = add_weight_of_sums(l);
    return st;
}

static fire_status_t add_layers(const fire_tensors_t *ts, Caffe__NetParameter *net)
{
    int64_t end;

    for (int64_t i = 0; i < ts->n; i = end) {
        fire_tensor_t *t      = &ts->list[i];
        bool           beside = t->norm && i > 0 && t[-1].group == t->group &&
                      memcmp(t[-1].name, t->name, t->group) == 0;

        for (end = i + 1; end < ts->n && compare_layers(t, &ts->list[end]) == 0;)
            end++;
        FIRE_TRY(add_layer(net, t, end - i, beside));
    }
    return FIRE_OK;
}

fire_status_t fire_tensors_take(fire_tensors_t *ts, const char *file,
                                Caffe__NetParameter **net_p)
{
    ProtobufCMessage *net = NULL;
    fire_status_t     st;

    if (ts->n > 1) qsort(ts->list, (size_t)ts->n, sizeof(*ts->list), compare);
    st = fire_message_create(&caffe__net_parameter__descriptor, &net);
    if (st >= 0) st = add_layers(ts, (Caffe__NetParameter *)net);
    fire_tensors_fini(ts);
    if (st < 0) {
        fire_message_free(net);
        return fire_error_prefix(st, "%s", file);
    }
    *net_p = (Caffe__NetParameter *)net;
    return FIRE_OK;
}

/* ---- layers to names ---- */

/* Length of the name that a layer's parameters begin with. */
static int group_of(const Caffe__NetParameter *net, const char *name, bool norm)
{
    size_t n = strlen(name), m = strlen(behind);

    if (!norm || n <= m || strcmp(name + n - m, behind) != 0) return (int)n;
    for (size_t i = 0; i < net->n_layer; i++) {
        const char *other = net->layer[i]->name;

        if (other != NULL && net->layer[i]->n_blobs > 0 && strlen(other) == n - m &&
            memcmp(other, name, n - m) == 0)
            return (int)(n - m);
    }
    return (int)n;
}

static bool has_type(const Caffe__LayerParameter *l, const char *type)
{
    return l->type != NULL && strcmp(l->type, type) == 0;
}

static bool is_norm(const Caffe__LayerParameter *l)
{
    return has_type(l, "BatchNorm") && l->n_blobs == WEIGHT_OF_SUMS + 1;
}

static fire_status_t name_of(const Caffe__NetParameter   *net,
                             const Caffe__LayerParameter *l, size_t i, char **name_p)
{
    bool norm = is_norm(l);
    int  n    = group_of(net, l->name, norm);

    if (norm) return fire_asprintf(name_p, "%.*s.%s", n, l->name, norms[i]);
    if (l->n_blobs > PLAIN) return fire_asprintf(name_p, "%s.%zu", l->name, i);
    i += has_type(l, "Bias");
    return fire_asprintf(name_p, "%s.%s", l->name, plain[i < PLAIN ? i : 1]);
}

/* Files of the first Caffe give every parameter four axes: take off those that were put
 * in front. */
static void drop_ones(const Caffe__BlobProto *proto, const Caffe__LayerParameter *l,
                      fire_tensor_t *t)
{
    bool product = l->type != NULL && strcmp(l->type, "InnerProduct") == 0;
    int  want = t->index > 0 ? 1 : product ? 2 : t->ndim, k = 0;

    if (proto->shape != NULL) return;
    while (t->ndim - k > want && t->dim[k] == 1)
        k++;
    t->ndim -= k;
    memmove(t->dim, t->dim + k, (size_t)t->ndim * sizeof(*t->dim));
}

/* The mean of sums, as the layer computes it. */
static fire_status_t divide(const Caffe__LayerParameter *l, fire_tensor_t *t)
{
    float weight;

    FIRE_TRY(
        fire_blob_proto_read(l->blobs[WEIGHT_OF_SUMS], FIRE_DATA, t->name, 1, &weight));
    weight = weight == 0 ? 0 : 1 / weight;
    for (int64_t i = 0; i < t->count; i++)
        t->values[i] *= weight;
    return FIRE_OK;
}

static fire_status_t each(const Caffe__NetParameter   *net,
                          const Caffe__LayerParameter *l, size_t i, bool values,
                          fire_tensor_fn_t fn, void *arg)
{
    const Caffe__BlobProto *proto = l->blobs[i];
    fire_tensor_t           t     = {.index = (int)i};
    fire_status_t           st;

    FIRE_TRY(name_of(net, l, i, &t.name));
    st = fire_blob_proto_shape(proto, t.name, &t.ndim, t.dim, &t.count);
    if (st >= 0) drop_ones(proto, l, &t);
    if (st >= 0 && values) st = FIRE_NEW(&t.values, t.count);
    if (st >= 0 && values)
        st = fire_blob_proto_read(proto, FIRE_DATA, t.name, t.count, t.values);
    if (st >= 0 && values && is_norm(l)) st = divide(l, &t);
    if (st >= 0) st = fn(arg, &t);
    fire_free(t.values);
    fire_free(t.name);
    return st;
}

fire_status_t fire_tensors_each(const Caffe__NetParameter *net, bool values,
                                fire_tensor_fn_t fn, void *arg)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        const Caffe__LayerParameter *l = net->layer[i];

        if (l->n_blobs > 0 && l->name == NULL)
            return FIRE_FAIL(FIRE_ERR_INVALID, "layer %zu has parameters, but no name",
                             i);
        if (l->n_blobs > MOST_PARAMETERS)
            return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "layer \"%s\" has %zu parameters",
                             l->name, l->n_blobs);
        for (size_t k = 0; k < l->n_blobs; k++)
            if (!fire_blob_proto_is_empty(l->blobs[k]) && /* else stored elsewhere */
                !(is_norm(l) && k == WEIGHT_OF_SUMS))
                FIRE_TRY(each(net, l, k, values, fn, arg));
    }
    return FIRE_OK;
}
