/* exchange_create.c - cuts the gradients into buckets and plans their collectives. */
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
    fire_coll_op_t op =
        fire_bucket_is_sharded(x, b) ? FIRE_REDUCE_SCATTER : FIRE_ALLREDUCE;

    return (fire_collective_options_t){
        .op        = op,
        .algo      = algo_for(x, op),
        .canonical = x->o.canonical,
        .colors    = x->o.colors,
        .piece     = x->o.piece,
        .lane      = x->o.lane,
        .stride    = x->o.stride,
        .grain     = fire_bucket_is_coded(x, b) ? x->codec->grain : 0};
}

/* A codec may begin later in the run (compress_from): then the bucket has a second
 * collective, without it, for the iterations before. */
static fire_status_t make_sums(fire_exchange_t *x, bucket_t *b)
{
    fire_collective_options_t o  = options_of(x, b);
    float                    *at = x->grads + b->first;

    if (fire_bucket_is_coded(x, b)) {
        o.compress = x->o.compress;
        o.residual = x->residual + x->n + b->first;
    }
    FIRE_TRY(fire_collective_create(x->comm, &o, at, (size_t)b->n, &b->sum));
    if (!fire_bucket_is_coded(x, b) || x->o.compress_from <= 0) return FIRE_OK;
    o = options_of(x, b);
    if (fire_bucket_is_sharded(x, b)) o.algo = fire_collective_algo(b->sum)->name;
    return fire_collective_create(x->comm, &o, at, (size_t)b->n, &b->exact);
}

/* Plan the collectives of a bucket once; they run in every iteration. */
static fire_status_t make_collectives(fire_exchange_t *x, bucket_t *b)
{
    fire_collective_options_t o;

    FIRE_TRY(make_sums(x, b));
    if (!fire_bucket_is_sharded(x, b)) return FIRE_OK;
    o           = options_of(x, b);
    o.op        = FIRE_ALLGATHER;
    o.algo      = fire_collective_algo(b->sum)->name;
    o.canonical = false;
    return fire_collective_create(x->comm, &o, x->weights + b->first, (size_t)b->n,
                                  &b->gather);
}

/* When created, all buckets are DONE: nothing waits before the first begin(). */
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
