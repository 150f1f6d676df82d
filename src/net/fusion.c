/* fusion.c - lets one kernel compute several layers; docs/design/0007-fusion.md explains
 * the words.
 *
 * A leader absorbs the layers that follow it: a convolution its ReLU, in inference also
 * BatchNorm and Scale; BatchNorm its Scale and ReLU; a sum its ReLU. Usually only
 * layers that work in place are absorbed, so every blob has the values it would have
 * without fusion.
 *
 * A lean net, whose blobs nobody looks at, fuses more: a BatchNorm at the end of a
 * residual branch with the sum, and in inference any of the above. There a blob also
 * need not be written if its only reader can compute it (borrow), and odd rows and
 * columns that no reader uses are not computed (thin). */
#include <string.h>

#include "net/net_state.h"

/* Is `next` the only layer that takes l's only top, and does neither add to the
 * loss? */
static bool follows(const fire_layer_t *l, const fire_layer_t *next)
{
    return next->nbottom == 1 && next->ntop == 1 && l->ntop == 1 &&
           next->bottom[0] == l->top[0] && next->loss_weight[0] == 0 &&
           l->loss_weight[0] == 0;
}

/* May the blob between the two keep wrong values? It may if `next` overwrites it, or in
 * inference. */
static bool may_skip_blob(const fire_layer_t *l, const fire_layer_t *next)
{
    return next->top[0] == next->bottom[0] || l->ctx->inference;
}

/* Does `next` take l's top among other bottoms (a sum)? A blob has one reader, since
 * splits.c adds a Split layer wherever there are more. */
static bool reads_top(const fire_layer_t *l, const fire_layer_t *next)
{
    bool reads = false;

    for (int i = 0; i < next->nbottom; i++)
        reads |= next->bottom[i] == l->top[0];
    for (int i = 0; i < next->ntop; i++)
        if (next->top[i] == l->top[0] || next->loss_weight[i] != 0) return false;
    return reads && l->ntop == 1 && l->loss_weight[0] == 0;
}

/* Can layer l absorb `next` behind the layers it has absorbed already? A layer whose
 * kernel is `ref` stays alone: users choose it to have exactly Caffe's arithmetic. */
static bool can_absorb(const fire_layer_t *l, const fire_layer_t *next)
{
    const fire_layer_t *last = l->nfollower > 0 ? l->follower[l->nfollower - 1] : l;

    if (l->nfollower == FIRE_MAX_FOLLOWERS || next->kernel->where != l->kernel->where ||
        strcmp(next->kernel->name, "ref") == 0)
        return false;
    if (follows(last, next) && may_skip_blob(l, next))
        return l->kernel->absorbs != NULL && l->kernel->absorbs(l, next);
    return l->ctx->lean && l->kernel->continues != NULL && reads_top(last, next) &&
           l->kernel->continues(l, next);
}

/* The gradients of an absorbed layer's parameters are final when its leader has run
 * backward. */
static void move_params(fire_net_t *net, int from, int to)
{
    for (int i = 0; i < net->nparam; i++)
        if (net->learn[i].first_use == from) net->learn[i].first_use = to;
}

/* Find pairs (lender, borrower): the borrower computes the lender's top itself when it
 * needs it, so the lender does not write it. */
static void find_borrowers(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *from = &net->layer[i].base;

        for (int k = i + 1; k < net->nlayer && !from->absorbed; k++) {
            fire_layer_t *l = &net->layer[k].base;

            if (l->absorbed || l->kernel != from->kernel ||
                l->kernel->borrows == NULL || !l->kernel->borrows(l, from))
                continue;
            from->borrower = l;
            l->lender      = from;
            break;
        }
    }
}

/* Does every kernel that reads this blob skip its odd rows and columns? */
static bool readers_skip(const fire_net_t *net, const fire_blob_t *b)
{
    bool read = false;

    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        for (int k = 0; k < l->nbottom; k++) {
            if (l->bottom[k] != b || l->absorbed) continue;
            if (l->kernel->skips == NULL || !l->kernel->skips(l)) return false;
            read = true;
        }
    }
    return read;
}

/* Mark layers that need not compute odd rows and columns of their tops. */
static void find_thin(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t       *l    = &net->layer[i].base;
        const fire_layer_t *last = l->nfollower > 0 ? l->follower[l->nfollower - 1] : l;

        l->thin = !l->absorbed && l->kernel->thins != NULL && l->kernel->thins(l);
        for (int k = 0; k < last->ntop && l->thin; k++)
            l->thin = readers_skip(net, last->top[k]);
    }
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
    if (!net->ctx.lean) return;
    find_borrowers(net);
    find_thin(net);
}

fire_status_t fire_net_unfuse(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *l = &net->layer[i].base;

        l->absorbed = l->thin = false;
        l->borrower = l->lender = NULL;
        if (l->nfollower == 0) continue;
        l->nfollower = 0;
        if (l->kernel->prepare != NULL) FIRE_TRY(l->kernel->prepare(l));
    }
    return fire_net_plan_memory(net);
}
