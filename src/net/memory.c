/* memory.c - when a lean net may give back the memory of a blob: after the last layer
 * that needs its values, forward or backward. The net's pool hands it to the next.
 *
 * With ctx.recompute, what a cheap layer made (BatchNorm, pooling, LRN, Concat, ReLU) is
 * given back after forward and made again before backward needs it. In inference, a sum
 * is written into the memory of a bottom that nobody else needs.
 *
 * Kept are the net's outputs, losses, what sources gave (nobody may give it again),
 * gradients of inputs, and parameters. Blobs that share memory live as long as the last
 * of them. */
#include <stdlib.h>

#include "net/net_state.h"

/* A blob's part and the step of a whole pass after which nobody needs it: steps 0 ...
 * nlayer - 1 are forward, backward of layer i is step 2 nlayer - 1 - i. */
typedef struct life {
    fire_storage_t *storage;
    fire_blob_t    *blob;
    fire_part_t     part;
    int             first, last;   /* last KEPT: for ever */
    int             forward, back; /* last step of forward, first of backward */
    int             writer;        /* the last layer that makes the values, or -1 */
    bool            again;         /* is not there between forward and back */
    bool            spare; /* its memory is another's in the last step already */
    bool            thin;  /* FIRE_EVEN */
} life_t;

enum { KEPT = 1 << 30 };

typedef struct lives {
    life_t *life;
    int     n, nlayer;
} lives_t;

/* Blobs that share memory have one life. */
static life_t *life_of(lives_t *all, fire_blob_t *b, fire_part_t part)
{
    for (int i = 0; i < all->n; i++)
        if (all->life[i].storage == b->part[part]) return &all->life[i];
    all->life[all->n] = (life_t){.storage = b->part[part],
                                 .blob    = b,
                                 .part    = part,
                                 .first   = KEPT,
                                 .last    = -1,
                                 .forward = -1,
                                 .back    = KEPT,
                                 .writer  = -1};
    return &all->life[all->n++];
}

static void use(lives_t *all, fire_blob_t *b, fire_part_t part, int step)
{
    life_t *l = life_of(all, b, part);

    if (step < l->first) l->first = step;
    if (step > l->last) l->last = step;
    if (step < all->nlayer && step > l->forward) l->forward = step;
    if (step >= all->nlayer && step < l->back) l->back = step;
}

/* A view shares its bottom's memory, but is another blob. */
static bool is_view(const fire_layer_t *l, const fire_blob_t *top)
{
    for (int i = 0; i < l->nbottom; i++)
        if (l->bottom[i] != top &&
            l->bottom[i]->part[FIRE_DATA] == top->part[FIRE_DATA])
            return true;
    return false;
}

static void use_forward(lives_t *all, const fire_layer_t *l, int step)
{
    bool source = l->nbottom == 0;

    for (int i = 0; i < l->nbottom; i++)
        use(all, l->bottom[i], FIRE_DATA, step);
    for (int i = 0; i < l->ntop; i++) {
        use(all, l->top[i], FIRE_DATA, source || l->loss_weight[i] != 0 ? KEPT : step);
        if (source) use(all, l->top[i], FIRE_DIFF, KEPT);
        if (!l->absorbed && !is_view(l, l->top[i]))
            life_of(all, l->top[i], FIRE_DATA)->writer = step;
    }
    for (int i = 0; i < l->nblob; i++) { /* a layer may show its parameters as tops */
        use(all, l->blob[i], FIRE_DATA, KEPT);
        use(all, l->blob[i], FIRE_DIFF, KEPT);
    }
}

static unsigned needs_of(const fire_layer_t *l)
{
    if (l->absorbed) return 0; /* what it needs, its leader knows */
    return l->kernel->needs != NULL ? l->kernel->needs(l)
                                    : FIRE_NEEDS_BOTTOM | FIRE_NEEDS_TOP;
}

