/* test_collective.c - collectives that are made once and run many times. */
#include <stdatomic.h>

#include "ranks.h"
#include "test.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/pattern/roots.h"

/* ---- halves of an allreduce, for the sharded update ---- */

static void halves(fire_comm_t *c, void *arg)
{
    enum { COUNT = 1003 };
    const char               *algo = arg;
    int                       rank = fire_comm_rank(c), size = fire_comm_size(c);
    fire_collective_options_t o = {.op = FIRE_REDUCE_SCATTER, .algo = algo};
    float                     x[COUNT], want[COUNT];
    fire_collective_t        *scatter, *gather;
    const fire_algo_t        *a;
    fire_span_t               own;

    CHECK_OK(fire_collective_create(c, &o, x, COUNT, &scatter));
    o.op = FIRE_ALLGATHER;
    CHECK_OK(fire_collective_create(c, &o, x, COUNT, &gather));
    own = fire_collective_own(scatter);
    CHECK_EQ(own.off, fire_collective_own(gather).off);
    CHECK_EQ(own.len, fire_collective_own(gather).len);
    contribute(rank, x, COUNT);
    CHECK_OK(fire_collective_start(scatter));
    CHECK_OK(fire_collective_wait(scatter));
    for (size_t i = own.off; i < own.off + own.len; i++)
        x[i] *= -2; /* the update of one's own shard */
    CHECK_OK(fire_collective_start(gather));
    CHECK_OK(fire_collective_wait(gather));
    canonical_sum(size, want, COUNT);
    CHECK_OK(fire_algo_find(algo, &a));
    for (size_t i = 0; i < COUNT; i++)
        if (a->flags & FIRE_ALGO_CANONICAL)
            CHECK(x[i] == -2 * want[i]);
        else
            CHECK_NEAR(x[i], -2 * exact_sum(size, i), 1e-3);
    fire_collective_destroy(scatter);
    fire_collective_destroy(gather);
}

TEST(each_rank_can_work_on_its_own_shard_between_the_halves)
{
    for (int size = 1; size <= 17; size++) {
        run_ranks(size, &FIRE_COMM_OPTIONS_INIT, halves, "ring");
        run_ranks(size, &FIRE_COMM_OPTIONS_INIT, halves, "rhd");
        run_ranks(size, &FIRE_COMM_OPTIONS_INIT, halves, "direct");
    }
}

/* ---- uneven lanes ---- */

enum { LANES = 11, FLOATS = 1003 };

typedef struct uneven {
    const char *algo;
    const int  *lane; /* [size + 1] */
} uneven_t;

/* The sum of lanes first ... end - 1, a subtree. */
static void sum_lanes(int first, int end, float *sum)
{
    float part[FLOATS];
    int   half = 1;

    contribute(first, sum, FLOATS);
    if (end - first == 1) return;
    while (2 * half < end - first)
        half *= 2;
    sum_lanes(first, first + half, sum);
    sum_lanes(first + half, end, part);
    for (int i = 0; i < FLOATS; i++)
        sum[i] += part[i];
}

/* Twice, as an executor's memory is used again. */
static void uneven_lanes(fire_comm_t *c, void *arg)
{
    const uneven_t           *u    = arg;
    const int                *lane = u->lane + fire_comm_rank(c);
    fire_collective_options_t o    = {.op        = FIRE_ALLREDUCE,
                                      .algo      = u->algo,
                                      .canonical = true,
                                      .lane      = u->lane,
                                      .stride    = FLOATS,
                                      .piece     = 1000};
    fire_root_t               root[FIRE_MAX_ROOTS];
    int                       n = fire_roots(lane[0], lane[1], LANES, root);
    float                     want[FLOATS], *x;
    void                     *memory;
    fire_collective_t        *sum;

    CHECK_OK(fire_comm_alloc(c, 8 * FLOATS * sizeof(float), &memory));
    x = memory;
    canonical_sum(LANES, want, FLOATS);
    CHECK_OK(fire_collective_create(c, &o, x, FLOATS, &sum));
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < n; i++)
            sum_lanes(root[i].first, root[i].end, x + fire_root_slot(i, n) * FLOATS);
        CHECK_OK(fire_collective_start(sum));
        CHECK_OK(fire_collective_wait(sum));
        CHECK(memcmp(x, want, sizeof(want)) == 0);
        CHECK_OK(fire_comm_barrier(c));
    }
    fire_collective_destroy(sum);
    fire_comm_free(c, memory);
}

TEST(uneven_lanes_of_ranks_are_summed_in_canonical_order)
{
    static const char *const algos[]   = {"tree", "rhd", "direct", "onesided", "hier"};
    static const int         lane[][8] = {{0, 6, 11},
                                          {0, 4, 8, 11},
                                          {0, 1, 7, 9, 11},
                                          {0, 3, 5, 8, 10, 11},
                                          {0, 2, 4, 6, 8, 9, 10, 11}};
    static const int         size[]    = {2, 3, 4, 5, 7};

    for (int a = 0; a < 5; a++)
        for (int k = 0; k < 5; k++)
            for (int per_node = 0; per_node < 3; per_node++) {
                fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
                uneven_t            u = {algos[a], lane[k]};

                o.ranks_per_node = per_node;
                run_ranks(size[k], &o, uneven_lanes, &u);
            }
}

/* ---- many at once ---- */

enum { BUCKETS = 12, LENGTH = 3000 };

