/* exchange.c - the engine: cuts the gradients into buckets and takes each bucket
 * through its states (exchange_state.h). */
#include "train/exchange/exchange.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "train/exchange/exchange_state.h"

/* Cut what follows the head into buckets of at most bucket_bytes that end where a
 * layer's gradients end; a layer that is larger has a bucket of its own. */
static fire_status_t cut_buckets(fire_exchange_t *x, const int64_t *cut, int ncut)
{
    int64_t most = (int64_t)(x->o.bucket_bytes / sizeof(float)), first = cut[0];

    FIRE_TRY(FIRE_NEW(&x->bucket, ncut));
    x->bucket[x->nbucket++] = (bucket_t){.n = first, .head = true};
    for (int i = 1; i < ncut; i++) {
        bool last = i == ncut - 1;

        if (!last && cut[i + 1] - first <= most) continue;
        x->bucket[x->nbucket++] = (bucket_t){.first = first, .n = cut[i] - first};
        first                   = cut[i];
    }
    return FIRE_OK;
}

static bool is_coded(const fire_exchange_t *x, const bucket_t *b)
{
    return x->codec != NULL && !b->head;
}

static bool is_sharded(const fire_exchange_t *x, const bucket_t *b)
{
    return x->o.sharded && !b->head;
}

/* A sharded update needs the two halves of an allreduce, reduce-scatter and allgather.
 * For an algorithm that has none, rhd takes over: it has both, and adds in the order of
 * a tree. */
static const char *algo_for(const fire_exchange_t *x, fire_coll_op_t op)
{
    const fire_algo_t *algo = NULL;

    if (strcmp(x->o.algo, "auto") == 0 || fire_algo_find(x->o.algo, &algo) < 0 ||
        (algo->ops >> op & 1))
        return x->o.algo;
    return "rhd";
}

/* Options of all collectives of one bucket. They must cut it into the same parts, since
 * the part that a worker sums is the part that it updates and gathers. */
static fire_collective_options_t options_of(const fire_exchange_t *x, const bucket_t *b)
{
    fire_coll_op_t op = is_sharded(x, b) ? FIRE_REDUCE_SCATTER : FIRE_ALLREDUCE;

    return (fire_collective_options_t){.op        = op,
                                       .algo      = algo_for(x, op),
                                       .canonical = x->o.canonical,
                                       .colors    = x->o.colors,
                                       .piece     = x->o.piece,
                                       .grain = is_coded(x, b) ? x->codec->grain : 0};
}

static fire_status_t make_sums(fire_exchange_t *x, bucket_t *b)
{
    fire_collective_options_t o  = options_of(x, b);
    float                    *at = x->grads + b->first;

    if (is_coded(x, b)) {
        o.compress = x->o.compress;
        o.residual = x->residual + x->n + b->first;
    }
    FIRE_TRY(fire_collective_create(x->comm, &o, at, (size_t)b->n, &b->sum));
    if (!is_coded(x, b) || x->o.compress_from <= 0) return FIRE_OK;
    o = options_of(x, b);
    if (is_sharded(x, b)) o.algo = fire_collective_algo(b->sum)->name;
    return fire_collective_create(x->comm, &o, at, (size_t)b->n, &b->exact);
}

static fire_status_t make_collectives(fire_exchange_t *x, bucket_t *b)
{
    fire_collective_options_t o;

    FIRE_TRY(make_sums(x, b));
    if (!is_sharded(x, b)) return FIRE_OK;
    o           = options_of(x, b);
    o.op        = FIRE_ALLGATHER;
    o.algo      = fire_collective_algo(b->sum)->name;
    o.canonical = false;
    return fire_collective_create(x->comm, &o, x->weights + b->first, (size_t)b->n,
                                  &b->gather);
}

fire_status_t fire_exchange_create(fire_comm_t *comm, float *grads, float *weights,
                                   const int64_t *cut, int ncut,
                                   const fire_exchange_options_t *options,
                                   fire_exchange_t              **exchange_p)
{
    fire_exchange_t *x;
    fire_status_t    st;

    FIRE_TRY(FIRE_NEW(&x, 1));
    x->comm    = comm;
    x->o       = *options;
    x->grads   = grads;
    x->weights = weights;
    x->n       = cut[ncut - 1];
    if (options->compress != NULL)
        FIRE_TRY_GOTO(st, fire_codec_find(options->compress, &x->codec, &x->codec_arg),
                      err_exchange);
    if (x->codec != NULL && options->compress_from < 0)
        x->o.compress_from = x->codec->exact_first;
    if (x->codec != NULL)
        FIRE_TRY_GOTO(st, FIRE_NEW(&x->residual, 2 * x->n), err_exchange);
    FIRE_TRY_GOTO(st, cut_buckets(x, cut, ncut), err_exchange);
    for (int i = 0; i < x->nbucket; i++) {
        FIRE_TRY_GOTO(st, make_collectives(x, &x->bucket[i]), err_exchange);
        x->bucket[i].state = DONE;
    }
    x->ndone = x->nbucket;
    atomic_store(&x->beat, fire_clock_now());
    if (options->overlap == FIRE_OVERLAP_THREAD)
        FIRE_TRY_GOTO(st, fire_exchange_thread_start(x), err_exchange);
    *exchange_p = x;
    return FIRE_OK;

err_exchange:
    fire_exchange_destroy(x);
    return st;
}

