/* fusion.c - decides which layers run as one: convolution with the ReLU after it, for
 * inference also with BatchNorm and Scale; BatchNorm with Scale and ReLU; a sum with its
 * ReLU. The kernels say what they can do (layers/fusion.h); docs/design/0007-fusion.md
 * draws it.
 *
 * A layer that works in place can always be absorbed: every blob still holds what it
 * would hold without. Only a lean net, where nobody reads the blobs in between, goes
 * further: BatchNorm at the end of a residual branch absorbs the sum, for inference any
 * chain that the kernel can do, and rows and columns that no layer reads stay unwritten. */
#include <string.h>

#include "net/net_state.h"

/* Is `next` the only reader of l's only top, and that top no loss? */
static bool is_chain(const fire_layer_t *l, const fire_layer_t *next)
{
    return next->nbottom == 1 && next->ntop == 1 && l->ntop == 1 &&
           next->bottom[0] == l->top[0] && next->loss_weight[0] == 0 &&
           l->loss_weight[0] == 0;
}

/* Does a user read this blob, in a lean net? */
static bool is_observed(const fire_net_t *net, const fire_blob_t *b)
{
    for (int i = 0; i < net->nblob; i++)
        if (net->blob[i].blob == b) return net->blob[i].observed;
    return false;
}

/* May the blob between the two stay without values? */
static bool may_skip_blob(const fire_net_t *net, const fire_layer_t *next)
{
    return next->top[0] == next->bottom[0] ||
           (net->ctx.inference && !is_observed(net, next->bottom[0]));
}

/* Does `next` read l's only top, among others, and write elsewhere? It is the only
 * reader: where there are several, the net has put a Split in between. */
static bool is_join(const fire_layer_t *l, const fire_layer_t *next)
{
    bool reads = false;

    for (int i = 0; i < next->nbottom; i++)
        reads |= next->bottom[i] == l->top[0];
    for (int i = 0; i < next->ntop; i++)
        if (next->top[i] == l->top[0] || next->loss_weight[i] != 0) return false;
    return reads && l->ntop == 1 && l->loss_weight[0] == 0;
}

/* A layer that runs `ref`, by request or because nothing else fits, is never absorbed. */
static bool can_absorb(const fire_net_t *net, const fire_layer_t *l,
                       const fire_layer_t *next)
{
    const fire_fusion_ops_t *ops  = l->kernel->fusion;
    const fire_layer_t      *last = fire_layer_last(l);

    if (ops == NULL || l->fusion.nfollower == FIRE_MAX_FOLLOWERS ||
        next->kernel->where != l->kernel->where ||
        strcmp(next->kernel->name, "ref") == 0)
        return false;
    if (is_chain(last, next) && may_skip_blob(net, next))
        return ops->absorbs != NULL && ops->absorbs(l, next);
    return l->ctx->lean && ops->absorbs_join != NULL && is_join(last, next) &&
           !is_observed(net, last->top[0]) && ops->absorbs_join(l, next);
}

/* Gradients of an absorbed layer's parameters are complete when its leader has run
 * backward. */
static void move_params(fire_net_t *net, int from, int to)
{
    for (int i = 0; i < net->nparam; i++)
        if (net->learn[i].first_use == from) net->learn[i].first_use = to;
}

static bool can_borrow(const fire_layer_t *l, const fire_layer_t *from)
{
    const fire_fusion_ops_t *ops = l->kernel->fusion;

    return !l->fusion.absorbed && l->kernel == from->kernel && ops != NULL &&
           ops->borrows != NULL && ops->borrows(l, from);
}

/* A result need not be written if its only reader can compute it itself. */
static void find_borrowers(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *from = &net->layer[i].base;

        for (int k = i + 1; k < net->nlayer && !from->fusion.absorbed; k++) {
            fire_layer_t *l = &net->layer[k].base;

            if (!can_borrow(l, from) || is_observed(net, fire_layer_last(from)->top[0]))
                continue;
            from->fusion.borrower = l;
            l->fusion.lender      = from;
            break;
        }
    }
}

static bool reads_even(const fire_layer_t *l)
{
    const fire_fusion_ops_t *ops = l->kernel->fusion;

    return ops != NULL && ops->reads_even != NULL && ops->reads_even(l);
}

static bool writes_even(const fire_layer_t *l)
{
    const fire_fusion_ops_t *ops = l->kernel->fusion;

    return ops != NULL && ops->writes_even != NULL && ops->writes_even(l);
}

/* Is there a reader of this blob, and do all of them skip odd rows and columns? */
static bool all_read_even(const fire_net_t *net, const fire_blob_t *b)
{
    bool read = false;

    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        for (int k = 0; k < l->nbottom; k++) {
            if (l->bottom[k] != b || l->fusion.absorbed) continue;
            if (!reads_even(l)) return false;
            read = true;
        }
    }
    return read;
}

static void find_even_only(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t       *l    = &net->layer[i].base;
        const fire_layer_t *last = fire_layer_last(l);
        bool                even = !l->fusion.absorbed && writes_even(l);

        for (int k = 0; k < last->ntop && even; k++)
            even = all_read_even(net, last->top[k]) && !is_observed(net, last->top[k]);
        l->fusion.even_only = even;
    }
}

void fire_net_fuse(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i += 1 + net->layer[i].base.fusion.nfollower) {
        fire_net_layer_t *leader = &net->layer[i];
        fire_fusion_t    *group  = &leader->base.fusion;

        for (int k = i + 1;
             k < net->nlayer && can_absorb(net, &leader->base, &net->layer[k].base);
             k++) {
            fire_net_layer_t *l = &net->layer[k];

            group->follower[group->nfollower++] = &l->base;
            leader->need_backward   = leader->need_backward || l->need_backward;
            l->base.fusion.absorbed = true;
            move_params(net, k, i);
        }
    }
    if (!net->ctx.lean) return;
    find_borrowers(net);
    find_even_only(net);
}

fire_status_t fire_net_unfuse(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *l = &net->layer[i].base;

        l->fusion.absorbed = l->fusion.even_only = false;
        l->fusion.borrower = l->fusion.lender = NULL;
        if (l->fusion.nfollower == 0) continue;
        l->fusion.nfollower = 0;
        if (l->kernel->prepare != NULL) FIRE_TRY(l->kernel->prepare(l));
    }
    return fire_net_plan_memory(net);
}
