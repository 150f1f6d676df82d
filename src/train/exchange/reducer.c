/* reducer.c - which kind of reducer a training gets, and what all kinds have in
 * common. */
#include "train/exchange/reducer.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "device/gpu.h"
#include "net/net_state.h"

static int size_of(const fire_reducer_options_t *o)
{
    return o->comm != NULL ? fire_comm_size(o->comm) : 1;
}

/* "3, 3, 2" lanes; of many workers, the first ones. */
static void log_lanes(const int *lane, int size, int hosts)
{
    char   text[256];
    size_t n = 0;

    for (int i = 0; i < size && n < sizeof(text) - 32; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", i > 0 ? ", " : "",
                              lane[i + 1] - lane[i]);
    FIRE_LOG(INFO, "Workers: %d on %d host%s, with %s%s lanes", size, hosts,
             hosts > 1 ? "s" : "", text, n < sizeof(text) - 32 ? "" : " ...");
}

/* Caffe's batch_size is per worker, ours of all workers together: log both. */
static void log_exchange(const fire_reducer_options_t *r, const fire_reducer_t *reducer,
                         const fire_exchange_options_t *o)
{
    int size = size_of(r), last = fire_comm_node(r->comm, size - 1);

    if (r->lane != NULL && !fire_runs_are_equal(r->lane, size))
        log_lanes(r->lane, size, last + 1);
    else
        FIRE_LOG(INFO, "Workers: %d on %d host%s, with %d lane%s each", size, last + 1,
                 last > 0 ? "s" : "", r->lane_count, r->lane_count > 1 ? "s" : "");
    FIRE_LOG(INFO, "Global batch: %lld images, %g per worker%s", (long long)r->batch,
             (double)r->batch / size,
             r->param->iter_size > 1 ? ", in each of iter_size passes" : "");
    FIRE_LOG(INFO,
             "Gradients: %.2f MB in %d buckets, by %s, overlap: %s, compressed: %s, "
             "update: %s",
             (double)reducer->grads->n * sizeof(float) / 1e6,
             fire_exchange_nbucket(fire_reducer_engine(reducer)), o->algo,
             fire_overlap_name(o->overlap), o->compress,
             o->sharded ? "sharded" : "replicated");
}

static fire_status_t create_kind(const fire_reducer_options_t *r,
                                 const fire_reducer_t *base, fire_exchange_options_t *o,
                                 fire_reducer_t **reducer_p)
{
    FIRE_TRY(fire_reducer_create_nccl(base, r->comm, o, reducer_p));
    if (*reducer_p != NULL) return FIRE_OK;
    if (size_of(r) == 1) return fire_reducer_create_local(base, reducer_p);
    FIRE_TRY(fire_reducer_create_exchange(base, r->comm, o, reducer_p));
    log_exchange(r, *reducer_p, o);
    return FIRE_OK;
}

/* Each worker keeps the sums of its roots apart. */
static void set_lanes(const fire_reducer_options_t *r, fire_grads_options_t *g)
{
    fire_root_t root[FIRE_MAX_ROOTS];

    g->first = r->lane[fire_comm_rank(r->comm)];
    g->all   = r->lanes;
    for (int i = 0; i < size_of(r); i++) {
        int n = fire_roots(r->lane[i], r->lane[i + 1], r->lanes, root);

        if (n > g->slots) g->slots = n;
    }
}

fire_status_t fire_reducer_create(const fire_reducer_options_t *r,
                                  fire_grads_t **grads_p, fire_reducer_t **reducer_p)
{
    fire_exchange_options_t o = {0};
    fire_grads_options_t    g = {.comm = r->comm, .lanes = r->lane_count};
    fire_reducer_t base = {.net = r->net, .solver = r->solver, .profile = r->profile};

    fire_exchange_options_read(r, &o);
    if (o.lane != NULL) set_lanes(r, &g);
    g.weights = o.sharded && size_of(r) > 1;
    FIRE_TRY(fire_grads_create(r->net, &g, grads_p));
    base.grads     = *grads_p;
    o.bucket_bytes = fire_exchange_options_bucket(r->param->fire, &o, base.grads->n);
    return create_kind(r, &base, &o, reducer_p);
}

void fire_reducer_destroy(fire_reducer_t *r)
{
    if (r != NULL) r->ops->destroy(r);
}

/* ---- calls of an iteration ---- */

fire_status_t fire_reducer_begin(fire_reducer_t *r, int64_t iter)
{
    return r->ops->begin != NULL ? r->ops->begin(r, iter) : FIRE_OK;
}

fire_status_t fire_reducer_ready(fire_reducer_t *r, int64_t first, int64_t n)
{
    return r->ops->ready != NULL ? r->ops->ready(r, first, n) : FIRE_OK;
}

fire_status_t fire_reducer_finish(fire_reducer_t *r)
{
    return r->ops->finish != NULL ? r->ops->finish(r) : FIRE_OK;
}

fire_status_t fire_reducer_wait(fire_reducer_t *r, int64_t first, int64_t n)
{
    const double shortest = 1e-6; /* seconds of a wait that is noted */
    double       began, ended;

    if (r->ops->wait == NULL) return FIRE_OK;
    began = fire_clock_now();
    FIRE_TRY(r->ops->wait(r, first, n));
    ended = fire_clock_now();
    if (r->profile == NULL || ended - began < shortest) return FIRE_OK;
    return fire_profile_add(r->profile, FIRE_ACTIVITY_WAIT, 0, began, ended);
}

fire_status_t fire_reducer_sync(fire_reducer_t *r)
{
    return r->ops->wait != NULL ? r->ops->wait(r, 0, r->grads->n) : FIRE_OK;
}

fire_status_t fire_reducer_beat(fire_reducer_t *r)
{
    return r->ops->beat != NULL ? r->ops->beat(r) : FIRE_OK;
}

fire_status_t fire_reducer_measure(fire_reducer_t *r)
{
    return r->ops->measure != NULL ? r->ops->measure(r) : FIRE_OK;
}

/* ---- for the kinds that update everything when backward has ended ---- */

static fire_status_t unscale(fire_reducer_t *r, bool unscaled)
{
    fire_stream_t *s = r->net->ctx.stream;
    float         *g = r->grads->here + r->grads->head;
    int64_t        n = r->grads->n - r->grads->head;

    if (!r->net->ctx.scaled) return FIRE_OK;
    if (!unscaled) FIRE_TRY(fire_gpu_unscale(s, g, n));
    return fire_gpu_update_scale(s, g, n);
}

fire_status_t fire_reducer_update(fire_reducer_t *r, bool unscaled)
{
    fire_profile_update_begin(r->profile);
    FIRE_TRY(unscale(r, unscaled));
    FIRE_TRY(fire_solver_clip(r->solver));
    for (int i = 0; i < r->net->nparam; i++)
        FIRE_TRY(fire_solver_update(r->solver, i, 0,
                                    fire_blob_count(r->net->learn[i].blob)));
    FIRE_TRY(fire_solver_flush(r->solver));
    fire_profile_update_end(r->profile);
    return FIRE_OK;
}
