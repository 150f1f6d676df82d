/* grads.c - lays out, clears and adds up the gradients of a net. */
#include "train/exchange/grads.h"

#include "base/alloc.h"
#include "net/net_state.h"

/* Backward runs from the last layer to the first; the gradient of a parameter is final
 * when backward of the first layer that uses it ends. */
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

/* Loss and requests, and the outputs of the net unless there are too many. */
static int64_t count_scalars(const fire_net_t *net)
{
    int64_t n = FIRE_SCALAR_OUTPUTS;

    for (int i = 0; i < net->noutput; i++)
        n += net->output_size[i];
    return n > FIRE_MAX_SCALARS ? FIRE_SCALAR_OUTPUTS : n;
}

/* Each parameter begins on a new cache line: 16 floats. */
static int64_t padded(int64_t n)
{
    return (n + 15) / 16 * 16;
}

/* Append a parameter to the array. */
static void place(fire_grads_t *g, int param)
{
    g->offset[param] = g->n;
    g->n += padded(fire_blob_count(g->net->learn[param].blob));
}

/* The layout that grads.h draws: statistics, then gradients; and for each layer, the
 * span that is final when its backward ends. */
static void place_params(fire_grads_t *g)
{
    const fire_param_t *learn = g->net->learn;

    g->nscalar    = count_scalars(g->net);
    g->statistics = padded(g->nscalar);
    g->n          = g->statistics;
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

enum { SUM, HERE, WEIGHTS }; /* fire_grads_t.keep */

static void free_on_host(void *unused, void *memory)
{
    (void)unused;
    fire_free(memory);
}

/* `n` floats on the host, as many on all workers; memory of the communicator can be
 * reached by other workers of the node. */
static fire_status_t get_memory(fire_grads_t *g, int which, int64_t n, float **memory_p)
{
    if (g->comm != NULL)
        return fire_comm_alloc(g->comm, (size_t)n * sizeof(float), (void **)memory_p);
    FIRE_TRY(FIRE_NEW(memory_p, n));
    return fire_region_create(*memory_p, free_on_host, NULL, &g->keep[which]);
}

static void free_memory(fire_grads_t *g, int which, float *memory)
{
    if (g->keep[which] != NULL)
        fire_region_release(g->keep[which]);
    else if (g->comm != NULL && memory != NULL)
        fire_comm_free(g->comm, memory);
    else
        fire_free(memory); /* its buffer could not be created */
}

static const fire_device_t *device_of(const fire_grads_t *g)
{
    return fire_device_find(g->place);
}

static bool is_on_gpu(const fire_grads_t *g)
{
    return g->place == FIRE_GPU;
}

/* Make memory[offset ...] the memory of one part (data or diff) of every parameter. */
static fire_status_t bind(fire_grads_t *g, fire_part_t part, fire_place_t where,
                          float *memory, fire_region_t *owner)
{
    for (int i = 0; i < g->net->nparam; i++) {
        fire_blob_t *b = g->net->learn[i].blob;

        FIRE_TRY(fire_storage_bind(b->part[part], where, memory + g->offset[i],
                                   (size_t)b->count * sizeof(float), owner));
    }
    return FIRE_OK;
}

/* Where the net computes. */
static fire_status_t get_place_memory(fire_grads_t *g, int64_t n, float **memory_p)
{
    return device_of(g)->alloc((size_t)n * sizeof(float), (void **)memory_p);
}

/* Level k of the counter while it adds up root i. The highest one of a root that is not
 * the last is where its sum will be. */
static float *level_of(const fire_grads_t *g, int i, int k)
{
    int lanes = g->root[i].end - g->root[i].first;

    return i < g->nroot - 1 && 2 << k >= lanes
               ? g->here + fire_root_slot(i, g->nroot) * g->n
               : g->level[k];
}

/* The roots by number of this worker's lanes, and the levels that they need. */
static void find_roots(fire_grads_t *g, const fire_grads_options_t *o)
{
    int all = o->all > 0 ? o->all : o->lanes;

    g->nroot = fire_roots(o->first, o->first + o->lanes, all, g->root);
    for (int i = 0; i < g->nroot; i++) {
        g->root[i].first -= o->first;
        g->root[i].end -= o->first;
    }
}

static fire_status_t get_levels(fire_grads_t *g)
{
    for (int i = 0; i < g->nroot; i++)
        for (int k = 0; 1 << k < g->root[i].end - g->root[i].first; k++)
            if (level_of(g, i, k) == NULL)
                FIRE_TRY(get_place_memory(g, g->n, &g->level[k]));
    return FIRE_OK;
}

static void free_on_device(void *device, void *memory)
{
    ((const fire_device_t *)device)->free(memory);
}

/* Allocate everything and bind the parameters to it. */
static fire_status_t lay_out(fire_grads_t *g, const fire_grads_options_t *o)
{
    FIRE_TRY(FIRE_NEW(&g->span, g->net->nlayer));
    FIRE_TRY(sort_params(g));
    place_params(g);
    find_roots(g, o);
    FIRE_TRY(get_memory(g, SUM, (o->slots > 0 ? o->slots : g->nroot) * g->n, &g->sum));
    if (is_on_gpu(g)) {
        FIRE_TRY(get_place_memory(g, g->nroot * g->n, &g->here));
        FIRE_TRY(fire_region_create(g->here, free_on_device, (void *)device_of(g),
                                    &g->keep[HERE]));
    } else {
        g->here = g->sum;
    }
    FIRE_TRY(bind(g, FIRE_DIFF, g->place, g->here, g->keep[is_on_gpu(g) ? HERE : SUM]));
    if (o->weights) {
        FIRE_TRY(get_memory(g, WEIGHTS, g->n, &g->weights));
        FIRE_TRY(bind(g, FIRE_DATA, FIRE_CPU, g->weights, g->keep[WEIGHTS]));
    }
    return get_levels(g);
}

fire_status_t fire_grads_create(fire_net_t *net, const fire_grads_options_t *options,
                                fire_grads_t **grads_p)
{
    fire_grads_t *g;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&g, 1));
    g->net   = net;
    g->place = net->ctx.place;
    g->comm  = options->comm;
    st       = lay_out(g, options);
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
        if (g->level[k] != NULL) device_of(g)->free(g->level[k]);
    if (g->keep[HERE] != NULL)
        fire_region_release(g->keep[HERE]);
    else if (g->here != NULL && g->here != g->sum)
        device_of(g)->free(g->here);
    free_memory(g, SUM, g->sum);
    free_memory(g, WEIGHTS, g->weights);
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