void fire_exchange_destroy(fire_exchange_t *x)
{
    if (x == NULL) return;
    if (x->threaded) fire_exchange_thread_stop(x);
    for (int i = 0; i < x->nbucket; i++) {
        fire_collective_destroy(x->bucket[i].sum);
        fire_collective_destroy(x->bucket[i].exact);
        fire_collective_destroy(x->bucket[i].gather);
    }
    fire_free(x->bucket);
    fire_free(x->residual);
    fire_free(x);
}

/* Error feedback: round gradient + what was left over to what the codec can express,
 * and keep the difference for the next iteration. */
static void quantize(fire_exchange_t *x, const bucket_t *b)
{
    float *g = x->grads + b->first, *rest = x->residual + b->first;

    for (int64_t i = 0; i < b->n; i++)
        rest[i] = g[i] = g[i] + rest[i];
    x->codec->quantize(x->codec_arg, g, (size_t)b->n);
    for (int64_t i = 0; i < b->n; i++)
        rest[i] -= g[i];
}

static fire_collective_t *sum_of(const fire_exchange_t *x, const bucket_t *b)
{
    return x->coding || b->exact == NULL ? b->sum : b->exact;
}

static fire_status_t start_ready(fire_exchange_t *x, bool *moved)
{
    while (x->nstarted < x->nbucket) {
        bucket_t *b = &x->bucket[x->nstarted];

        if (b->first + b->n > x->upto) break;
        b->began = fire_clock_now();
        if (x->nstarted == x->ndone) x->busy_since = b->began;
        if (x->coding && is_coded(x, b)) quantize(x, b);
        FIRE_TRY(fire_collective_start(sum_of(x, b)));
        b->state = SUMMING;
        x->nstarted++;
        *moved = true;
    }
    return FIRE_OK;
}

static void set_done(fire_exchange_t *x, bucket_t *b)
{
    b->ended = fire_clock_now();
    if (++x->ndone == x->nstarted) x->account.busy += b->ended - x->busy_since;
    b->state = DONE; /* last: the waiting thread continues as soon as it sees this */
}

/* The sum is complete: update all of the bucket, or this worker's share. */
static fire_status_t update(fire_exchange_t *x, bucket_t *b)
{
    double      start = fire_clock_now();
    fire_span_t own   = {0, (size_t)b->n};

    if (is_sharded(x, b)) own = fire_collective_own(b->sum);
    if (own.len > 0)
        FIRE_TRY(
            x->o.complete(x->o.arg, b->first + (int64_t)own.off, (int64_t)own.len));
    x->account.update += fire_clock_now() - start;
    if (!is_sharded(x, b)) {
        set_done(x, b);
        return FIRE_OK;
    }
    b->state = GATHERING;
    return fire_collective_start(b->gather);
}

static fire_status_t test_bucket(fire_exchange_t *x, bucket_t *b, bool *moved)
{
    fire_collective_t *c  = b->state == SUMMING ? sum_of(x, b) : b->gather;
    fire_status_t      st = fire_collective_advance(c);

    FIRE_TRY(st);
    *moved |= fire_collective_moved(c);
    if (st == FIRE_IN_PROGRESS) return FIRE_OK;
    *moved = true;
    if (b->state == GATHERING) {
        FIRE_TRY(x->o.gathered(x->o.arg, b->first, b->n));
        set_done(x, b);
        return FIRE_OK;
    }
    b->state = SUMMED;
    x->nsummed++;
    return x->o.hold ? FIRE_OK : update(x, b);
}

static fire_status_t update_held(fire_exchange_t *x)
{
    if (x->o.all_summed != NULL) FIRE_TRY(x->o.all_summed(x->o.arg));
    for (int i = x->nbucket - 1; i >= 0; i--)
        FIRE_TRY(update(x, &x->bucket[i]));
    return FIRE_OK;
}

/* Later buckets hold lower layers, which the next forward needs first: they are tested
 * and updated first. */
fire_status_t fire_exchange_step(fire_exchange_t *x, bool *moved_p)
{
    *moved_p = false;
    FIRE_TRY(start_ready(x, moved_p));
    if (x->nstarted > x->ndone) FIRE_TRY(fire_comm_poll(x->comm));
    for (int i = x->nstarted - 1; i >= 0; i--) {
        bucket_t *b = &x->bucket[i];

        if (b->state == SUMMING || b->state == GATHERING)
            FIRE_TRY(test_bucket(x, b, moved_p));
    }
    if (x->o.hold && x->nsummed == x->nbucket && x->bucket[0].state == SUMMED)
        FIRE_TRY(update_held(x));
    return FIRE_OK;
}

