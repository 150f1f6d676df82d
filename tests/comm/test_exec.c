/* test_exec.c - the same schedules, run for real by ranks that are threads. */
#include "sums.h"
#include "test.h"

enum { MAX_RANKS = 33 };

typedef struct setup {
    size_t count, piece;
} setup_t;

static void sum(fire_comm_t *c, void *arg)
{
    setup_t *s = arg;
    void    *buf;

    CHECK_OK(fire_comm_alloc(c, s->count * sizeof(float), &buf));
    check_sums(c, buf, s->count, s->piece);
    fire_comm_free(c, buf);
}

TEST(short_sums_are_right_on_1_to_33_ranks_with_every_algorithm)
{
    static const size_t counts[] = {0, 1, 7, 1000};

    for (int size = 1; size <= MAX_RANKS; size++)
        for (int k = 0; k < 4; k++)
            run_ranks(size, &FIRE_COMM_OPTIONS_INIT, sum, &(setup_t){counts[k], 200});
}

TEST(long_sums_are_right_on_1_to_33_ranks_with_every_algorithm)
{
    for (int size = 1; size <= MAX_RANKS; size++)
        run_ranks(size, &FIRE_COMM_OPTIONS_INIT, sum, &(setup_t){1000003, 0});
}

TEST(sums_are_right_when_ranks_sit_on_several_nodes)
{
    for (int per_node = 1; per_node <= 5; per_node++) {
        fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

        o.ranks_per_node = per_node;
        for (int size = 2; size <= 9; size++)
            run_ranks(size, &o, sum, &(setup_t){5000, 1000});
    }
}
