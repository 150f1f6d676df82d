/* export.c - a net becomes a model: its layers in order, each said by its function of
 * operators.def. What changes with the batch size is found by shaping the net for two
 * sizes. */
#include "onnx/export.h"

#include <string.h>
#include "base/alloc.h"
#include "onnx/fold.h"

#define PUT(type, function) void function(fire_onnx_export_t *x);
#include "onnx/operators.def"

typedef struct operator_row {
    const char     *type;
    fire_onnx_put_t put;
} operator_row_t;

#define PUT(type, function) {type, function},
static const operator_row_t operators[] = {
#include "onnx/operators.def"
};

fire_onnx_put_t fire_onnx_find_put(const char *type)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (strcmp(operators[i].type, type) == 0) return operators[i].put;
    return NULL;
}

/* ---- batch sizes ---- */

/* Does it make the net's data? Input, Data, MemoryData, ... */
static bool is_source(const fire_layer_t *l)
{
    return l->ops->bottoms.max == 0 && fire_onnx_find_put(l->ops->type) == NULL;
}

/* The first dimension of what the first data layer makes: the batch size. */
static int64_t batch_of(const fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        for (int t = 0; is_source(l) && t < l->ntop; t++)
            if (l->top[t]->ndim > 0) return l->top[t]->dim[0];
    }
    return 0;
}

/* Shape the net for another batch size: every input whose first dimension is `from`
 * (0: every input). */
static fire_status_t set_batch(fire_net_t *net, int64_t from, int64_t to)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        for (int t = 0; is_source(l) && t < l->ntop; t++) {
            fire_blob_t *b = l->top[t];
            int64_t      dim[FIRE_MAX_DIMS];

            if (b->ndim == 0 || (from != 0 && b->dim[0] != from)) continue;
            memcpy(dim, b->dim, sizeof(dim));
            dim[0] = to;
            FIRE_TRY(fire_blob_reshape(b, b->ndim, dim));
        }
    }
    return fire_net_reshape(net);
}

/* Inputs keep their shapes in save[], one after another. */
static fire_status_t save_shapes(const fire_net_t *net, int64_t **save_p)
{
    int64_t *save, *at;

    FIRE_TRY(FIRE_NEW(&save, (int64_t)net->nblob * FIRE_MAX_DIMS + 1));
    at = save;
    for (int i = 0; i < net->nblob; i++, at += FIRE_MAX_DIMS)
        memcpy(at, net->blob[i].blob->dim, sizeof(net->blob[i].blob->dim));
    *save_p = save;
    return FIRE_OK;
}

static fire_status_t restore_shapes(fire_net_t *net, const int64_t *save)
{
    for (int i = 0; i < net->nlayer; i++)
        for (int t = 0; is_source(&net->layer[i].base) && t < net->layer[i].base.ntop;
             t++) {
            fire_blob_t *b = net->layer[i].base.top[t];

            FIRE_TRY(fire_blob_reshape(
                b, b->ndim, save + (int64_t)net->layer[i].top_id[t] * FIRE_MAX_DIMS));
        }
    return fire_net_reshape(net);
}

/* Fill x->value[].other. Each input's first dimension grows by one; whatever changes
 * with it is a dimension left open. */
static fire_status_t find_open(fire_onnx_export_t *x)
{
    fire_net_t   *net = x->net;
    int64_t      *save;
    fire_status_t st = FIRE_OK, back;

    FIRE_TRY(save_shapes(net, &save));
    for (int i = 0; i < net->nlayer && st >= 0 && x->config->batch == 0; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        for (int t = 0; is_source(l) && t < l->ntop && st >= 0; t++)
            if (l->top[t]->ndim > 0) {
                int64_t dim[FIRE_MAX_DIMS];

                memcpy(dim, l->top[t]->dim, sizeof(dim));
                dim[0]++;
                st = fire_blob_reshape(l->top[t], l->top[t]->ndim, dim);
            }
    }
    if (st >= 0 && x->config->batch == 0) st = fire_net_reshape(net);
    for (int i = 0; i < net->nblob; i++)
        memcpy(x->value[i].other, net->blob[i].blob->dim, sizeof(x->value[i].other));
    if (st < 0)
        st = fire_error_prefix(st, "the batch size cannot be left open, choose one: "
                                   "--batch N");
    back = restore_shapes(net, save);
    fire_free(save);
    return st < 0 ? st : back;
}

bool fire_onnx_varies(const fire_onnx_export_t *x, const fire_blob_t *b, int axis)
{
    for (int i = 0; i < x->net->nblob; i++)
        if (x->value[i].blob == b) return x->value[i].other[axis] != b->dim[axis];
    return false;
}

/* ---- layers ---- */

static void put_layer(fire_onnx_export_t *x)
{
    fire_onnx_put_t put = fire_onnx_find_put(x->layer->ops->type);

    if (is_source(x->layer))
        fire_onnx_put_inputs(x);
    else if (put != NULL)
        put(x);
    else if (x->config->custom_ops)
        fire_onnx_put_custom(x);
    else if (x->layer->ops->flags & FIRE_LAYER_LOSS)
        fire_onnx_refuse(x,
                         "a loss has no meaning in inference; export the deploy net");
    else
        fire_onnx_refuse(x, "ONNX has no operator for it; --custom_ops writes one of "
                            "the domain \"caffe\"");
}

