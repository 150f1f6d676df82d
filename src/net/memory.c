/* memory.c - decides when a lean net may free the memory of a blob: after the last
 * layer of the pass, forward or backward, that needs its values. Freed memory returns
 * to the net's pool, from which the next blob takes it.
 *
 * With ctx.recompute, the result of a cheap layer (BatchNorm, pooling, LRN, Concat,
 * ReLU) is freed after forward and computed once more before backward needs it. In
 * inference, a sum is written into the memory of a bottom that no other layer needs.
 *
 * A net that is not lean but may forget frees memory only in passes whose values nobody
 * looks at, and never what somebody holds a view of: the values of a training's last
 * iteration are all there, and those before it find their memory in the cache.
 *
 * Never freed are: outputs of the net, observed blobs, losses, tops of data layers
 * (nothing could compute them again), gradients of inputs, and parameters. Blobs that
 * share memory keep it until the last of them is not needed any more. */
#include <stdlib.h>

#include "net/net_state.h"

/* The steps during which the data or gradient of a blob is needed. Steps of a pass: 0
 * ... nlayer - 1 are the forwards, backward of layer i is step 2 nlayer - 1 - i. */
typedef struct lifetime {
    fire_storage_t *storage; /* its memory; several blobs may share it */
    fire_blob_t    *blob;
    fire_part_t     part;
    int             first, last;   /* first and last step; last is KEPT: never freed */
    int             forward, back; /* last step of forward, first one of backward */
    int             writer;        /* the last layer that computes the values, or -1 */
    bool            recompute;     /* freed after `forward`, recomputed before `back` */
    bool            spare;         /* its last reader writes its top into this memory */
    bool            even_only;     /* odd rows and columns are not stored (FIRE_EVEN) */
} lifetime_t;

enum { KEPT = 1 << 30 };

/* The lifetimes of all blobs of a net. */
typedef struct lifetimes {
    lifetime_t *item;
    int         n, nlayer;
} lifetimes_t;

/* The lifetime of a part of a blob; one for all blobs that share its memory. */
static lifetime_t *lifetime_of(lifetimes_t *all, fire_blob_t *b, fire_part_t part)
{
    for (int i = 0; i < all->n; i++)
        if (all->item[i].storage == b->part[part]) return &all->item[i];
    all->item[all->n] = (lifetime_t){.storage = b->part[part],
                                     .blob    = b,
                                     .part    = part,
                                     .first   = KEPT,
                                     .last    = -1,
                                     .forward = -1,
                                     .back    = KEPT,
                                     .writer  = -1};
    return &all->item[all->n++];
}

/* The part is needed in this step. */
static void use(lifetimes_t *all, fire_blob_t *b, fire_part_t part, int step)
{
    lifetime_t *l = lifetime_of(all, b, part);

    if (step < l->first) l->first = step;
    if (step > l->last) l->last = step;
    if (step < all->nlayer && step > l->forward) l->forward = step;
    if (step >= all->nlayer && step < l->back) l->back = step;
}

/* Is the top another blob in its bottom's memory (Reshape, Flatten, Split)? */
static bool is_view(const fire_layer_t *l, const fire_blob_t *top)
{
    for (int i = 0; i < l->nbottom; i++)
        if (l->bottom[i] != top &&
            l->bottom[i]->part[FIRE_DATA] == top->part[FIRE_DATA])
            return true;
    return false;
}

/* What layer l needs and computes in the forward step `step`. */
static void use_forward(lifetimes_t *all, const fire_layer_t *l, int step)
{
    bool source = l->nbottom == 0;

    for (int i = 0; i < l->nbottom; i++)
        use(all, l->bottom[i], FIRE_DATA, step);
    for (int i = 0; i < l->ntop; i++) {
        use(all, l->top[i], FIRE_DATA, source || l->loss_weight[i] != 0 ? KEPT : step);
        if (source) use(all, l->top[i], FIRE_DIFF, KEPT);
        if (!l->fusion.absorbed && !is_view(l, l->top[i]))
            lifetime_of(all, l->top[i], FIRE_DATA)->writer = step;
    }
    for (int i = 0; i < l->nblob; i++) { /* a layer may have its parameters as tops */
        use(all, l->blob[i], FIRE_DATA, KEPT);
        use(all, l->blob[i], FIRE_DIFF, KEPT);
    }
}

/* What layer l needs and computes in the backward step `step`. */
static void use_backward(lifetimes_t *all, const fire_layer_t *l, int step)
{
    unsigned reads = fire_layer_backward_reads(l);

    for (int i = 0; i < l->nbottom; i++) {
        if (reads & FIRE_READS_BOTTOM) use(all, l->bottom[i], FIRE_DATA, step);
        use(all, l->bottom[i], FIRE_DIFF, step);
    }
    for (int i = 0; i < l->ntop; i++) {
        if (reads & FIRE_READS_TOP) use(all, l->top[i], FIRE_DATA, step);
        use(all, l->top[i], FIRE_DIFF, step);
    }
}

