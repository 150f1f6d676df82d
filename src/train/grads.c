#include "train/grads.h"

#include <string.h>

#include "base/alloc.h"

/* Backward runs from the last layer to the first; a parameter's gradient is final when
 * its lowest user is done. */
static fire_status_t sort_params(fire_grads_t *g)
{
    const fire_net_t *net = g->net;

    FIRE_TRY(FIRE_NEW(&g->order, net->nparam));
    FIRE_TRY(FIRE_NEW(&g->offset, net->nparam));
    for (int i = 0; i < net->nparam; i++) { /* insertion sort: n is small, stable */
        int at = i;

        while (at > 0 &&
               net->learn[g->order[at - 1]].first_use < net->learn[i].first_use) {
            g->order[at] = g->order[at - 1];
            at--;
        }
        g->order[at] = i;
    }
    return FIRE_OK;
}

static int64_t count_scalars(const fire_net_t *net)
{
    int64_t n = 1; /* the loss */

    for (int i = 0; i < net->noutput; i++)
        n += fire_blob_count(net->blob[net->output[i]].blob);
    return n > FIRE_MAX_SCALARS ? 1 : n;
}

/* Parameters begin on cache lines of their own. */
static int64_t padded(int64_t n)
{
    return (n + 15) / 16 * 16;
}

static fire_status_t lay_out(fire_grads_t *g)
{
    g->nscalar = count_scalars(g->net);
    g->n       = padded(g->nscalar);
    for (int i = 0; i < g->net->nparam; i++) {
        int p = g->order[i];

        g->offset[p] = g->n;
        g->n += padded(fire_blob_count(g->net->learn[p].blob));
    }
    FIRE_TRY(FIRE_NEW(&g->sum, g->n));
    for (int i = 0; i < g->net->nparam; i++) {
        fire_blob_t *b = g->net->learn[i].blob;

        FIRE_TRY(fire_storage_bind(b->part[FIRE_DIFF], g->sum + g->offset[i],
                                   (size_t)b->count * sizeof(float)));
    }
    return FIRE_OK;
}

fire_status_t fire_grads_create(fire_net_t *net, int lanes, fire_grads_t **grads_p)
{
    fire_grads_t *g;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&g, 1));
    g->net = net;
    FIRE_TRY_GOTO(st, sort_params(g), err_grads);
    FIRE_TRY_GOTO(st, lay_out(g), err_grads);
    for (int k = 0; (1 << k) < lanes; k++)
        FIRE_TRY_GOTO(st, FIRE_NEW(&g->level[k], g->n), err_grads);
    *grads_p = g;
    return FIRE_OK;

err_grads:
    fire_grads_destroy(g);
    return st;
}

void fire_grads_destroy(fire_grads_t *g)
{
    if (g == NULL) return;
    for (int k = 0; k < FIRE_MAX_LEVELS; k++)
        fire_free(g->level[k]);
    fire_free(g->sum);
    fire_free(g->order);
    fire_free(g->offset);
    fire_free(g);
}

void fire_grads_clear(fire_grads_t *g)
{
    memset(g->sum, 0, (size_t)g->n * sizeof(*g->sum));
}

/* dst = left + dst: the left operand is always the lower lanes. */
static void add_left(float *restrict dst, const float *restrict left, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dst[i] = left[i] + dst[i];
}

void fire_grads_add_lane(fire_grads_t *g, int lane, int lanes, int64_t first, int64_t n)
{
    float *sum  = g->sum + first;
    bool   last = lane == lanes - 1;
    int    k    = 0;

    for (; (lane >> k) & 1; k++)
        add_left(sum, g->level[k] + first, n);
    if (!last) {
        memcpy(g->level[k] + first, sum, (size_t)n * sizeof(*sum));
        return;
    }
    for (k++; (lane >> k) != 0; k++) /* what is left of an uneven number */
        if ((lane >> k) & 1) add_left(sum, g->level[k] + first, n);
}