static fire_status_t put_layers(fire_onnx_export_t *x)
{
    for (x->index = 0; x->index < x->net->nlayer; x->index++) {
        x->layer = &x->net->layer[x->index].base;
        if (x->done[x->index]) continue;
        put_layer(x);
        fire_onnx_layer_done(x);
        if (x->st < 0) return fire_layer_blame(x->st, x->layer);
    }
    return FIRE_OK;
}

static bool is_input(const fire_onnx_export_t *x, const char *name)
{
    for (int64_t i = 0; i < x->m->ninput; i++)
        if (strcmp(x->m->input[i]->name, name) == 0) return true;
    return false;
}

/* A dimension that is left open has the name of the input's that it equals, or one of
 * its own. */
static fire_status_t put_output(fire_onnx_export_t *x, int blob)
{
    const fire_blob_t *b                     = x->net->blob[blob].blob;
    const char        *symbol[FIRE_MAX_DIMS] = {NULL};

    for (int i = 0; i < b->ndim; i++) {
        if (!fire_onnx_varies(x, b, i)) continue;
        symbol[i] =
            b->dim[i] == batch_of(x->net) && x->value[blob].other[i] == b->dim[i] + 1
                ? "batch"
                : fire_onnx_name(x, x->net->blob[blob].name);
    }
    if (x->st < 0) return x->st;
    return fire_onnx_add_output(x->m, x->value[blob].name, b->ndim, b->dim, symbol);
}

static fire_status_t put_outputs(fire_onnx_export_t *x)
{
    for (int i = 0; i < x->net->noutput; i++) {
        int id = x->net->output[i];

        if (x->value[id].name == NULL || is_input(x, x->value[id].name)) continue;
        FIRE_TRY(put_output(x, id));
    }
    if (x->m->noutput == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the net has no outputs to export");
    return FIRE_OK;
}

/* ---- the model ---- */

static void fini(fire_onnx_export_t *x)
{
    for (int64_t i = 0; i < x->nname; i++)
        fire_free(x->name[i]);
    fire_free(x->name);
    fire_free(x->slot);
    fire_free(x->value);
    fire_free(x->done);
}

static fire_status_t build(fire_onnx_export_t *x)
{
    const fire_net_t *net = x->net;

    FIRE_TRY(fire_strdup(fire_net_name(net)[0] != '\0' ? fire_net_name(net) : "net",
                         &x->m->name));
    FIRE_TRY(FIRE_NEW(&x->value, net->nblob + 1));
    FIRE_TRY(FIRE_NEW(&x->done, net->nlayer + 1));
    for (int i = 0; i < net->nblob; i++)
        x->value[i].blob = net->blob[i].blob;
    FIRE_TRY(find_open(x));
    FIRE_TRY(put_layers(x));
    FIRE_TRY(put_outputs(x));
    return x->config->fold ? fire_onnx_fold(x->m) : FIRE_OK;
}

static fire_status_t check(const fire_net_t *net, const fire_onnx_export_config_t *c)
{
    if (c->size != sizeof(*c))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a config of %zu bytes, this library knows %zu", c->size,
                         sizeof(*c));
    if (c->opset < FIRE_ONNX_OPSET_MIN || c->opset > FIRE_ONNX_OPSET_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "opset %d; versions %d to %d are known",
                         c->opset, FIRE_ONNX_OPSET_MIN, FIRE_ONNX_OPSET_MAX);
    if (c->batch < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "batch %d; it must be at least 1, or 0 to "
                         "leave it open",
                         c->batch);
    if (net->phase != CAFFE__PHASE__TEST)
        return FIRE_FAIL(FIRE_ERR_INVALID, "export needs a net in phase TEST");
    return FIRE_OK;
}

fire_status_t fire_onnx_of_net(fire_net_t *net, const fire_onnx_export_config_t *config,
                               fire_onnx_model_t **m_p)
{
    static const fire_onnx_export_config_t preset = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_onnx_export_t x = {.net = net, .config = config != NULL ? config : &preset};
    int64_t           *save;
    fire_status_t      st, back;

    FIRE_TRY(check(net, x.config));
    x.opset = x.config->opset;
    FIRE_TRY(save_shapes(net, &save));
    st = fire_onnx_model_create(&x.m);
    if (st >= 0 && x.config->batch > 0)
        st = set_batch(net, batch_of(net), x.config->batch);
    if (st >= 0) {
        x.m->opset = x.opset;
        st         = build(&x);
    }
    back = restore_shapes(net, save);
    fire_free(save);
    fini(&x);
    if (st >= 0) st = back;
    if (st >= 0)
        *m_p = x.m;
    else
        fire_onnx_model_destroy(x.m);
    return st;
}

fire_status_t fire_onnx_export(fire_net_t *net, const char *path,
                               const fire_onnx_export_config_t *config)
{
    fire_onnx_model_t *m;
    fire_status_t      st;

    FIRE_TRY(fire_onnx_of_net(net, config, &m));
    st = fire_onnx_save(m, path, config != NULL && config->external);
    fire_onnx_model_destroy(m);
    return st;
}