bool fire_exchange_is_updated(const fire_exchange_t *x, int64_t first, int64_t n)
{
    for (int i = 0; i < x->nbucket; i++) {
        const bucket_t *b = &x->bucket[i];

        if (b->state != DONE && b->first < first + n && first < b->first + b->n)
            return false;
    }
    return true;
}

fire_status_t fire_exchange_begin(fire_exchange_t *x, int64_t iter)
{
    FIRE_TRY(fire_exchange_finish(x));
    if (x->threaded) fire_exchange_thread_idle(x);
    for (int i = 0; i < x->nbucket; i++)
        x->bucket[i].state = WAITING;
    x->nstarted = x->nsummed = x->ndone = 0;
    x->coding                           = iter >= x->o.compress_from;
    atomic_store(&x->upto, 0);
    return FIRE_OK;
}

static fire_status_t step_between_layers(fire_exchange_t *x)
{
    double start = fire_clock_now();
    bool   moved;

    FIRE_TRY(fire_exchange_step(x, &moved));
    x->account.exposed += fire_clock_now() - start;
    return FIRE_OK;
}

fire_status_t fire_exchange_ready(fire_exchange_t *x, int64_t upto)
{
    if (x->threaded) return fire_exchange_thread_ready(x, upto);
    x->upto = upto;
    return x->o.overlap == FIRE_OVERLAP_POLL ? step_between_layers(x) : FIRE_OK;
}

fire_status_t fire_exchange_beat(fire_exchange_t *x)
{
    atomic_store(&x->beat, fire_clock_now());
    if (x->threaded) return fire_exchange_thread_check(x);
    if (x->o.overlap == FIRE_OVERLAP_POLL && x->ndone < x->nstarted)
        return step_between_layers(x);
    return fire_comm_poll(x->comm);
}

static fire_status_t drive(fire_exchange_t *x, int64_t first, int64_t n)
{
    fire_pause_t idle = {0};
    bool         moved;

    while (!fire_exchange_is_updated(x, first, n)) {
        FIRE_TRY(fire_exchange_step(x, &moved));
        if (moved)
            idle = (fire_pause_t){0};
        else
            FIRE_TRY(fire_comm_idle(x->comm, &idle));
    }
    return FIRE_OK;
}

fire_status_t fire_exchange_wait(fire_exchange_t *x, int64_t first, int64_t n)
{
    double        start = fire_clock_now(), end;
    fire_status_t st;

    st  = x->threaded ? fire_exchange_thread_wait(x, first, n) : drive(x, first, n);
    end = fire_clock_now();
    x->account.exposed += end - start;
    atomic_store(&x->beat, end);
    return st;
}

fire_status_t fire_exchange_finish(fire_exchange_t *x)
{
    return fire_exchange_wait(x, 0, x->n);
}

/* Elements that other workers own are zeroed here, so the sum over workers is exact:
 * all of its terms but one are zero. */
fire_status_t fire_exchange_gather(fire_exchange_t *x, int64_t first, int64_t n,
                                   float *values)
{
    if (first < x->bucket[0].n) return FIRE_OK; /* the head is whole everywhere */
    for (int i = 1; i < x->nbucket; i++) {
        const bucket_t *b   = &x->bucket[i];
        fire_span_t     own = fire_collective_own(b->sum);
        int64_t         lo = b->first - first, mine = lo + (int64_t)own.off;

        for (int64_t k = lo < 0 ? 0 : lo; k < n && k < lo + b->n; k++)
            if (k < mine || k >= mine + (int64_t)own.len) values[k] = 0;
    }
    return fire_comm_allreduce(x->comm, "tree", values, (size_t)n);
}

static int64_t bytes_of(const fire_collective_t *c)
{
    return c != NULL ? fire_collective_bytes(c) : 0;
}

fire_exchange_account_t fire_exchange_account(fire_exchange_t *x)
{
    fire_exchange_account_t a;
    int64_t                 bytes = 0;

    if (x->threaded) fire_exchange_thread_idle(x);
    a = x->account;
    for (int i = 0; i < x->nbucket; i++) {
        const bucket_t *b = &x->bucket[i];

        bytes += bytes_of(b->sum) + bytes_of(b->exact) + bytes_of(b->gather);
    }
    a.bytes         = bytes - x->bytes_before;
    x->bytes_before = bytes;
    x->account      = (fire_exchange_account_t){0};
    return a;
}

bool fire_exchange_is_threaded(const fire_exchange_t *x)
{
    return x->threaded;
}

void fire_exchange_bucket_times(const fire_exchange_t *x, int i, double *began_p,
                                double *ended_p)
{
    *began_p = x->bucket[i].began;
    *ended_p = x->bucket[i].ended;
}

int fire_exchange_nbucket(const fire_exchange_t *x)
{
    return x->nbucket;
}

float *fire_exchange_residual(fire_exchange_t *x, int64_t *n_p)
{
    *n_p = 2 * x->n;
    return x->residual;
}
