/* Threads of a worker that share work. */
#include "base/parallel.h"

#include <stdatomic.h>

#include "base/log.h"
#include "test.h"

enum { N = 5000 };

typedef struct world {
    atomic_int done[N], worker[FIRE_MAX_PARALLEL];
    int64_t    bad;
} world_t;

static fire_status_t visit(void *arg, int worker, int64_t i)
{
    world_t *w = arg;

    atomic_fetch_add(&w->done[i], 1);
    CHECK_EQ(atomic_fetch_add(&w->worker[worker], 1), 0); /* its memory is its own */
    atomic_fetch_sub(&w->worker[worker], 1);
    if (w->bad > 0 && i % w->bad == w->bad - 1)
        return FIRE_FAIL(FIRE_ERR_IO, "thing %lld", (long long)i);
    return FIRE_OK;
}

TEST(everything_is_done_once_by_any_number_of_threads)
{
    for (int threads = 1; threads <= 16; threads *= 2) {
        static world_t w;

        memset(&w, 0, sizeof(w));
        CHECK_OK(fire_parallel(N, threads, visit, &w));
        for (int i = 0; i < N; i++)
            CHECK_EQ(w.done[i], 1);
    }
}

TEST(nothing_to_do_is_done_at_once)
{
    CHECK_OK(fire_parallel(0, 4, visit, NULL));
}

TEST(the_failure_of_the_lowest_number_is_told)
{
    static world_t w = {.bad = 40};

    CHECK_FAILS(fire_parallel(N, 1, visit, &w), FIRE_ERR_IO, "thing 39");
    CHECK_EQ(w.done[40], 0);
    CHECK_FAILS(fire_parallel(N, 8, visit, &w), FIRE_ERR_IO, "thing ");
}

TEST(a_wish_for_threads_is_kept_within_bounds)
{
    CHECK_EQ(fire_parallel_threads(3), 3);
    CHECK(fire_parallel_threads(0) >= 1);
    CHECK_EQ(fire_parallel_threads(100000), FIRE_MAX_PARALLEL);
}

static fire_status_t look_at_context(void *arg, int worker, int64_t i)
{
    (void)worker, (void)i;
    if (strcmp(fire_log_context().name, "rank 3") == 0)
        atomic_fetch_add((atomic_int *)arg, 1);
    return FIRE_OK;
}

TEST(threads_log_as_the_thread_that_starts_them)
{
    atomic_int right = 0;

    fire_log_set_context(&(fire_log_context_t){"rank 3", FIRE_WARNING});
    CHECK_OK(fire_parallel(100, 4, look_at_context, &right));
    CHECK_EQ(right, 100);
}
