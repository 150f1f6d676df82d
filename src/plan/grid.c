/* grid.c - the rows of a plan. A row needs the cost curve of its allreduce, which is
 * simulated once for each worker count and algorithm; batches share it. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/select/select.h"
#include "device/cpu/parallel.h"
#include "plan/plan.h"

/* ---- one row ---- */

const fire_plan_row_t *fire_plan_best(const fire_plan_t *p, int batch, int workers)
{
    const fire_plan_row_t *best = NULL;

    for (int64_t i = 0; i < p->nrow; i++) {
        const fire_plan_row_t *r = &p->row[i];

        if (r->batch != batch || r->workers != workers) continue;
        if (best == NULL || r->t.total < best->t.total) best = r;
    }
    return best;
}

fire_status_t fire_plan_replay(const fire_plan_t *p, const fire_plan_row_t *row,
                               const fire_cost_curve_t *curve, double bucket,
                               bool overlap, fire_step_times_t *t)
{
    fire_step_setup_t s = {.cluster    = &p->cluster,
                           .curve      = curve,
                           .load       = fire_plan_net_load(&p->net),
                           .workers    = row->workers,
                           .batch      = row->batch,
                           .bucket     = bucket,
                           .overlap    = overlap,
                           .compressed = row->mode.codec != NULL};

    return fire_step_replay(&s, t);
}

/* Samples/s that the row's speed-up counts from. */
static fire_status_t find_baseline(const fire_plan_t *p, const fire_plan_row_t *row,
                                   double *rate_p)
{
    const fire_cost_curve_t none = {.bytes = {1, 2, 3, 4}};
    fire_plan_row_t         one  = *row;
    fire_step_times_t       alone;

    *rate_p = p->baseline;
    if (p->baseline > 0) return FIRE_OK;
    one.workers = 1;
    FIRE_TRY(fire_plan_replay(p, &one, &none, p->bucket, p->overlap, &alone));
    *rate_p = row->batch / alone.total;
    return FIRE_OK;
}

static fire_status_t add_row(fire_plan_t *p, const fire_plan_row_t *wanted)
{
    fire_plan_row_t r = *wanted;
    double          baseline;

    if (r.batch < r.workers) {
        FIRE_LOG(WARNING, "a batch of %d is too small for %d workers", r.batch,
                 r.workers);
        return FIRE_OK;
    }
    FIRE_TRY(fire_plan_replay(p, &r, &r.curve, p->bucket, p->overlap, &r.t));
    FIRE_TRY(find_baseline(p, &r, &baseline));
    r.speedup = r.batch / r.t.total / baseline;
    FIRE_TRY(fire_grow(&p->row, &p->cap, p->nrow + 1, sizeof(*p->row)));
    p->row[p->nrow++] = r;
    return FIRE_OK;
}

/* ---- all rows ---- */

bool fire_plan_can_price(const fire_plan_t *p, const fire_algo_t *algo)
{
    if (algo->flags & FIRE_ALGO_NATIVE || strcmp(algo->name, "onesided") == 0)
        return false;
    return !(algo->flags & FIRE_ALGO_BY_NODE) || p->cluster.per_node > 1;
}

static fire_status_t add_rows(fire_plan_t *p, const fire_plan_axes_t *axes,
                              fire_plan_row_t *r)
{
    for (int b = 0; b < axes->nbatch; b++) {
        const fire_plan_batch_t *batch = &axes->batch[b];

        r->batch = batch->per_worker ? batch->size * r->workers : batch->size;
        FIRE_TRY(add_row(p, r));
    }
    return FIRE_OK;
}

/* A row for each worker count and algorithm, without a batch. One worker sums nothing:
 * the first algorithm stands for all. */
static fire_status_t list_modes(const fire_plan_axes_t *axes, fire_plan_row_t *mode,
                                int *n_p)
{
    const fire_codec_t *codec;
    float               arg;

    FIRE_TRY(fire_codec_find(axes->compress, &codec, &arg));
    for (int w = 0; w < axes->nworkers; w++)
        for (int a = 0; a < axes->ncomm; a++) {
            fire_plan_row_t r = {.comm = axes->comm[a], .workers = axes->workers[w]};
            fire_choice_t   choice;

            FIRE_TRY(fire_choice_parse(r.comm, &choice));
            r.mode = (fire_mode_t){choice.algo, codec, choice.colors, choice.piece};
            if (r.workers > 1 || a == 0) mode[(*n_p)++] = r;
        }
    return FIRE_OK;
}

/* Simulate the cost curves. Those of many workers take longest and come last in the
 * list, so threads take the list from its end. An error's message is lost with its
 * thread: a curve that failed (card 0) is made once more here. */
static fire_status_t price(const fire_cluster_t *c, fire_plan_row_t *mode, int n)
{
    FIRE_PARALLEL_UNEVEN(i, n)
    {
        fire_plan_row_t *m = &mode[n - 1 - i];

        (void)fire_cost_curve_make(c, &m->mode, m->workers, &m->curve);
    }
    for (int i = 0; i < n; i++)
        if (mode[i].curve.card == 0)
            FIRE_TRY(fire_cost_curve_make(c, &mode[i].mode, mode[i].workers,
                                          &mode[i].curve));
    return FIRE_OK;
}

fire_status_t fire_plan_fill(fire_plan_t *p, const fire_plan_axes_t *axes)
{
    fire_plan_row_t *mode;
    int              n = 0;
    fire_status_t    st;

    FIRE_TRY(FIRE_NEW(&mode, axes->nworkers * axes->ncomm));
    st = list_modes(axes, mode, &n);
    if (st >= 0) st = price(&p->cluster, mode, n);
    for (int i = 0; st >= 0 && i < n; i++)
        st = add_rows(p, axes, &mode[i]);
    fire_free(mode);
    return st;
}

void fire_plan_fini(fire_plan_t *p)
{
    fire_plan_net_fini(&p->net);
    fire_free(p->row);
    p->row  = NULL;
    p->nrow = p->cap = 0;
}