static void finish_in_own_order(fire_comm_t *c, fire_collective_t **x)
{
    bool         done[BUCKETS] = {false};
    fire_pause_t pause         = {0};

    for (int left = BUCKETS, k = fire_comm_rank(c); left > 0; k++) {
        fire_status_t st;

        if (done[k % BUCKETS]) continue;
        st = fire_collective_test(x[k % BUCKETS]);
        CHECK_OK(st);
        if (fire_collective_moved(x[k % BUCKETS]))
            pause = (fire_pause_t){0};
        else
            fire_pause(&pause);
        done[k % BUCKETS] = st == FIRE_OK;
        left -= st == FIRE_OK;
    }
}

static void many_at_once(fire_comm_t *c, void *arg)
{
    static const char *const algo[] = {"tree", "rhd", "ring", "multicolor", "onesided"};
    fire_collective_t       *x[BUCKETS];
    float                   *buf;
    int64_t                  before = 0;

    (void)arg;
    CHECK_OK(FIRE_NEW(&buf, BUCKETS * LENGTH));
    for (int k = 0; k < BUCKETS; k++) {
        fire_collective_options_t o = {.algo = algo[k % 5], .piece = 500};

        CHECK_OK(fire_collective_create(c, &o, buf + k * LENGTH, LENGTH, &x[k]));
    }
    for (int round = 0; round < 10; round++) {
        if (round == 3) {
            CHECK_OK(fire_comm_barrier(c));
            before = fire_alloc_count();
            CHECK_OK(fire_comm_barrier(c));
        }
        for (int k = 0; k < BUCKETS; k++) {
            contribute(fire_comm_rank(c), buf + k * LENGTH, LENGTH);
            CHECK_OK(fire_collective_start(x[k]));
        }
        finish_in_own_order(c, x);
        for (int k = 0; k < BUCKETS; k++)
            CHECK_NEAR(buf[k * LENGTH + 77], exact_sum(fire_comm_size(c), 77), 1e-3);
        CHECK_OK(fire_comm_agree(c, FIRE_OK));
    }
    CHECK_OK(fire_comm_barrier(c));
    CHECK_EQ(fire_alloc_count(), before); /* of all ranks: they share a process */
    CHECK_OK(fire_comm_barrier(c));
    for (int k = 0; k < BUCKETS; k++)
        fire_collective_destroy(x[k]);
    fire_free(buf);
}

TEST(buckets_under_way_together_do_not_disturb_each_other_or_allocate)
{
    run_ranks(1, &FIRE_COMM_OPTIONS_INIT, many_at_once, NULL);
    run_ranks(2, &FIRE_COMM_OPTIONS_INIT, many_at_once, NULL);
    run_ranks(5, &FIRE_COMM_OPTIONS_INIT, many_at_once, NULL);
}

/* ---- one that is busy ---- */

enum { PIECES = 4, PIECE = 500 };

static bool are_own_parts_summed(const float *buf)
{
    for (size_t k = 0; k < PIECES; k++) {
        size_t i = k * 2 * PIECE + 100;

        if (buf[i] != contribution(0, i) + contribution(1, i)) return false;
    }
    return true;
}

static void sum_beside_a_busy_one(fire_comm_t *c, void *arg)
{
    fire_collective_options_t o = {.algo = "onesided", .piece = PIECE * sizeof(float)};
    atomic_bool              *summed = arg;
    double                    until  = fire_clock_now() + 20;
    fire_collective_t        *x;
    float                    *buf;

    CHECK_OK(FIRE_NEW(&buf, 2 * PIECE * PIECES));
    contribute(fire_comm_rank(c), buf, 2 * PIECE * PIECES);
    CHECK_OK(fire_collective_create(c, &o, buf, 2 * PIECE * PIECES, &x));
    CHECK_OK(fire_collective_start(x));
    CHECK_OK(fire_collective_test(x));
    while (!atomic_load(summed) && fire_clock_now() < until) {
        if (fire_comm_rank(c) == 1) continue; /* busy */
        CHECK_OK(fire_collective_test(x));
        if (are_own_parts_summed(buf)) atomic_store(summed, true);
    }
    CHECK(atomic_load(summed));
    CHECK_OK(fire_collective_wait(x));
    fire_collective_destroy(x);
    fire_free(buf);
}

TEST(a_rank_can_sum_all_its_parts_while_the_other_is_busy)
{
    atomic_bool summed = false;

    run_ranks(2, &FIRE_COMM_OPTIONS_INIT, sum_beside_a_busy_one, &summed);
}

static void create_and_end(fire_comm_t *c, void *arg)
{
    float              x = 1;
    fire_collective_t *keep[3000];
    int                n = 0;

    (void)arg;
    for (int i = 0; i < 2100; i++) { /* numbers are used again */
        x = 1;
        CHECK_OK(fire_comm_allreduce(c, "tree", &x, 1));
        CHECK(x == (float)fire_comm_size(c));
    }
    while (n < 3000) {
        fire_collective_options_t o = {.algo = "tree"};

        if (fire_collective_create(c, &o, &x, 1, &keep[n]) < 0) break;
        n++;
    }
    CHECK(n > 2000 && n < 3000);
    CHECK(strstr(fire_last_error(), "use larger buckets") != NULL);
    while (n > 0)
        fire_collective_destroy(keep[--n]);
}

TEST(numbers_of_collectives_are_reused_and_run_out_politely)
{
    run_ranks(2, &FIRE_COMM_OPTIONS_INIT, create_and_end, NULL);
}
