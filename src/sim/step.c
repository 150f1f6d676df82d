#include "sim/step.h"

#include "base/alloc.h"

/* Layers first ... last share a bucket; it is complete when backward leaves `first`. */
typedef struct bucket {
    int    first, last;
    double bytes, seconds, update;
    double ready, done;
} bucket_t;

typedef struct replay {
    const fire_step_setup_t *s;
    double                  *forward; /* [nlayer] seconds; backward is twice that */
    bucket_t                *bucket;
    int                      nbucket;
} replay_t;

/* A small batch does not fill the processor: time is that of half_batch samples more. */
static double layer_seconds(const fire_cluster_t *c, const fire_work_t *w, int batch)
{
    return (w->flops / c->compute.flops + w->bytes / c->compute.bandwidth) *
           (batch + c->compute.half_batch);
}

double fire_step_compute(const fire_cluster_t *c, const fire_work_t *work, int nlayer,
                         int batch)
{
    double sum = 0;

    for (int i = 0; i < nlayer; i++)
        sum += 3 * layer_seconds(c, &work[i], batch);
    return sum;
}

static void add_bucket(replay_t *r, int first, int last, double bytes)
{
    fire_price_t price = fire_tariff_price(r->s->tariff, bytes);

    r->bucket[r->nbucket++] =
        (bucket_t){.first   = first,
                   .last    = last,
                   .bytes   = price.bytes,
                   .seconds = price.seconds,
                   .update  = bytes / r->s->cluster->compute.update};
}

/* From the last layer down, as the trainer cuts them (train/exchange.c). */
static void cut_buckets(replay_t *r)
{
    const fire_work_t *w     = r->s->work;
    int                last  = r->s->nlayer - 1;
    double             bytes = 0;

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

/* Forward: a layer waits for its own weights only. Returns when the last one ends. */
static double run_forward(const replay_t *r, double now)
{
    int b = r->nbucket - 1; /* holds the first layer */

    for (int i = 0; i < r->s->nlayer; i++) {
        while (b > 0 && i > r->bucket[b].last)
            b--;
        if (r->nbucket > 0 && now < r->bucket[b].done) now = r->bucket[b].done;
        now += r->forward[i];
    }
    return now;
}

static double run_backward(replay_t *r, double now)
{
    int b = 0;

    for (int i = r->s->nlayer - 1; i >= 0; i--) {
        now += 2 * r->forward[i];
        if (b < r->nbucket && i == r->bucket[b].first) r->bucket[b++].ready = now;
    }
    return now;
}

/* Buckets go one after the other, each followed by its update. */
static void run_exchange(replay_t *r, double backward_end)
{
    double net = 0, last = 0;

    for (int b = 0; b < r->nbucket; b++) {
        bucket_t *k     = &r->bucket[b];
        double    ready = r->s->overlap ? k->ready : backward_end;

        net     = (net > ready ? net : ready) + k->seconds;
        k->done = net + k->update;
        if (k->done < last + k->update) k->done = last + k->update;
        last = k->done;
    }
    for (int b = 0; !r->s->overlap && b < r->nbucket; b++)
        r->bucket[b].done = last;
}

/* Where one iteration begins depends on the one before; the third is like all. */
static double period(replay_t *r)
{
    double begin = 0, end = 0;

    for (int i = 0; i < 3; i++) {
        begin = end;
        end   = run_backward(r, run_forward(r, end));
        run_exchange(r, end);
    }
    return end - begin;
}

static double memory(const fire_step_setup_t *s, int batch)
{
    double weights = 0, kept = 0;

    for (int i = 0; i < s->nlayer; i++) {
        weights += s->work[i].weights;
        kept += s->work[i].kept;
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
    t->compute = fire_step_compute(s->cluster, s->work, s->nlayer, batch);
    for (int b = 0; b < r->nbucket; b++) {
        t->update += r->bucket[b].update;
        t->comm += r->bucket[b].seconds;
        t->bytes += r->bucket[b].bytes;
    }
    t->exposed = total - t->compute - t->update;
    if (t->exposed < 0 || s->workers == 1) t->exposed = 0;
    if (t->exposed > t->comm) t->exposed = t->comm;
    if (input > 0 && batch / input > t->total) {
        t->total   = batch / input;
        t->starved = true;
    }
    t->memory = memory(s, batch);
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
    st = FIRE_NEW(&r.forward, setup->nlayer);
    if (st >= 0) st = FIRE_NEW(&r.bucket, setup->nlayer);
    if (st >= 0) {
        for (int i = 0; i < setup->nlayer; i++)
            r.forward[i] = layer_seconds(setup->cluster, &setup->work[i], batch);
        cut_buckets(&r);
        account(&r, period(&r), &t);
        *times_p = t;
    }
    fire_free(r.forward);
    fire_free(r.bucket);
    return st;
}
