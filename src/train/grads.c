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
    int64_t n = FIRE_SCALAR_OUTPUTS;

    for (int i = 0; i < net->noutput; i++)
        n += fire_blob_count(net->blob[net->output[i]].blob);
    return n > FIRE_MAX_SCALARS ? FIRE_SCALAR_OUTPUTS : n;
}

/* Parameters begin on cache lines of their own. */
static int64_t padded(int64_t n)
{
    return (n + 15) / 16 * 16;
}

static void place(fire_grads_t *g, int param)
{
    g->offset[param] = g->n;
    g->n += padded(fire_blob_count(g->net->learn[param].blob));
}

static void place_params(fire_grads_t *g)
{
    const fire_param_t *learn = g->net->learn;

    g->nscalar = count_scalars(g->net);
    g->n       = padded(g->nscalar);
    for (int i = 0; i < g->net->nparam; i++)
        if (learn[g->order[i]].kind == FIRE_PARAM_STATISTIC) place(g, g->order[i]);
    g->head = g->n;
    for (int i = 0; i < g->net->nparam; i++) {
        int          p = g->order[i];
        fire_span_t *s = &g->span[learn[p].first_use];

        if (learn[p].kind == FIRE_PARAM_STATISTIC) continue;
        place(g, p);
        if (s->len == 0) s->off = (size_t)g->offset[p];
        s->len = (size_t)g->n - s->off;
    }
}

static fire_status_t get_memory(fire_grads_t *g, float **memory_p)
{
    if (g->comm == NULL) return FIRE_NEW(memory_p, g->n);
    return fire_comm_alloc(g->comm, (size_t)g->n * sizeof(float), (void **)memory_p);
}

static void free_memory(fire_grads_t *g, float *memory)
{
    if (g->comm == NULL)
        fire_free(memory);
    else if (memory != NULL)
        fire_comm_free(g->comm, memory);
}

static fire_status_t bind(fire_grads_t *g, fire_part_t part, float *memory)
{
    for (int i = 0; i < g->net->nparam; i++) {
        fire_blob_t *b = g->net->learn[i].blob;

        FIRE_TRY(fire_storage_bind(b->part[part], memory + g->offset[i],
                                   (size_t)b->count * sizeof(float)));
    }
    return FIRE_OK;
}

static fire_status_t lay_out(fire_grads_t *g, const fire_grads_options_t *o)
{
    FIRE_TRY(FIRE_NEW(&g->span, g->net->nlayer));
    FIRE_TRY(sort_params(g));
    place_params(g);
    FIRE_TRY(get_memory(g, &g->sum));
    FIRE_TRY(bind(g, FIRE_DIFF, g->sum));
    if (o->weights) {
        FIRE_TRY(get_memory(g, &g->weights));
        FIRE_TRY(bind(g, FIRE_DATA, g->weights));
    }
    for (int k = 0; (1 << k) < o->lanes; k++)
        FIRE_TRY(FIRE_NEW(&g->level[k], g->n));
    return FIRE_OK;
}

fire_status_t fire_grads_create(fire_net_t *net, const fire_grads_options_t *options,
                                fire_grads_t **grads_p)
{
    fire_grads_t *g;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&g, 1));
    g->net  = net;
    g->comm = options->comm;
    st      = lay_out(g, options);
    if (st < 0) {
        fire_grads_destroy(g);
        return st;
    }
    *grads_p = g;
    return FIRE_OK;
}

void fire_grads_destroy(fire_grads_t *g)
{
    if (g == NULL) return;
    for (int k = 0; k < FIRE_MAX_LEVELS; k++)
        fire_free(g->level[k]);
    free_memory(g, g->sum);
    free_memory(g, g->weights);
    fire_free(g->order);
    fire_free(g->offset);
    fire_free(g->span);
    fire_free(g);
}

fire_status_t fire_grads_cuts(const fire_grads_t *g, int64_t **cut_p, int *n_p)
{
    int      n = 0;
    int64_t *cut;

    FIRE_TRY(FIRE_NEW(&cut, g->net->nlayer + 1));
    cut[n++] = g->head;
    for (int i = g->net->nlayer - 1; i >= 0; i--)
        if (g->span[i].len > 0) cut[n++] = (int64_t)(g->span[i].off + g->span[i].len);
    *cut_p = cut;
    *n_p   = n;
    return FIRE_OK;
}

static bool lies_in(const fire_grads_t *g, int param, int64_t first, int64_t n)
{
    return g->offset[param] >= first && g->offset[param] < first + n;
}

void fire_grads_clear(fire_grads_t *g, int64_t first, int64_t n)
{
    int64_t head = first + n < g->head ? n : g->head - first;

    if (head > 0) memset(g->sum + first, 0, (size_t)head * sizeof(*g->sum));
    for (int i = 0; i < g->net->nparam; i++) {
        fire_blob_t *b = g->net->learn[i].blob;

        if (g->offset[i] < g->head || !lies_in(g, i, first, n)) continue;
        fire_storage_zero(b->part[FIRE_DIFF]);
        for (int64_t k = b->count; k < padded(b->count); k++) /* codecs write there */
            g->sum[g->offset[i] + k] = 0;
    }
}

fire_status_t fire_grads_settle(fire_grads_t *g, int64_t first, int64_t n)
{
    const float *x;

    for (int i = 0; i < g->net->nparam; i++)
        if (lies_in(g, i, first, n))
            FIRE_TRY(fire_blob_read(g->net->learn[i].blob, FIRE_DIFF, FIRE_CPU, &x));
    return FIRE_OK;
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
