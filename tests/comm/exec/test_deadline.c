/* test_deadline.c - ranks that stop, give up, come late, or disagree. */
#include <unistd.h>

#include "base/clock.h"
#include "ranks.h"
#include "test.h"

enum { SIZE = 6, BAD = 4, COUNT = 10000 };

typedef struct setup {
    const char *algo;
    int         saw_timeout[SIZE], named_bad[SIZE];
    double      took[SIZE];
} setup_t;

/* Rank BAD never takes part; the others must end, and know whose fault it is. */
static void one_is_missing(fire_comm_t *c, void *arg)
{
    setup_t      *s    = arg;
    int           rank = fire_comm_rank(c);
    double        start;
    float         x[COUNT];
    fire_status_t st;

    CHECK_OK(fire_comm_barrier(c));
    if (rank == BAD) {
        usleep(1000 * 1000);
        return;
    }
    contribute(rank, x, COUNT);
    start         = fire_clock_now();
    st            = fire_comm_allreduce(c, s->algo, x, COUNT);
    s->took[rank] = fire_clock_now() - start;
    CHECK(st == FIRE_ERR_TIMEOUT || st == FIRE_ERR_PEER);
    s->saw_timeout[rank] = st == FIRE_ERR_TIMEOUT;
    s->named_bad[rank]   = strstr(fire_last_error(), "no word from rank 4 (") != NULL;
}

TEST(when_a_rank_stops_all_others_end_in_time_and_name_it)
{
    static const char *const algos[] = {"ps", "tree", "ring", "rhd", "onesided"};
    fire_comm_options_t      o       = {.timeout = 0.4};

    for (int a = 0; a < 5; a++) {
        setup_t s        = {.algo = algos[a]};
        int     timeouts = 0;

        run_ranks(SIZE, &o, one_is_missing, &s);
        for (int r = 0; r < SIZE; r++) {
            if (r == BAD) continue;
            timeouts += s.saw_timeout[r];
            if (!s.named_bad[r] || s.took[r] > 1.0)
                test_fail(__FILE__, __LINE__, "%s: rank %d, %.2f s, named: %d",
                          algos[a], r, s.took[r], s.named_bad[r]);
        }
        CHECK(timeouts >= 1);
    }
}

static void one_gives_up(fire_comm_t *c, void *arg)
{
    float         x[COUNT] = {0};
    fire_status_t st       = fire_comm_barrier(c);

    (void)arg;
    if (fire_comm_rank(c) == BAD) {
        (void)FIRE_FAIL(FIRE_ERR_DEVICE, "GPU fell off the bus");
        fire_comm_fail(c);
        return;
    }
    if (st == FIRE_OK) st = fire_comm_allreduce(c, "tree", x, COUNT);
    CHECK_FAILS(st, FIRE_ERR_PEER, "rank 4: GPU fell off the bus");
}

TEST(a_rank_that_gives_up_ends_the_wait_of_the_others_at_once)
{
    fire_comm_options_t o     = {.timeout = 30};
    double              start = fire_clock_now();

    run_ranks(SIZE, &o, one_gives_up, NULL);
    CHECK(fire_clock_now() - start < 10);
}

static void one_is_late(fire_comm_t *c, void *arg)
{
    float x[COUNT];

    (void)arg;
    contribute(fire_comm_rank(c), x, COUNT);
    CHECK_OK(fire_comm_barrier(c));
    if (fire_comm_rank(c) == BAD) usleep(200 * 1000);
    CHECK_OK(fire_comm_allreduce(c, "rhd", x, COUNT));
    CHECK_NEAR(x[99], exact_sum(SIZE, 99), 1e-4);
}

TEST(a_rank_that_is_late_but_in_time_does_no_harm)
{
    fire_comm_options_t o = {.timeout = 1};

    run_ranks(SIZE, &o, one_is_late, NULL);
}

static void lengths_differ(fire_comm_t *c, void *arg)
{
    float         x[COUNT] = {0};
    size_t        n        = fire_comm_rank(c) == 1 ? COUNT - 32 : COUNT;
    fire_status_t st;

    (void)arg;
    st = fire_comm_allreduce(c, "tree", x, n);
    CHECK(st == FIRE_ERR_COMM || st == FIRE_ERR_PEER);
    CHECK(strstr(fire_last_error(), "same net with the same settings") != NULL);
}

TEST(ranks_that_do_not_agree_on_the_length_are_told_so)
{
    fire_comm_options_t o = {.timeout = 5};

    run_ranks(2, &o, lengths_differ, NULL);
}
