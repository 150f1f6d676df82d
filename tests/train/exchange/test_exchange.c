/* test_exchange.c - the engine alone: arrays of several workers, summed in buckets.
 * Tests src/train/exchange/exchange.c, src/train/exchange/exchange_create.c,
 * src/train/exchange/exchange_thread.c. */
#include "train/exchange/exchange.h"

#include <pthread.h>
#include <stdatomic.h>

#include "comm/transport/threads.h"
#include "test.h"

/* The head is [0, 16); a bucket may end at each of these. */
static const int64_t cut[] = {16, 116, 1116, 1216, 1316};
enum { N = 1316, NCUT = 5, WORKERS = 3, ITERATIONS = 3 };

typedef struct worker {
    fire_exchange_options_t options;
    fire_team_t            *team;
    int                     rank;
    float                  *grads, *weights;
    int                     calls;        /* of complete(), in this iteration */
    int64_t                 updated;      /* floats */
    _Atomic int             summed_first; /* complete() calls before all_summed() */
} worker_t;

static float term(int rank, int iter, int64_t i)
{
    return (float)((rank + 1) * (iter + 1) + i % 7);
}

static float sum_of(int iter, int64_t i)
{
    float sum = 0;

    for (int r = 0; r < WORKERS; r++)
        sum += term(r, iter, i);
    return sum;
}

/* Sets the weights to the sums, so that waiting for them can be checked. */
static fire_status_t complete(void *arg, int64_t first, int64_t n)
{
    worker_t *w = arg;

    for (int64_t i = first; i < first + n; i++)
        w->weights[i] = w->grads[i];
    w->calls++;
    w->updated += n;
    return FIRE_OK;
}

static fire_status_t gathered(void *arg, int64_t first, int64_t n)
{
    (void)arg, (void)first, (void)n;
    return FIRE_OK;
}

static fire_status_t all_summed(void *arg)
{
    worker_t *w = arg;

    w->summed_first += w->calls;
    return FIRE_OK;
}

/* Buckets become ready one by one; afterwards their weights are waited for. */
static void iterate(worker_t *w, fire_exchange_t *x, int iter)
{
    CHECK_OK(fire_exchange_begin(x, iter));
    w->calls   = 0;
    w->updated = 0;
    for (int64_t i = 0; i < N; i++)
        w->grads[i] = term(w->rank, iter, i);
    for (int k = 0; k < NCUT; k++) {
        CHECK_OK(fire_exchange_ready(x, cut[k]));
        CHECK_OK(fire_exchange_beat(x));
    }
    for (int k = NCUT - 1; k > 0; k--) {
        CHECK_OK(fire_exchange_wait(x, cut[k - 1], cut[k] - cut[k - 1]));
        for (int64_t i = cut[k - 1]; i < cut[k]; i++)
            CHECK(w->weights[i] == sum_of(iter, i));
    }
    CHECK_OK(fire_exchange_finish(x));
    CHECK(w->weights[3] == sum_of(iter, 3));
    CHECK(w->calls == fire_exchange_nbucket(x) || w->options.sharded);
}

static void *work(void *arg)
{
    worker_t           *w = arg;
    fire_comm_options_t c = FIRE_COMM_OPTIONS_INIT;
    fire_comm_t        *comm;
    fire_exchange_t    *x;
    void               *grads, *weights;

    CHECK_OK(fire_comm_open_threads(w->team, w->rank, &c, &comm));
    CHECK_OK(fire_comm_alloc(comm, N * sizeof(float), &grads));
    CHECK_OK(fire_comm_alloc(comm, N * sizeof(float), &weights));
    w->grads              = grads;
    w->weights            = weights;
    w->options.algo       = "rhd";
    w->options.arg        = w;
    w->options.complete   = complete;
    w->options.gathered   = gathered;
    w->options.all_summed = all_summed;
    CHECK_OK(
        fire_exchange_create(comm, w->grads, w->weights, cut, NCUT, &w->options, &x));
    CHECK_EQ(fire_exchange_nbucket(x), 4); /* head; 100; 1000; 100 + 100 floats */
    for (int iter = 0; iter < ITERATIONS; iter++)
        iterate(w, x, iter);
    CHECK(fire_exchange_account(x).bytes > 0);
    CHECK_EQ(fire_exchange_account(x).bytes, 0); /* since the last call */
    fire_exchange_destroy(x);
    fire_comm_free(comm, grads);
    fire_comm_free(comm, weights);
    fire_comm_close(comm);
    return NULL;
}

static void run(fire_exchange_options_t options, worker_t w[WORKERS])
{
    pthread_t    thread[WORKERS];
    fire_team_t *team;

    options.bucket_bytes = 200 * sizeof(float);
    CHECK_OK(fire_team_create(WORKERS, &team));
    for (int r = 0; r < WORKERS; r++) {
        w[r] = (worker_t){.options = options, .team = team, .rank = r};
        CHECK(pthread_create(&thread[r], NULL, work, &w[r]) == 0);
    }
    for (int r = 0; r < WORKERS; r++)
        pthread_join(thread[r], NULL);
    fire_team_destroy(team);
}

TEST(every_bucket_is_summed_and_updated_once_whoever_moves_the_engine)
{
    worker_t w[WORKERS];

    for (int overlap = FIRE_OVERLAP_THREAD; overlap <= FIRE_OVERLAP_OFF; overlap++) {
        run((fire_exchange_options_t){.overlap = (fire_overlap_t)overlap}, w);
        for (int r = 0; r < WORKERS; r++)
            CHECK_EQ(w[r].updated, N);
    }
}

TEST(with_sharded_updates_each_worker_updates_its_share_and_all_get_the_whole)
{
    worker_t w[WORKERS];
    int64_t  head = cut[0], sum = 0;

    run((fire_exchange_options_t){.overlap = FIRE_OVERLAP_POLL, .sharded = true}, w);
    for (int r = 0; r < WORKERS; r++) {
        CHECK(w[r].updated < N); /* the head, which all update, and a share */
        sum += w[r].updated - head;
    }
    CHECK_EQ(sum, N - head);
}

TEST(held_updates_begin_when_all_sums_are_complete)
{
    worker_t w[WORKERS];

    run((fire_exchange_options_t){.overlap = FIRE_OVERLAP_OFF, .hold = true}, w);
    for (int r = 0; r < WORKERS; r++)
        CHECK_EQ(w[r].summed_first, 0);
}
