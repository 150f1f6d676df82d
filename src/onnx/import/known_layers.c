/* known_layers.c - operators on known tensors that known_math.c has no formula for: their
 * layers are run now, in a net of their own, and dropped. Weights that a graph normalises
 * or resizes before it uses them become constants so. */
#include <string.h>
#include "base/alloc.h"
#include "net/net_state.h"
#include "onnx/import/known.h"

/* What a node may cost; beyond it, its layers stay in the net. */
static const double  MOST_MACS     = 1e9;
static const int64_t MOST_ELEMENTS = INT64_C(1) << 26;

static bool is_cheap(const fire_net_t *net)
{
    int64_t elements = 0;
    double  macs     = 0;

    for (int i = 0; i < net->nblob; i++) {
        if (net->blob[i].blob->count > MOST_ELEMENTS) return false;
        elements += net->blob[i].blob->count;
    }
    for (int i = 0; i < net->nlayer; i++)
        macs += fire_net_layer_macs(net, i);
    return elements <= MOST_ELEMENTS && macs <= MOST_MACS;
}

/* Output i of the node becomes the values of its blob. */
static fire_status_t keep(fire_onnx_import_t *x, const fire_net_t *net, int i)
{
    fire_onnx_operand_t *v = fire_onnx_output(x, i);
    fire_onnx_tensor_t   t;
    fire_blob_t         *b;
    const float         *values;

    if (v == NULL || v->state != FIRE_ONNX_BLOB) return FIRE_OK;
    b = fire_net_find_blob(net, v->blob);
    if (b == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "output %d has no layer", i);
    FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &values));
    FIRE_TRY(fire_onnx_make_known(x, FIRE_ONNX(FLOAT), v->ndim, v->dim, &t));
    if (t.count != b->count) {
        fire_onnx_tensor_fini(&t);
        return FIRE_FAIL(FIRE_ERR_PARSE, "output %d has %lld elements, not %lld", i,
                         (long long)b->count, (long long)v->dim[0]);
    }
    memcpy(t.own, values, (size_t)t.count * sizeof(*values));
    return fire_onnx_set_const(x, i, &t);
}

/* Run the layers [first, ...), whose weights are [weight, ...). *run_p: they were not
 * too expensive. */
static fire_status_t run(fire_onnx_import_t *x, size_t first, int64_t weight,
                         bool *run_p)
{
    Caffe__NetParameter param = CAFFE__NET_PARAMETER__INIT;
    fire_net_options_t  o     = FIRE_NET_OPTIONS_INIT;
    fire_net_t         *net;
    fire_status_t       st = FIRE_OK;

    for (int64_t i = weight; i < x->nweight; i++)
        FIRE_TRY(
            fire_onnx_add_blob(x->net->layer[x->weight[i].layer], &x->weight[i].t));
    o.ctx.kernels  = "all=ref";
    o.ctx.unfilled = true;
    param.n_layer  = x->net->n_layer - first;
    param.layer    = x->net->layer + first;
    FIRE_TRY(fire_net_create(&param, &o, &net));
    *run_p = is_cheap(net);
    if (*run_p) st = fire_net_forward(net, 0, -1, NULL);
    for (int i = 0; i < (int)x->node->n_output && st >= 0 && *run_p; i++)
        st = keep(x, net, i);
    fire_net_destroy(net);
    return st;
}

static void take_back(fire_onnx_import_t *x, size_t first, int64_t weight)
{
    while (x->nweight > weight)
        fire_onnx_tensor_fini(&x->weight[--x->nweight].t);
    while (x->net->n_layer > first)
        fire_message_free(x->net->layer[--x->net->n_layer]);
}

/* Outputs that have no layer any more. */
static void forget_outputs(fire_onnx_import_t *x)
{
    for (int i = 0; i < (int)x->node->n_output; i++) {
        fire_onnx_operand_t *v = fire_onnx_output(x, i);

        if (v != NULL && v->state == FIRE_ONNX_BLOB) v->state = FIRE_ONNX_NOTHING;
    }
}

fire_status_t fire_onnx_compute_layers(fire_onnx_import_t *x, fire_onnx_take_t take)
{
    size_t        first  = x->net->n_layer;
    int64_t       weight = x->nweight;
    bool          ran    = false;
    fire_status_t st     = take(x);

    if (st >= 0 && x->net->n_layer > first) st = run(x, first, weight, &ran);
    if (st >= 0 && !ran) {
        for (size_t i = first; i < x->net->n_layer; i++)
            fire_message_clear_field(x->net->layer[i], "blobs");
        return FIRE_OK;
    }
    take_back(x, first, weight);
    if (st < 0) forget_outputs(x);
    return st;
}
