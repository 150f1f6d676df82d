/* gradients.c - decides which layers run backward, and for which bottoms.
 *
 * One sweep from the inputs up: a layer needs backward if a layer below it learns or it
 * has a parameter that does. One sweep from the losses down: backward is useless unless
 * the layer's tops lead to a loss, and below a `propagate_down: false`.
 * `force_backward: true` overrules both. */
#include <string.h>

#include "net/net_state.h"

/* Does parameter i of the layer have a gradient? Not if it is a statistic, its lr_mult
 * is 0 or the layer is frozen. */
static bool learns(const fire_layer_t *l, int i)
{
    return fire_layer_param_kind(l, i) == FIRE_PARAM_WEIGHT && !l->frozen &&
           ((size_t)i >= l->param->n_param || l->param->param[i]->lr_mult != 0);
}

/* First sweep, one layer. */
static void need_from_below(fire_net_t *net, fire_net_layer_t *l)
{
    for (int i = 0; i < l->base.nbottom; i++) {
        bool need = net->blob[l->bottom_id[i]].need_backward;

        l->need_backward |= need;
        if (l->base.param->n_propagate_down > 0)
            need = l->base.param->propagate_down[i];
        l->base.propagate_down[i] = need && !(l->base.ops->no_gradient >> i & 1);
    }
    for (int i = 0; i < l->base.nblob; i++) {
        l->base.param_gradient[i] = learns(&l->base, i);
        l->need_backward |= l->base.param_gradient[i];
    }
    for (int i = 0; i < l->base.ntop && l->need_backward; i++)
        net->blob[l->top_id[i]].need_backward = true;
}

/* Second sweep, one layer. leads[blob]: it leads to a loss; skip[blob]: no layer above
 * computes its gradient. */
static void prune_from_above(fire_net_layer_t *l, bool *leads, bool *skip)
{
    bool contributes = false, all_skip = true;

    for (int i = 0; i < l->base.ntop; i++) {
        contributes |= l->base.loss_weight[i] != 0 || leads[l->top_id[i]];
        all_skip &= skip[l->top_id[i]];
    }
    if (!contributes || all_skip) {
        l->need_backward = false;
        for (int i = 0; i < l->base.nblob; i++)
            l->base.param_gradient[i] = false;
    }
    for (int i = 0; i < l->base.nbottom; i++) {
        int id = l->bottom_id[i];

        if (!contributes || all_skip) l->base.propagate_down[i] = false;
        leads[id] |= contributes;
        skip[id] = !l->base.propagate_down[i];
    }
}

/* force_backward: compute all gradients that the layer can. */
static void force(fire_net_layer_t *l)
{
    l->need_backward = true;
    for (int i = 0; i < l->base.nbottom; i++)
        l->base.propagate_down[i] |= !(l->base.ops->no_gradient >> i & 1);
    for (int i = 0; i < l->base.nblob; i++)
        l->base.param_gradient[i] =
            fire_layer_param_kind(&l->base, i) == FIRE_PARAM_WEIGHT;
}

fire_status_t fire_net_plan_gradients(fire_net_t *net)
{
    bool *leads;

    FIRE_TRY(FIRE_NEW(&leads, 2 * net->nblob));
    for (int i = 0; i < net->nlayer; i++)
        need_from_below(net, &net->layer[i]);
    for (int i = net->nlayer - 1; i >= 0; i--)
        prune_from_above(&net->layer[i], leads, leads + net->nblob);
    for (int i = 0; i < net->nlayer && net->param->force_backward; i++)
        force(&net->layer[i]);
    fire_free(leads);
    return FIRE_OK;
}