/* The leader of the layer's group. The whole group runs backward in the leader's step,
 * which comes after those of the others. */
static int leader_of(const fire_net_t *net, int layer)
{
    while (net->layer[layer].base.fusion.absorbed)
        layer--;
    return layer;
}

/* Can this layer compute its top once more before backward needs it? */
static bool can_recompute(lifetimes_t *all, const fire_net_layer_t *l, int i)
{
    const fire_kernel_t     *k   = l->base.kernel;
    const fire_fusion_ops_t *ops = k->fusion;
    const lifetime_t        *top;

    if (ops == NULL || ops->recompute == NULL || l->base.fusion.absorbed ||
        l->base.ntop != 1 || !l->need_backward)
        return false;
    if (l->base.top[0] == l->base.bottom[0] && ops->recompute == k->forward)
        return false;
    top = lifetime_of(all, l->base.top[0], FIRE_DATA);
    return top->writer == i && top->last < KEPT && top->back < KEPT;
}

/* Choose the layers to recompute, from the last to the first: one that is recomputed
 * needs its bottoms at that time, so they must be kept or recomputed before. */
static void plan_recompute(const fire_net_t *net, lifetimes_t *all)
{
    for (int i = net->nlayer - 1; i >= 0; i--) {
        const fire_layer_t *l = &net->layer[i].base;
        lifetime_t         *top;

        if (!can_recompute(all, &net->layer[i], i)) continue;
        top            = lifetime_of(all, l->top[0], FIRE_DATA);
        top->recompute = true;
        for (int k = 0; k < l->nbottom; k++)
            if (l->bottom[k] != l->top[0]) use(all, l->bottom[k], FIRE_DATA, top->back);
    }
}

/* Find the bottoms whose memory the layer may use for its top, for kernels that can
 * (`reuses_bottom`). */
static void plan_spares(const fire_net_t *net, lifetimes_t *all)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t      *l     = &net->layer[i].base;
        const fire_fusion_ops_t *ops   = l->kernel->fusion;
        bool                     found = ops == NULL || !ops->reuses_bottom;

        for (int k = 0; k < l->nbottom && !found; k++) {
            lifetime_t *bottom = lifetime_of(all, l->bottom[k], FIRE_DATA);

            found         = bottom->last == i;
            bottom->spare = found;
        }
    }
}

/* Blobs and gradients that are stored without odd rows and columns. */
static void mark_even_only(const fire_net_t *net, lifetimes_t *all)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l    = &net->layer[i].base;
        const fire_layer_t *last = fire_layer_last(l);

        for (int k = 0; k < last->ntop && l->fusion.even_only; k++)
            for (int part = 0; part < 2; part++)
                lifetime_of(all, last->top[k], (fire_part_t)part)->even_only = true;
    }
}

/* Compute all lifetimes of a pass. */
static void trace(const fire_net_t *net, bool backward, bool recompute,
                  lifetimes_t *all)
{
    all->nlayer = net->nlayer;
    for (int i = 0; i < net->nlayer; i++)
        use_forward(all, &net->layer[i].base, i);
    for (int i = net->nlayer - 1; i >= 0 && backward; i--)
        if (net->layer[i].need_backward)
            use_backward(all, &net->layer[i].base,
                         2 * net->nlayer - 1 - leader_of(net, i));
    for (int i = 0; i < net->noutput; i++)
        use(all, net->blob[net->output[i]].blob, FIRE_DATA, KEPT);
    for (int i = 0; i < net->nblob; i++)
        for (int part = 0; part < 2 && net->blob[i].observed; part++)
            use(all, net->blob[i].blob, (fire_part_t)part, KEPT);
    if (backward && recompute) plan_recompute(net, all);
    if (!backward) plan_spares(net, all);
    mark_even_only(net, all);
}

/* Upper bound for their number. */
static int max_lifetimes(const fire_net_t *net)
{
    int n = 2 * net->nblob;

    for (int i = 0; i < net->nlayer; i++)
        n += 2 * net->layer[i].base.nblob;
    return n;
}

static int by_step(const void *a, const void *b)
{
    return ((const fire_drop_t *)a)->step - ((const fire_drop_t *)b)->step;
}

static int by_step_and_layer(const void *a, const void *b)
{
    const fire_recompute_t *x = a, *y = b;

    return x->step != y->step ? x->step - y->step : x->layer - y->layer;
}

