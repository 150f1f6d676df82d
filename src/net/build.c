/* build.c - creates the layers and blobs of a net, in the order of the (filtered,
 * split) NetParameter. Each layer is connected to its blobs by name and then set up;
 * since the layers before it are set up already, its bottoms have their shapes. */
#include <string.h>

#include "device/cpu/blas.h"
#include "device/cpu/parallel.h"
#include "net/net_state.h"

/* The newest blob of this name; -1: none. */
static int find_blob(const fire_net_t *net, const char *name)
{
    for (int i = net->nblob - 1; i >= 0; i--)
        if (strcmp(net->blob[i].name, name) == 0) return i;
    return -1;
}

/* Append a blob. Where memory is freed, it comes from the net's pool. */
static fire_status_t add_blob(fire_net_t *net, const char *name, int *id_p)
{
    FIRE_TRY(fire_blob_create(&net->blob[net->nblob].blob));
    if (net->ctx.lean || net->may_forget)
        fire_blob_use_pool(net->blob[net->nblob].blob, net->ctx.pool, false);
    net->blob[net->nblob].name = name;
    *id_p                      = net->nblob++;
    return FIRE_OK;
}

/* Does the layer type accept n bottoms, or n tops? */
static fire_status_t check_arity(const char *what, int n, fire_arity_t a)
{
    if (n >= a.min && (a.max < 0 || n <= a.max)) return FIRE_OK;
    if (a.min == a.max)
        return FIRE_FAIL(FIRE_ERR_INVALID, "takes %d %s blob%s, not %d", a.min, what,
                         a.min == 1 ? "" : "s", n);
    if (a.max < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "takes at least %d %s blob%s, not %d", a.min,
                         what, a.min == 1 ? "" : "s", n);
    return FIRE_FAIL(FIRE_ERR_INVALID, "takes %d to %d %s blobs, not %d", a.min, a.max,
                     what, n);
}

/* Connect the bottoms. fire_net_insert_splits() has checked that each exists. */
static fire_status_t wire_bottoms(fire_net_t *net, fire_net_layer_t *l)
{
    const Caffe__LayerParameter *p = l->base.param;

    if (p->n_propagate_down > 0 && p->n_propagate_down != p->n_bottom)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "propagate_down is given %zu times for %zu bottoms",
                         p->n_propagate_down, p->n_bottom);
    for (int i = 0; i < l->base.nbottom; i++) {
        int id = find_blob(net, p->bottom[i]); /* never -1, see above */

        l->bottom_id[i]   = id;
        l->base.bottom[i] = net->blob[id].blob;
    }
    return FIRE_OK;
}

/* Is top i the same blob as bottom i? */
static bool is_in_place(const Caffe__LayerParameter *p, size_t i)
{
    return i < p->n_bottom && strcmp(p->top[i], p->bottom[i]) == 0;
}

/* Connect the tops: to the bottom of the same name if the layer works in place, to a
 * new blob otherwise. Layers with FIRE_LAYER_AUTO_TOP may have unnamed tops. */
static fire_status_t wire_tops(fire_net_t *net, fire_net_layer_t *l)
{
    const Caffe__LayerParameter *p = l->base.param;

    for (int i = 0; i < l->base.ntop; i++) {
        bool named = (size_t)i < p->n_top;
        int  id;

        if (named && is_in_place(p, (size_t)i)) {
            if (!(l->base.ops->flags & FIRE_LAYER_INPLACE))
                return FIRE_FAIL(FIRE_ERR_INVALID,
                                 "cannot work in place: give top \"%s\" a name of its "
                                 "own",
                                 p->top[i]);
            id = l->bottom_id[i];
        } else if (named && find_blob(net, p->top[i]) >= 0) {
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "top blob \"%s\" is already produced by another layer",
                             p->top[i]);
        } else {
            FIRE_TRY(add_blob(net, named ? p->top[i] : "(automatic)", &id));
        }
        l->top_id[i]   = id;
        l->base.top[i] = net->blob[id].blob;
    }
    return FIRE_OK;
}

/* A loss layer's first top counts 1 in the objective unless loss_weight is given. */
static fire_status_t set_loss_weights(fire_net_layer_t *l)
{
    const Caffe__LayerParameter *p = l->base.param;

    if (p->n_loss_weight == 0) {
        if (l->base.ops->flags & FIRE_LAYER_LOSS) l->base.loss_weight[0] = 1;
        return FIRE_OK;
    }
    if ((int)p->n_loss_weight != l->base.ntop)
        return FIRE_FAIL(FIRE_ERR_INVALID, "loss_weight is given %zu times for %d tops",
                         p->n_loss_weight, l->base.ntop);
    memcpy(l->base.loss_weight, p->loss_weight, p->n_loss_weight * sizeof(float));
    return FIRE_OK;
}

/* Allocate the arrays of a layer first, so that after a later failure everything can be
 * freed. */
static fire_status_t alloc_layer(fire_net_layer_t *l)
{
    const Caffe__LayerParameter *p = l->base.param;

    l->base.nbottom = (int)p->n_bottom;
    l->base.ntop    = (int)p->n_top;
    if ((l->base.ops->flags & FIRE_LAYER_AUTO_TOP) &&
        l->base.ntop < l->base.ops->tops.min)
        l->base.ntop = l->base.ops->tops.min;
    FIRE_TRY(FIRE_NEW(&l->base.bottom, l->base.nbottom));
    FIRE_TRY(FIRE_NEW(&l->base.top, l->base.ntop));
    FIRE_TRY(FIRE_NEW(&l->bottom_id, l->base.nbottom));
    FIRE_TRY(FIRE_NEW(&l->top_id, l->base.ntop));
    FIRE_TRY(FIRE_NEW(&l->base.propagate_down, l->base.nbottom));
    FIRE_TRY(FIRE_NEW(&l->base.loss_weight, l->base.ntop));
    return fire_alloc(1, l->base.ops->state_size, "layer state", &l->base.state);
}