static void use_backward(lives_t *all, const fire_layer_t *l, int step)
{
    unsigned needs = needs_of(l);

    for (int i = 0; i < l->nbottom; i++) {
        if (needs & FIRE_NEEDS_BOTTOM) use(all, l->bottom[i], FIRE_DATA, step);
        use(all, l->bottom[i], FIRE_DIFF, step);
    }
    for (int i = 0; i < l->ntop; i++) {
        if (needs & FIRE_NEEDS_TOP) use(all, l->top[i], FIRE_DATA, step);
        use(all, l->top[i], FIRE_DIFF, step);
    }
}

/* A group runs backward when it is its leader's turn, after that of all others. */
static int leader_of(const fire_net_t *net, int layer)
{
    while (net->layer[layer].base.absorbed)
        layer--;
    return layer;
}

/* Can this layer make its top's values again when backward first needs them? */
static bool can_make_again(lives_t *all, const fire_net_layer_t *l, int i)
{
    const fire_kernel_t *k = l->base.kernel;
    const life_t        *top;

    if (k->again == NULL || l->base.absorbed || l->base.ntop != 1 || !l->need_backward)
        return false;
    if (l->base.top[0] == l->base.bottom[0] && k->again == k->forward) return false;
    top = life_of(all, l->base.top[0], FIRE_DATA);
    return top->writer == i && top->last < KEPT && top->back < KEPT;
}

/* From the last layer to the first: what one makes again, it makes of its bottoms, which
 * must be there by then, or be made again before. */
static void plan_again(const fire_net_t *net, lives_t *all)
{
    for (int i = net->nlayer - 1; i >= 0; i--) {
        const fire_layer_t *l = &net->layer[i].base;
        life_t             *top;

        if (!can_make_again(all, &net->layer[i], i)) continue;
        top        = life_of(all, l->top[0], FIRE_DATA);
        top->again = true;
        for (int k = 0; k < l->nbottom; k++)
            if (l->bottom[k] != l->top[0]) use(all, l->bottom[k], FIRE_DATA, top->back);
    }
}

/* Bottoms whose memory can be their layer's top's. */
static void plan_spares(const fire_net_t *net, lives_t *all)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l     = &net->layer[i].base;
        bool                found = !l->kernel->reuses;

        for (int k = 0; k < l->nbottom && !found; k++) {
            life_t *bottom = life_of(all, l->bottom[k], FIRE_DATA);

            found         = bottom->last == i;
            bottom->spare = found;
        }
    }
}

/* Blobs of which odd rows and columns are left out, and their gradients. */
static void mark_thin(const fire_net_t *net, lives_t *all)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l    = &net->layer[i].base;
        const fire_layer_t *last = l->nfollower > 0 ? l->follower[l->nfollower - 1] : l;

        for (int k = 0; k < last->ntop && l->thin; k++)
            for (int part = 0; part < 2; part++)
                life_of(all, last->top[k], (fire_part_t)part)->thin = true;
    }
}

static void trace(const fire_net_t *net, bool backward, bool again, lives_t *all)
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
    if (backward && again) plan_again(net, all);
    if (!backward) plan_spares(net, all);
    mark_thin(net, all);
}

static int most_lives(const fire_net_t *net)
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
    const fire_again_t *x = a, *y = b;

    return x->step != y->step ? x->step - y->step : x->layer - y->layer;
}

static void list_drops(fire_net_t *net, const lives_t *all)
{
    for (int i = 0; i < all->n; i++) {
        const life_t *l = &all->life[i];

        if (l->last >= KEPT) continue;
        if (l->spare) net->layer[l->last].base.spare = l->blob;
        net->drop[net->ndrop++] = (fire_drop_t){l->last, l->blob, l->part};
        if (!l->again) continue;
        net->drop[net->ndrop++]   = (fire_drop_t){l->forward, l->blob, l->part};
        net->again[net->nagain++] = (fire_again_t){l->back, l->writer};
    }
    qsort(net->drop, (size_t)net->ndrop, sizeof(*net->drop), by_step);
    qsort(net->again, (size_t)net->nagain, sizeof(*net->again), by_step_and_layer);
}