/* Turn lifetimes into the lists of what to free and recompute in which step. */
static void list_drops(fire_net_t *net, const lifetimes_t *all)
{
    for (int i = 0; i < all->n; i++) {
        const lifetime_t *l = &all->item[i];

        if (l->last >= KEPT) continue;
        if (l->spare) net->layer[l->last].base.fusion.spare = l->blob;
        net->drop[net->ndrop++] = (fire_drop_t){l->last, l->blob, l->part};
        if (!l->recompute) continue;
        net->drop[net->ndrop++]           = (fire_drop_t){l->forward, l->blob, l->part};
        net->recompute[net->nrecompute++] = (fire_recompute_t){l->back, l->writer};
    }
    qsort(net->drop, (size_t)net->ndrop, sizeof(*net->drop), by_step);
    qsort(net->recompute, (size_t)net->nrecompute, sizeof(*net->recompute),
          by_step_and_layer);
}

fire_status_t fire_net_plan_memory(fire_net_t *net)
{
    lifetimes_t   all = {0};
    fire_status_t st;

    net->ndrop = net->nrecompute = 0;
    for (int i = 0; i < net->nlayer; i++)
        net->layer[i].base.fusion.spare = NULL;
    /* Without a pool, freeing GPU memory would wait for the GPU. */
    if ((!net->ctx.lean && !net->may_forget) ||
        fire_pool_on(net->ctx.pool, net->ctx.place) == NULL)
        return FIRE_OK;
    fire_free(net->drop);
    fire_free(net->recompute);
    net->drop      = NULL;
    net->recompute = NULL;
    FIRE_TRY(FIRE_NEW(&all.item, max_lifetimes(net)));
    trace(net, !net->ctx.inference,
          net->ctx.lean && net->ctx.recompute && net->phase == CAFFE__PHASE__TRAIN,
          &all);
    FIRE_TRY_GOTO(st, FIRE_NEW(&net->drop, 2 * all.n), done);
    FIRE_TRY_GOTO(st, FIRE_NEW(&net->recompute, all.n), done);
    list_drops(net, &all);
done:
    fire_free(all.item);
    return st;
}

fire_status_t fire_net_recompute(fire_net_t *net, int step)
{
    for (int i = 0; i < net->nrecompute; i++) {
        fire_layer_t *l = &net->layer[net->recompute[i].layer].base;

        if (net->recompute[i].step == step) FIRE_TRY(l->kernel->fusion->recompute(l));
    }
    return FIRE_OK;
}

/* Index of the first entry of net->drop with this step or a later one. */
static int first_of(const fire_net_t *net, int step)
{
    int low = 0, high = net->ndrop;

    while (low < high) {
        int middle = (low + high) / 2;

        if (net->drop[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void fire_net_drop(fire_net_t *net, int step)
{
    if (!net->ctx.lean && !net->forgets) return;
    for (int i = first_of(net, step); i < net->ndrop && net->drop[i].step == step;
         i++) {
        fire_storage_t *s = net->drop[i].blob->part[net->drop[i].part];

        if (net->ctx.lean || !fire_storage_is_viewed(s)) fire_storage_clear(s);
    }
}

/* Does the blob have memory in this step? */
static bool is_there(const lifetime_t *l, int step)
{
    return l->first <= step && step <= l->last - l->spare &&
           !(l->recompute && step > l->forward && step < l->back);
}

/* Bytes of an element; a GPU holds most activations in the net's precision. */
static size_t element_bytes(const fire_net_t *net)
{
    return net->ctx.place == FIRE_GPU ? fire_dtype_size(net->ctx.precision)
                                      : sizeof(float);
}

static size_t bytes_of(const fire_net_t *net, const fire_blob_t *b, bool even_only)
{
    size_t n = element_bytes(net);

    for (int i = 0; i < b->ndim; i++)
        n *= (size_t)(even_only && i > 1 ? (b->dim[i] + 1) / 2 : b->dim[i]);
    return fire_pool_round(n);
}

/* Bytes of bottoms that kernels copy in forward and keep for backward. */
static size_t copy_bytes(const fire_net_t *net, int step)
{
    size_t sum = 0;

    for (int i = 0; i < net->nlayer; i++) {
        const fire_net_layer_t *l = &net->layer[i];

        if (l->need_backward && i <= step && step <= 2 * net->nlayer - 1 - i &&
            (fire_layer_backward_reads(&l->base) & FIRE_READS_COPY))
            sum += bytes_of(net, l->base.bottom[0], false);
    }
    return sum;
}

fire_status_t fire_net_blob_bytes(const fire_net_t *net, bool backward, bool recompute,
                                  size_t *peak_p)
{
    lifetimes_t all  = {0};
    size_t      peak = 0;

    FIRE_TRY(FIRE_NEW(&all.item, max_lifetimes(net)));
    trace(net, backward, recompute, &all);
    for (int step = 0; step < (backward ? 2 : 1) * net->nlayer; step++) {
        size_t now = backward ? copy_bytes(net, step) : 0;

        for (int i = 0; i < all.n; i++)
            if (is_there(&all.item[i], step))
                now += bytes_of(net, all.item[i].blob, all.item[i].even_only);
        if (now > peak) peak = now;
    }
    fire_free(all.item);
    *peak_p = peak;
    return FIRE_OK;
}