/* Check the prototxt's `param` entries against the parameters that setup() made. */
static fire_status_t finish_params(fire_net_layer_t *l)
{
    FIRE_TRY(FIRE_NEW(&l->base.param_gradient, l->base.nblob));
    if ((int)l->base.param->n_param > l->base.nblob)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "has %zu param entries but only %d parameters",
                         l->base.param->n_param, l->base.nblob);
    return FIRE_OK;
}

/* Settings that Caffe does not have are for layers of plug-ins. */
static fire_status_t check_settings(const Caffe__LayerParameter *p,
                                    const fire_layer_ops_t      *ops)
{
    const char *field;

    if (p->n_plugin == 0 || (ops->flags & FIRE_LAYER_PLUGIN)) return FIRE_OK;
    field = p->plugin[0]->field;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "has settings in %s, which only layers of plug-ins take",
                     field != NULL ? field : "plugin { }");
}

/* Create one layer: find its type, connect it, set it up, choose its kernel. */
static fire_status_t build_layer(fire_net_t *net, fire_net_layer_t *l)
{
    const Caffe__LayerParameter *p   = l->base.param;
    const fire_layer_ops_t      *ops = NULL;

    if (p->type == NULL || p->type[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "type: \"...\" is missing");
    FIRE_TRY(fire_layer_find(p->type, &ops));
    FIRE_TRY(check_settings(p, ops));
    l->base.ops    = ops;
    l->base.ctx    = &net->ctx;
    l->base.moment = &net->moment;
    l->base.phase  = p->has_phase ? p->phase : net->phase;
    FIRE_TRY(alloc_layer(l));
    FIRE_TRY(check_arity("bottom", l->base.nbottom, ops->bottoms));
    FIRE_TRY(check_arity("top", l->base.ntop, ops->tops));
    if ((ops->flags & FIRE_LAYER_PAIRED) && l->base.nbottom != l->base.ntop)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "takes as many tops as bottoms, not %d and %d", l->base.ntop,
                         l->base.nbottom);
    FIRE_TRY(wire_bottoms(net, l));
    FIRE_TRY(wire_tops(net, l));
    FIRE_TRY(set_loss_weights(l));
    if (ops->setup != NULL) FIRE_TRY(ops->setup(&l->base));
    FIRE_TRY(finish_params(l));
    FIRE_TRY(ops->reshape(&l->base));
    FIRE_TRY(fire_kernel_select(&l->base, NULL, NULL));
    if (net->ctx.place != FIRE_CPU && l->base.kernel->where == FIRE_CPU)
        FIRE_LOG(INFO, "layer \"%s\" (%s) runs on the CPU", p->name, p->type);
    return FIRE_OK;
}

/* Every layer needs a name: weights are loaded and saved by it. */
static fire_status_t check_names(const Caffe__NetParameter *p)
{
    for (size_t i = 0; i < p->n_layer; i++)
        if (p->layer[i]->name == NULL)
            return FIRE_FAIL(FIRE_ERR_INVALID, "layer %zu (%s) has no name", i,
                             p->layer[i]->type != NULL ? p->layer[i]->type : "?");
    return FIRE_OK;
}

/* The outputs of a net are the blobs that no layer takes, sorted by name. */
static fire_status_t find_outputs(fire_net_t *net)
{
    bool *used;

    FIRE_TRY(FIRE_NEW(&used, net->nblob));
    for (int i = 0; i < net->nlayer; i++) {
        const fire_net_layer_t *l = &net->layer[i];

        for (int j = 0; j < l->base.nbottom; j++)
            used[l->bottom_id[j]] = true;
        for (int j = 0; j < l->base.ntop; j++)
            used[l->top_id[j]] = false;
    }
    for (int i = 0; i < net->nblob; i++) {
        int at = net->noutput;

        if (used[i]) continue;
        for (; at > 0 &&
               strcmp(net->blob[net->output[at - 1]].name, net->blob[i].name) > 0;
             at--)
            net->output[at] = net->output[at - 1];
        net->output[at] = i;
        net->noutput++;
    }
    fire_free(used);
    FIRE_TRY(FIRE_NEW(&net->output_size, net->noutput));
    for (int i = 0; i < net->noutput; i++)
        net->output_size[i] = fire_blob_count(net->blob[net->output[i]].blob);
    return FIRE_OK;
}

/* A process with several workers has done so for all of them. */
static fire_status_t reserve_blas(const fire_net_t *net)
{
    int threads = net->ctx.threads;

    return fire_blas_reserve(threads > 0 ? threads : fire_threads());
}

fire_status_t fire_net_build(fire_net_t *net)
{
    const Caffe__NetParameter *p    = net->param;
    size_t                     tops = 0;

    FIRE_TRY(reserve_blas(net));
    FIRE_TRY(check_names(p));
    for (size_t i = 0; i < p->n_layer; i++)
        tops += p->layer[i]->n_top + 4; /* up to 4 automatic ones */
    FIRE_TRY(FIRE_NEW(&net->layer, p->n_layer));
    FIRE_TRY(FIRE_NEW(&net->blob, tops));
    FIRE_TRY(FIRE_NEW(&net->output, tops));
    for (size_t i = 0; i < p->n_layer; i++) {
        fire_net_layer_t *l = &net->layer[i];

        l->base.param = p->layer[i];
        net->nlayer++;
        FIRE_TRY(fire_layer_blame(build_layer(net, l), &l->base));
    }
    return find_outputs(net);
}
