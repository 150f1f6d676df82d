/* test_exec.c - the same schedules, run for real by ranks that are threads. */
#include "ranks.h"
#include "test.h"

#include "base/alloc.h"

enum { MAX_RANKS = 33 };

typedef struct setup {
    size_t count, piece;
    float *canonical, *first; /* the canonical sums; rank 0's result */
} setup_t;

static void check_sum(fire_comm_t *c, const fire_algo_t *algo, const setup_t *s,
                      const float *x)
{
    int size = fire_comm_size(c);

    for (size_t i = 0; i < s->count; i += 1 + s->count / 997) {
        double want = exact_sum(size, i);

        if (fabs((double)x[i] - want) > 1e-5 * size)
            test_fail(__FILE__, __LINE__,
                      "%s, %d ranks, %zu elements: [%zu] = %g not %g", algo->name, size,
                      s->count, i, (double)x[i], want);
    }
    if (algo->flags & FIRE_ALGO_CANONICAL &&
        memcmp(x, s->canonical, s->count * sizeof(*x)) != 0)
        test_fail(__FILE__, __LINE__, "%s, %d ranks, %zu elements: not canonical bits",
                  algo->name, size, s->count);
}

static void sum_with(fire_comm_t *c, const fire_algo_t *algo, const setup_t *s,
                     float *buf)
{
    const fire_collective_options_t o = {.algo = algo->name, .piece = s->piece};
    fire_collective_t              *x;

    CHECK_OK(fire_collective_create(c, &o, buf, s->count, &x));
    contribute(fire_comm_rank(c), buf, s->count);
    CHECK_OK(fire_collective_start(x));
    CHECK_OK(fire_collective_wait(x));
    check_sum(c, algo, s, buf);
    if (fire_comm_rank(c) == 0) memcpy(s->first, buf, s->count * sizeof(float));
    CHECK_OK(fire_comm_barrier(c));
    CHECK(memcmp(s->first, buf, s->count * sizeof(float)) == 0);
    CHECK_OK(fire_comm_barrier(c));
    fire_collective_destroy(x);
}

static void sum_with_each(fire_comm_t *c, void *arg)
{
    setup_t *s = arg;
    void    *buf;

    CHECK_OK(fire_comm_alloc(c, s->count * sizeof(float), &buf));
    for (int a = 0; fire_algo_at(a) != NULL; a++)
        if (!(fire_algo_at(a)->flags & FIRE_ALGO_NATIVE))
            sum_with(c, fire_algo_at(a), s, buf);
    fire_comm_free(c, buf);
}

/* All algorithms on so many ranks and elements. */
static void check_sums(int size, size_t count, size_t piece)
{
    setup_t s = {.count = count, .piece = piece};

    CHECK_OK(FIRE_NEW(&s.canonical, count));
    CHECK_OK(FIRE_NEW(&s.first, count));
    canonical_sum(size, s.canonical, count);
    run_ranks(size, &FIRE_COMM_OPTIONS_INIT, sum_with_each, &s);
    fire_free(s.canonical);
    fire_free(s.first);
}

TEST(short_sums_are_right_on_1_to_33_ranks_with_every_algorithm)
{
    static const size_t counts[] = {0, 1, 7, 1000};

    for (int size = 1; size <= MAX_RANKS; size++)
        for (int k = 0; k < 4; k++)
            check_sums(size, counts[k], 200);
}

TEST(long_sums_are_right_on_1_to_33_ranks_with_every_algorithm)
{
    for (int size = 1; size <= MAX_RANKS; size++)
        check_sums(size, 1000003, 0);
}
