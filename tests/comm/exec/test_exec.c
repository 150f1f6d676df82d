/* test_exec.c - real sums of real schedules, by ranks that are threads. */
#include "base/alloc.h"
#include "sums.h"
#include "test.h"

enum { MAX_RANKS = 33 };

typedef struct setup {
    size_t       count, piece;
    const float *want;
} setup_t;

static void sum(fire_comm_t *c, void *arg)
{
    setup_t *s = arg;
    void    *buf;

    CHECK_OK(fire_comm_alloc(c, s->count * sizeof(float), &buf));
    check_sums(c, s->want, buf, s->count, s->piece);
    fire_comm_free(c, buf);
}

static void sum_as(int size, const fire_comm_options_t *o, size_t count, size_t piece)
{
    float *want;

    CHECK_OK(FIRE_NEW(&want, count));
    canonical_sum(size, want, count);
    run_ranks(size, o, sum, &(setup_t){count, piece, want});
    fire_free(want);
}

TEST(short_sums_are_right_on_1_to_33_ranks_with_every_algorithm)
{
    static const size_t counts[] = {0, 1, 7, 1000};

    for (int size = 1; size <= MAX_RANKS; size++)
        for (int k = 0; k < 4; k++)
            sum_as(size, &FIRE_COMM_OPTIONS_INIT, counts[k], 200);
}

/* Sanitized, numbers of ranks beyond nine are those around a power of two. */
static bool is_due(int size)
{
    return !TEST_SANITIZED || size <= 9 || size % 16 <= 1;
}

TEST(long_sums_are_right_on_1_to_33_ranks_with_every_algorithm)
{
    for (int size = 1; size <= MAX_RANKS; size++)
        if (is_due(size)) sum_as(size, &FIRE_COMM_OPTIONS_INIT, 1000003, 0);
}

TEST(sums_are_right_when_ranks_sit_on_several_nodes)
{
    for (int per_node = 1; per_node <= 5; per_node++) {
        fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

        o.ranks_per_node = per_node;
        for (int size = 2; size <= 9; size++)
            sum_as(size, &o, 5000, 1000);
    }
}
