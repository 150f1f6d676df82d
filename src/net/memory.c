/* memory.c - when a lean net may give back the memory of a blob: after the last layer
 * that needs its values, forward or backward. The net's pool hands it to the next.
 *
 * Kept are the net's outputs, what sources gave (nobody may give it again), gradients of
 * inputs, and parameters. Blobs that share memory live as long as the last of them. */
#include <stdlib.h>

#include "net/net.h"

/* A blob's part and the step of a whole pass after which nobody needs it: steps 0 ...
 * nlayer - 1 are forward, backward of layer i is step 2 nlayer - 1 - i. */
typedef struct life {
    fire_storage_t *storage;
    fire_blob_t    *blob;
    fire_part_t     part;
    int             first, last; /* last KEPT: for ever */
} life_t;

enum { KEPT = 1 << 30 };

typedef struct lives {
    life_t *life;
    int     n;
} lives_t;

/* Blobs that share memory have one life. */
static life_t *life_of(lives_t *all, fire_blob_t *b, fire_part_t part)
{
    for (int i = 0; i < all->n; i++)
        if (all->life[i].storage == b->part[part]) return &all->life[i];
    all->life[all->n] = (life_t){b->part[part], b, part, KEPT, -1};
    return &all->life[all->n++];
}

static void use(lives_t *all, fire_blob_t *b, fire_part_t part, int step)
{
    life_t *l = life_of(all, b, part);

    if (step < l->first) l->first = step;
    if (step > l->last) l->last = step;
}

static void use_forward(lives_t *all, const fire_layer_t *l, int step)
{
    bool source = l->nbottom == 0;

    for (int i = 0; i < l->nbottom; i++)
        use(all, l->bottom[i], FIRE_DATA, step);
    for (int i = 0; i < l->ntop; i++) {
        use(all, l->top[i], FIRE_DATA, source ? KEPT : step);
        if (source) use(all, l->top[i], FIRE_DIFF, KEPT);
    }
    for (int i = 0; i < l->nblob; i++) { /* a layer may show its parameters as tops */
        use(all, l->blob[i], FIRE_DATA, KEPT);
        use(all, l->blob[i], FIRE_DIFF, KEPT);
    }
}

/* What an absorbed layer needs, its leader knows. */
static void use_backward(lives_t *all, const fire_layer_t *l, int step)
{
    unsigned needs = l->kernel->needs != NULL ? l->kernel->needs(l)
                                              : FIRE_NEEDS_BOTTOM | FIRE_NEEDS_TOP;

    if (l->absorbed) needs = 0;
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

static void trace(const fire_net_t *net, bool backward, lives_t *all)
{
    for (int i = 0; i < net->nlayer; i++)
        use_forward(all, &net->layer[i].base, i);
    for (int i = net->nlayer - 1; i >= 0 && backward; i--)
        if (net->layer[i].need_backward)
            use_backward(all, &net->layer[i].base,
                         2 * net->nlayer - 1 - leader_of(net, i));
    for (int i = 0; i < net->noutput; i++)
        use(all, net->blob[net->output[i]].blob, FIRE_DATA, KEPT);
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

fire_status_t fire_net_plan_memory(fire_net_t *net)
{
    lives_t       all = {0};
    fire_status_t st;

    net->ndrop = 0;
    /* Without a pool, giving memory back would wait for the GPU. */
    if (!net->ctx.lean || fire_pool_on(net->ctx.pool, net->ctx.place) == NULL)
        return FIRE_OK;
    fire_free(net->drop);
    net->drop = NULL;
    FIRE_TRY(FIRE_NEW(&all.life, most_lives(net)));
    trace(net, true, &all);
    FIRE_TRY_GOTO(st, FIRE_NEW(&net->drop, all.n), done);
    for (int i = 0; i < all.n; i++)
        if (all.life[i].last < KEPT)
            net->drop[net->ndrop++] =
                (fire_drop_t){all.life[i].last, all.life[i].blob, all.life[i].part};
    qsort(net->drop, (size_t)net->ndrop, sizeof(*net->drop), by_step);
done:
    fire_free(all.life);
    return st;
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

fire_status_t fire_net_blob_bytes(const fire_net_t *net, bool backward, size_t *peak_p)
{
    lives_t all  = {0};
    size_t  peak = 0;

    FIRE_TRY(FIRE_NEW(&all.life, most_lives(net)));
    trace(net, backward, &all);
    for (int step = 0; step < (backward ? 2 : 1) * net->nlayer; step++) {
        size_t now = 0;

        for (int i = 0; i < all.n; i++)
            if (all.life[i].first <= step && step <= all.life[i].last)
                now += (size_t)fire_blob_count(all.life[i].blob) * sizeof(float);
        if (now > peak) peak = now;
    }
    fire_free(all.life);
    *peak_p = peak;
    return FIRE_OK;
}
