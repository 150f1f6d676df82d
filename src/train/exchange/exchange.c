/* exchange.c - the engine: takes each bucket of gradients through its states
 * (exchange_state.h). */
#include "train/exchange/exchange.h"

#include "base/clock.h"
#include "train/exchange/exchange_state.h"

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

/* The collective that sums this bucket in this iteration. */
static fire_collective_t *sum_of(const fire_exchange_t *x, const bucket_t *b)
{
    return x->coding || b->exact == NULL ? b->sum : b->exact;
}

/* Start the sums of all buckets that have become final, in order. *moved: set if one
 * did. */
static fire_status_t start_ready(fire_exchange_t *x, bool *moved)
{
    while (x->nstarted < x->nbucket) {
        bucket_t *b = &x->bucket[x->nstarted];

        if (b->first + b->n > x->upto) break;
        b->began = fire_clock_now();
        if (x->nstarted == x->ndone) x->busy_since = b->began;
        if (x->coding && fire_bucket_is_coded(x, b)) quantize(x, b);
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

    if (fire_bucket_is_sharded(x, b)) own = fire_collective_own(b->sum);
    if (own.len > 0)
        FIRE_TRY(
            x->o.complete(x->o.arg, b->first + (int64_t)own.off, (int64_t)own.len));
    x->account.update += fire_clock_now() - start;
    if (!fire_bucket_is_sharded(x, b)) {
        set_done(x, b);
        return FIRE_OK;
    }
    b->state = GATHERING;
    return fire_collective_start(b->gather);
}

/* Advance the collective of a bucket that is SUMMING or GATHERING, and take the bucket
 * on to its next state if the collective has ended. */
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

/* With `hold`: all sums are complete, so clip, then update. Lower layers come first, as
 * the next forward needs them. */
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

/* Are the weights of [first, first + n) up to date? Reads only states that are atomic,
 * so the trainer's thread may ask at any time. */
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

/* One step by the trainer's thread; its time is not hidden behind computation. */
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

/* Without a thread: move the engine until the span is updated. */
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

/* Sent by a collective so far; 0 for one that does not exist. */
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