static bool is_within(const fire_grads_t *g, int param, int64_t first, int64_t n)
{
    return g->offset[param] >= first && g->offset[param] < first + n;
}

/* Zero the floats between a parameter and the next one: codecs round across them. */
static void clear_padding(fire_grads_t *g, int param)
{
    int64_t n = fire_blob_count(g->net->learn[param].blob);

    for (int64_t k = n; k < padded(n); k++)
        g->sum[g->offset[param] + k] = 0;
}

/* Several layers accumulate here, so really zero it. */
static fire_status_t clear_head(fire_grads_t *g, int64_t first, int64_t n)
{
    float *x;

    for (int i = 0; i < g->net->nparam; i++)
        if (is_within(g, i, first, n))
            FIRE_TRY(fire_blob_write(g->net->learn[i].blob, FIRE_DIFF, g->place, &x));
    return device_of(g)->clear(g->here + first, (size_t)n * sizeof(float));
}

fire_status_t fire_grads_clear(fire_grads_t *g, int64_t first, int64_t n)
{
    int64_t head = first + n < g->head ? n : g->head - first;

    if (head > 0) FIRE_TRY(clear_head(g, first, head));
    for (int i = 0; i < g->net->nparam; i++) {
        if (g->offset[i] < g->head || !is_within(g, i, first, n)) continue;
        fire_storage_zero(g->net->learn[i].blob->part[FIRE_DIFF]);
        if (!is_on_gpu(g)) clear_padding(g, i);
    }
    return FIRE_OK;
}

fire_status_t fire_grads_settle(fire_grads_t *g, int64_t first, int64_t n)
{
    float *x;

    for (int i = 0; i < g->net->nparam; i++)
        if (is_within(g, i, first, n))
            FIRE_TRY(fire_blob_update(g->net->learn[i].blob, FIRE_DIFF, g->place, &x));
    return FIRE_OK;
}

/* The sum of lower lanes is always the left operand. */
fire_status_t fire_grads_add_lane(fire_grads_t *g, int lane, int64_t first, int64_t n)
{
    const fire_device_t *d   = device_of(g);
    float               *sum = g->here + first;
    int                  i = 0, k = 0, at;
    size_t               bytes = (size_t)n * sizeof(*sum);

    while (lane >= g->root[i].end)
        i++;
    at = lane - g->root[i].first;
    for (; (at >> k) & 1; k++)
        FIRE_TRY(d->add_left(sum, level_of(g, i, k) + first, n));
    if (lane < g->root[i].end - 1)
        return d->copy(level_of(g, i, k) + first, sum, bytes);
    for (k++; (at >> k) != 0; k++) /* the last lane completes smaller sums too */
        if ((at >> k) & 1) FIRE_TRY(d->add_left(sum, level_of(g, i, k) + first, n));
    if (i == g->nroot - 1) return FIRE_OK;
    return d->copy(sum + fire_root_slot(i, g->nroot) * g->n, sum, bytes);
}

fire_status_t fire_grads_clear_slots(fire_grads_t *g)
{
    return g->nroot == 1
               ? FIRE_OK
               : device_of(g)->clear(g->here + g->n,
                                     (size_t)(g->nroot - 1) * g->n * sizeof(float));
}

fire_status_t fire_grads_fold(fire_grads_t *g)
{
    for (int i = g->nroot - 2; i >= 0; i--)
        FIRE_TRY(device_of(g)->add_left(
            g->here, g->here + fire_root_slot(i, g->nroot) * g->n, g->n));
    return fire_grads_clear_slots(g);
}

fire_status_t fire_grads_fetch(fire_grads_t *g, int64_t first, int64_t n)
{
    if (!is_on_gpu(g)) return FIRE_OK;
    for (int64_t at = first; at < g->nroot * g->n; at += g->n)
        FIRE_TRY(device_of(g)->to_host(g->sum + at, g->here + at,
                                       (size_t)n * sizeof(float)));
    for (int i = 0; i < g->net->nparam; i++)
        if (is_within(g, i, first, n)) clear_padding(g, i);
    return FIRE_OK;
}

fire_status_t fire_grads_push(fire_grads_t *g, int64_t first, int64_t n)
{
    if (!is_on_gpu(g)) return FIRE_OK;
    return device_of(g)->from_host(g->here + first, g->sum + first,
                                   (size_t)n * sizeof(float));
}
