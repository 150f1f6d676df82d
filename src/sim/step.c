/* step.c - times of one iteration, from times of its layers and buckets. */
#include "sim/step.h"

#include "base/alloc.h"

/* The gradients of layers first ... last, complete when backward leaves `first`. */
typedef struct bucket {
    int    first, last;
    double bytes;           /* on the wire, of the worker that sends most */
    double seconds, update; /* of its exchange; of its update */
    double ready, done;     /* times: gradients final; weights updated */
} bucket_t;

typedef struct replay {
    const fire_step_setup_t *s;
    double                   crowd; /* slowdown because workers share cores; 1: none */
    double                   pause; /* seconds between layers, of a whole pass */
    double                   meeting; /* seconds of waiting for the slowest worker */
    double                  *forward, *backward; /* [nlayer] seconds */
    bucket_t                *bucket;
    int                      nbucket;
} replay_t;

/* In place of a layer's number: fire_timing_t.other and .meeting. */
enum { BETWEEN = -1, MEETING = -2 };

static double entry(const fire_timing_t *t, bool backward, int layer)
{
    if (layer == BETWEEN) return t->other;
    if (layer == MEETING) return t->meeting;
    return (backward ? t->backward : t->forward)[layer];
}

/* Seconds with any batch: a straight line through the two measured batches next to it.
 * If only one batch was measured, layers take time in proportion to samples. */
static double measured(const fire_load_t *l, bool backward, int layer, int batch)
{
    const fire_timing_t *a = l->timing, *b;
    double               at_a, at_b, t;

    while (a + 2 < l->timing + l->ntiming && batch > a[1].batch)
        a++;
    b    = l->ntiming > 1 ? a + 1 : a;
    at_a = entry(a, backward, layer);
    at_b = entry(b, backward, layer);
    if (a == b) return layer < 0 ? at_a : at_a * batch / a->batch;
    t = at_a + (at_b - at_a) * (batch - a->batch) / (b->batch - a->batch);
    return t > 0 ? t : 0;
}

/* Without measurements, from arithmetic and rates. A small batch does not fill the
 * processor: it takes as long as half_batch samples more. */
double fire_step_layer(const fire_cluster_t *c, const fire_load_t *l, bool backward,
                       int layer, int batch)
{
    const fire_layer_cost_t *w = &l->work[layer];

    if (l->ntiming > 0) return measured(l, backward, layer, batch);
    return (backward ? 2 : 1) *
           (w->flops / c->compute.flops + w->bytes / c->compute.bandwidth) *
           (batch + c->compute.half_batch);
}

static double between_layers(const fire_load_t *l, int batch)
{
    return l->ntiming > 0 ? measured(l, false, BETWEEN, batch) : 0;
}

/* Seconds for which the average worker waits for the slowest, in every iteration. */
static double meeting(const fire_step_setup_t *s, int batch)
{
    if (s->load.ntiming == 0 || s->workers == 1) return 0;
    return measured(&s->load, false, MEETING, batch);
}

double fire_step_compute(const fire_cluster_t *c, const fire_load_t *load, int batch)
{
    double sum = between_layers(load, batch);

    for (int i = 0; i < load->nlayer; i++)
        sum += fire_step_layer(c, load, false, i, batch) +
               fire_step_layer(c, load, true, i, batch);
    return sum;
}

static void add_bucket(replay_t *r, int first, int last, double bytes)
{
    fire_price_t price = fire_cost_curve_price(r->s->curve, bytes);

    r->bucket[r->nbucket++] =
        (bucket_t){.first   = first,
                   .last    = last,
                   .bytes   = price.bytes,
                   .seconds = price.seconds,
                   .update  = r->crowd * bytes / r->s->cluster->compute.update};
}

/* From the last layer down, by the rule of the trainer (train/exchange/exchange.c). */
static void cut_buckets(replay_t *r)
{
    const fire_layer_cost_t *w     = r->s->load.work;
    int                      last  = r->s->load.nlayer - 1;
    double                   bytes = 0;

    for (int i = last; i >= 0; i--) {
        if (bytes > 0 && w[i].weights > 0 && r->s->bucket > 0 &&
            bytes + w[i].weights > r->s->bucket) {
            add_bucket(r, i + 1, last, bytes);
            last  = i;
            bytes = 0;
        }
        bytes += w[i].weights;
    }
    if (bytes > 0) add_bucket(r, 0, last, bytes);
}

/* A layer waits for its own weights only. Returns the time when the last layer ends. */
static double run_forward(const replay_t *r, double now)
{
    int b = r->nbucket - 1; /* holds the first layer */

    for (int i = 0; i < r->s->load.nlayer; i++) {
        while (b > 0 && i > r->bucket[b].last)
            b--;
        if (r->nbucket > 0 && now < r->bucket[b].done) now = r->bucket[b].done;
        now += r->forward[i];
    }
    return now;
}

