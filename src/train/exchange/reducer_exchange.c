/* reducer_exchange.c - several workers: the engine of exchange.h sums gradients on the
 * hosts while backward still runs; this file feeds it and applies the sums that it
 * completes. The callbacks run in the thread that drives the engine. */
#include "base/alloc.h"
#include "device/gpu.h"
#include "net/net_state.h"
#include "train/exchange/reducer.h"

typedef struct reducer_exchange {
    fire_reducer_t   base;
    fire_exchange_t *engine;
} reducer_exchange_t;

static bool is_on_gpu(const fire_reducer_t *r)
{
    return r->net->ctx.place == FIRE_GPU;
}

/* ---- from the engine: sums that are complete ---- */

/* The elements of parameter i that lie in [first, first + n) of the gradients. */
static fire_span_t part_in(const fire_grads_t *g, int i, int64_t first, int64_t n)
{
    int64_t at  = g->offset[i];
    int64_t lo  = first > at ? first - at : 0;
    int64_t end = at + fire_blob_count(g->net->learn[i].blob);
    int64_t hi  = (first + n < end ? first + n : end) - at;

    return (fire_span_t){(size_t)lo, hi > lo ? (size_t)(hi - lo) : 0};
}

static fire_status_t complete(void *arg, int64_t first, int64_t n)
{
    fire_reducer_t *r = arg;

    if (is_on_gpu(r)) fire_gpu_use(r->net->ctx.stream);
    FIRE_TRY(fire_grads_push(r->grads, first, n));
    for (int k = 0; k < r->net->nparam; k++) {
        int         i = r->grads->order[k];
        fire_span_t s = part_in(r->grads, i, first, n);

        if (s.len > 0)
            FIRE_TRY(fire_solver_update(r->solver, i, (int64_t)s.off, (int64_t)s.len));
    }
    return fire_solver_flush(r->solver);
}

/* Other workers' shares of the weights were written into the memory of the blobs:
 * copies of them in other formats are out of date. */
static fire_status_t gathered(void *arg, int64_t first, int64_t n)
{
    fire_reducer_t *r = arg;
    float          *w;

    for (int i = 0; i < r->net->nparam; i++)
        if (part_in(r->grads, i, first, n).len > 0)
            FIRE_TRY(fire_blob_update(r->net->learn[i].blob, FIRE_DATA, FIRE_CPU, &w));
    return FIRE_OK;
}

/* Clipping and the check for overflow look at the sums of all gradients; these are the
 * same on all workers, so all of them decide alike. */
static fire_status_t all_summed(void *arg)
{
    fire_reducer_t *r = arg;
    fire_grads_t   *g = r->grads;

    if (is_on_gpu(r)) fire_gpu_use(r->net->ctx.stream);
    FIRE_TRY(fire_grads_push(g, 0, g->n));
    if (r->net->ctx.scaled)
        FIRE_TRY(fire_gpu_update_scale(r->net->ctx.stream, g->here + g->head,
                                       g->n - g->head));
    return fire_solver_clip(r->solver);
}

/* ---- from the trainer ---- */

static fire_status_t begin(fire_reducer_t *r, int64_t iter)
{
    return fire_exchange_begin(fire_reducer_engine(r), iter);
}

static fire_status_t ready(fire_reducer_t *r, int64_t first, int64_t n)
{
    for (int i = 0; i < r->grads->nroot && r->net->ctx.scaled && first > 0; i++)
        FIRE_TRY(fire_gpu_unscale(r->net->ctx.stream,
                                  r->grads->here + i * r->grads->n + first, n));
    FIRE_TRY(fire_grads_fetch(r->grads, first, n));
    return fire_exchange_ready(fire_reducer_engine(r), first + n);
}

static fire_status_t wait(fire_reducer_t *r, int64_t first, int64_t n)
{
    return fire_exchange_wait(fire_reducer_engine(r), first, n);
}

static fire_status_t beat(fire_reducer_t *r)
{
    return fire_exchange_beat(fire_reducer_engine(r));
}

/* A thread of the engine's updates while the trainer computes; without one, updates are
 * part of the time that the trainer spent in the engine. */
static fire_status_t measure(fire_reducer_t *r)
{
    fire_exchange_t        *x = fire_reducer_engine(r);
    fire_exchange_account_t a = fire_exchange_account(x);
    fire_profile_t         *p = r->profile;
    double                  began, ended;

    p->times.hidden += a.busy > a.exposed ? a.busy - a.exposed : 0;
    p->times.bytes += a.bytes;
    if (!fire_exchange_is_threaded(x)) {
        p->times.phase[FIRE_PHASE_UPDATE] += a.update;
        a.exposed -= a.update;
    }
    p->times.phase[FIRE_PHASE_EXPOSED] += a.exposed > 0 ? a.exposed : 0;
    for (int i = 0; i < fire_exchange_nbucket(x); i++) {
        fire_exchange_bucket_times(x, i, &began, &ended);
        if (began >= p->recording_since)
            FIRE_TRY(fire_profile_add(p, FIRE_ACTIVITY_EXCHANGE, i, began, ended));
    }
    return FIRE_OK;
}

static fire_status_t gather(fire_reducer_t *r, int64_t first, int64_t n, float *values)
{
    return fire_exchange_gather(fire_reducer_engine(r), first, n, values);
}

static float *residual(fire_reducer_t *r, int64_t *n_p)
{
    return fire_exchange_residual(fire_reducer_engine(r), n_p);
}

static void destroy(fire_reducer_t *r)
{
    fire_exchange_destroy(fire_reducer_engine(r));
    fire_free(r);
}

static const fire_reducer_ops_t exchange_ops = {
    .name         = "exchange",
    .sums_on_host = true,
    .begin        = begin,
    .ready        = ready,
    .wait         = wait,
    .beat         = beat,
    .measure      = measure,
    .gather       = gather,
    .residual     = residual,
    .destroy      = destroy,
};

fire_exchange_t *fire_reducer_engine(const fire_reducer_t *r)
{
    return r->ops == &exchange_ops ? ((const reducer_exchange_t *)r)->engine : NULL;
}

static fire_status_t create_engine(reducer_exchange_t *x, fire_comm_t *comm,
                                   fire_exchange_options_t o)
{
    fire_grads_t *g = x->base.grads;
    int64_t      *cut;
    int           ncut;
    fire_status_t st;

    o.arg        = x;
    o.stride     = (size_t)g->n;
    o.complete   = complete;
    o.gathered   = gathered;
    o.all_summed = all_summed;
    if (is_on_gpu(&x->base) && o.overlap == FIRE_OVERLAP_THREAD)
        fire_gpu_set_shared(x->base.net->ctx.stream);
    FIRE_TRY(fire_grads_cuts(g, &cut, &ncut));
    st = fire_exchange_create(comm, g->sum, g->weights, cut, ncut, &o, &x->engine);
    fire_free(cut);
    return st;
}

fire_status_t fire_reducer_create_exchange(const fire_reducer_t          *base,
                                           fire_comm_t                   *comm,
                                           const fire_exchange_options_t *o,
                                           fire_reducer_t               **reducer_p)
{
    reducer_exchange_t *x;
    fire_status_t       st;

    FIRE_TRY(FIRE_NEW(&x, 1));
    x->base     = *base;
    x->base.ops = &exchange_ops;
    st          = create_engine(x, comm, *o);
    if (st < 0)
        fire_free(x);
    else
        *reducer_p = &x->base;
    return st;
}
