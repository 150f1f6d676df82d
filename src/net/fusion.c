/* fusion.c - layers whose kernel does the work of those behind it as well: convolution
 * with its ReLU, BatchNorm with Scale and ReLU. Only layers that work in place are
 * absorbed, so every blob still holds what it would hold without. */
#include <string.h>

#include "net/net.h"

static bool comes_in_place(const fire_layer_t *l, const fire_layer_t *next)
{
    return next->nbottom == 1 && next->ntop == 1 && l->ntop == 1 &&
           next->bottom[0] == l->top[0] && next->top[0] == l->top[0] &&
           next->loss_weight[0] == 0 && l->loss_weight[0] == 0;
}

/* Who wants `ref`, or asks for it, gets it. */
static bool can_absorb(const fire_layer_t *l, const fire_layer_t *next)
{
    return l->nfollower < FIRE_MAX_FOLLOWERS && comes_in_place(l, next) &&
           l->kernel->absorbs != NULL && next->kernel->where == l->kernel->where &&
           strcmp(next->kernel->name, "ref") != 0 &&
           l->kernel->absorbs(l, next);
}

/* Gradients of an absorbed layer's parameters come when its leader runs. */
static void move_params(fire_net_t *net, int from, int to)
{
    for (int i = 0; i < net->nparam; i++)
        if (net->learn[i].first_use == from) net->learn[i].first_use = to;
}

void fire_net_fuse(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i += 1 + net->layer[i].base.nfollower) {
        fire_net_layer_t *leader = &net->layer[i];

        for (int k = i + 1;
             k < net->nlayer && can_absorb(&leader->base, &net->layer[k].base); k++) {
            fire_net_layer_t *l = &net->layer[k];

            leader->base.follower[leader->base.nfollower++] = &l->base;
            leader->need_backward = leader->need_backward || l->need_backward;
            l->base.absorbed      = true;
            move_params(net, k, i);
        }
    }
}

fire_status_t fire_net_unfuse(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *l = &net->layer[i].base;

        l->absorbed = false;
        if (l->nfollower == 0) continue;
        l->nfollower = 0;
        if (l->kernel->prepare != NULL) FIRE_TRY(l->kernel->prepare(l));
    }
    return fire_net_plan_memory(net);
}