/* Sets when buckets are ready; returns the time when the first layer ends. */
static double run_backward(replay_t *r, double now)
{
    int b = 0;

    for (int i = r->s->load.nlayer - 1; i >= 0; i--) {
        now += r->backward[i];
        if (b < r->nbucket && i == r->bucket[b].first) r->bucket[b++].ready = now;
    }
    return now;
}

/* Inside a node the exchange is work for its cores. If all cores compute, it cannot
 * overlap with backward. */
static bool sums_take_turns(const fire_step_setup_t *s)
{
    return s->workers <= s->cluster->per_node &&
           fire_cluster_is_full(s->cluster, s->workers);
}

/* Buckets are exchanged one after the other, and each is updated afterwards. The next
 * exchange waits for an update only if both need the same core. */
static void run_exchange(replay_t *r, double backward_end)
{
    bool   turns = sums_take_turns(r->s), overlap = r->s->overlap && !turns;
    double net = 0, last = 0;

    for (int b = 0; b < r->nbucket; b++) {
        bucket_t *k     = &r->bucket[b];
        double    ready = overlap ? k->ready : backward_end;
        double    free  = turns ? last : net;

        net     = (free > ready ? free : ready) + k->seconds;
        k->done = net + k->update;
        if (k->done < last + k->update) k->done = last + k->update;
        last = k->done;
    }
    for (int b = 0; !overlap && b < r->nbucket; b++)
        r->bucket[b].done = last;
}

/* Seconds of an iteration. Its start depends on the one before; from the third on they
 * are all alike. */
static double period(replay_t *r)
{
    double begin = 0, end = 0;

    for (int i = 0; i < 3; i++) {
        begin = end;
        end   = run_backward(r, run_forward(r, end + r->pause) + r->meeting);
        run_exchange(r, end);
    }
    return end - begin;
}

static double memory(const fire_step_setup_t *s, int batch)
{
    double weights = 0, kept = 0;

    for (int i = 0; i < s->load.nlayer; i++) {
        weights += s->load.work[i].weights;
        kept += s->load.work[i].kept;
    }
    /* Value, gradient and history of weights; error feedback has two more. Outputs
     * have a value and a gradient. */
    return weights * (s->compressed ? 5 : 3) + 2 * kept * batch;
}

static void account(const replay_t *r, double total, fire_step_times_t *t)
{
    const fire_step_setup_t *s     = r->s;
    int                      batch = (s->batch + s->workers - 1) / s->workers;
    double                   input = s->cluster->compute.input;

    t->total   = total;
    t->compute = r->crowd * fire_step_compute(s->cluster, &s->load, batch) + r->meeting;
    for (int b = 0; b < r->nbucket; b++) {
        t->update += r->bucket[b].update;
        t->comm += r->bucket[b].seconds;
        t->bytes += r->bucket[b].bytes;
    }
    t->exposed = total - t->compute - t->update;
    if (t->exposed < 0 || s->workers == 1) t->exposed = 0;
    if (t->exposed > (1 - 1e-6) * t->comm) t->exposed = t->comm;
    if (input > 0 && batch / input > t->total) {
        t->total   = batch / input;
        t->starved = true;
    }
    t->memory = memory(s, batch);
}

static void fill_layers(replay_t *r, int batch)
{
    const fire_step_setup_t *s = r->s;

    r->crowd   = fire_cluster_crowd(s->cluster, s->workers);
    r->pause   = r->crowd * between_layers(&s->load, batch);
    r->meeting = r->crowd * meeting(s, batch);
    for (int i = 0; i < s->load.nlayer; i++) {
        r->forward[i] =
            r->crowd * fire_step_layer(s->cluster, &s->load, false, i, batch);
        r->backward[i] =
            r->crowd * fire_step_layer(s->cluster, &s->load, true, i, batch);
    }
}

fire_status_t fire_step_replay(const fire_step_setup_t *setup,
                               fire_step_times_t       *times_p)
{
    replay_t          r     = {.s = setup};
    fire_step_times_t t     = {0};
    int               batch = (setup->batch + setup->workers - 1) / setup->workers;
    fire_status_t     st;

    if (setup->batch < setup->workers)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a batch of %d leaves some of %d workers without a sample",
                         setup->batch, setup->workers);
    st = FIRE_NEW(&r.forward, setup->load.nlayer);
    if (st >= 0) st = FIRE_NEW(&r.backward, setup->load.nlayer);
    if (st >= 0) st = FIRE_NEW(&r.bucket, setup->load.nlayer);
    if (st >= 0) {
        fill_layers(&r, batch);
        cut_buckets(&r);
        account(&r, period(&r), &t);
        *times_p = t;
    }
    fire_free(r.forward);
    fire_free(r.backward);
    fire_free(r.bucket);
    return st;
}