fire_status_t fire_net_plan_memory(fire_net_t *net)
{
    lives_t       all = {0};
    fire_status_t st;

    net->ndrop = net->nagain = 0;
    for (int i = 0; i < net->nlayer; i++)
        net->layer[i].base.spare = NULL;
    /* Without a pool, giving memory back would wait for the GPU. */
    if (!net->ctx.lean || fire_pool_on(net->ctx.pool, net->ctx.place) == NULL)
        return FIRE_OK;
    fire_free(net->drop);
    fire_free(net->again);
    net->drop  = NULL;
    net->again = NULL;
    FIRE_TRY(FIRE_NEW(&all.life, most_lives(net)));
    trace(net, !net->ctx.inference,
          net->ctx.recompute && net->phase == CAFFE__PHASE__TRAIN, &all);
    FIRE_TRY_GOTO(st, FIRE_NEW(&net->drop, 2 * all.n), done);
    FIRE_TRY_GOTO(st, FIRE_NEW(&net->again, all.n), done);
    list_drops(net, &all);
done:
    fire_free(all.life);
    return st;
}

fire_status_t fire_net_make_again(fire_net_t *net, int step)
{
    for (int i = 0; i < net->nagain; i++) {
        fire_layer_t *l = &net->layer[net->again[i].layer].base;

        if (net->again[i].step == step) FIRE_TRY(l->kernel->again(l));
    }
    return FIRE_OK;
}

/* The first drop of this step or a later one. */
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
    for (int i = first_of(net, step); i < net->ndrop && net->drop[i].step == step; i++)
        fire_storage_clear(net->drop[i].blob->part[net->drop[i].part]);
}

static bool is_there(const life_t *l, int step)
{
    return l->first <= step && step <= l->last - l->spare &&
           !(l->again && step > l->forward && step < l->back);
}

/* Of an activation: a GPU holds most of them in the net's precision. */
static size_t element_bytes(const fire_net_t *net)
{
    return net->ctx.place == FIRE_GPU ? fire_dtype_size(net->ctx.precision)
                                      : sizeof(float);
}

static size_t bytes_of(const fire_net_t *net, const fire_blob_t *b, bool thin)
{
    size_t n = element_bytes(net);

    for (int i = 0; i < b->ndim; i++)
        n *= (size_t)(thin && i > 1 ? (b->dim[i] + 1) / 2 : b->dim[i]);
    return fire_pool_round(n);
}

/* Copies that kernels keep from forward to backward. */
static size_t copy_bytes(const fire_net_t *net, int step)
{
    size_t sum = 0;

    for (int i = 0; i < net->nlayer; i++) {
        const fire_net_layer_t *l = &net->layer[i];

        if (l->need_backward && i <= step && step <= 2 * net->nlayer - 1 - i &&
            (needs_of(&l->base) & FIRE_NEEDS_COPY))
            sum += bytes_of(net, l->base.bottom[0], false);
    }
    return sum;
}

fire_status_t fire_net_blob_bytes(const fire_net_t *net, bool backward, bool again,
                                  size_t *peak_p)
{
    lives_t all  = {0};
    size_t  peak = 0;

    FIRE_TRY(FIRE_NEW(&all.life, most_lives(net)));
    trace(net, backward, again, &all);
    for (int step = 0; step < (backward ? 2 : 1) * net->nlayer; step++) {
        size_t now = backward ? copy_bytes(net, step) : 0;

        for (int i = 0; i < all.n; i++)
            if (is_there(&all.life[i], step))
                now += bytes_of(net, all.life[i].blob, all.life[i].thin);
        if (now > peak) peak = now;
    }
    fire_free(all.life);
    *peak_p = peak;
    return FIRE_OK;
}
