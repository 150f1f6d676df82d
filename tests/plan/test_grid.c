/* The rows of a plan. */
#include "comm/algo/algo.h"
#include "plans.h"

static const char *const two[]   = {"tree", "rhd"};
static const int         upto4[] = {1, 2, 4};

TEST(there_is_a_row_for_each_worker_count_and_algorithm)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");

    fill_plan(&p, 64, 3, upto4, 2, two);
    CHECK_EQ(p.nrow, 1 + 2 + 2); /* one worker sums nothing: a single row */
    CHECK_EQ(p.row[0].workers, 1);
    CHECK_NEAR(p.row[0].speedup, 1, 1e-12);
    CHECK_STR(p.row[1].comm, "tree");
    CHECK_STR(p.row[2].comm, "rhd");
    CHECK(p.row[0].t.exposed == 0 && p.row[1].t.exposed > 0);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(a_batch_may_be_each_workers_own)
{
    const fire_plan_batch_t batch = {.size = 8, .per_worker = true};
    fire_net_t             *net   = two_layers();
    fire_plan_t             p     = make_plan(net, "ethernet10");
    const fire_plan_axes_t  axes  = {.batch    = &batch,
                                     .nbatch   = 1,
                                     .workers  = upto4,
                                     .nworkers = 3,
                                     .comm     = two,
                                     .ncomm    = 1,
                                     .compress = "none"};

    CHECK_OK(fire_plan_fill(&p, &axes));
    CHECK_EQ(p.nrow, 3);
    CHECK_EQ(p.row[0].batch, 8);
    CHECK_EQ(p.row[2].batch, 32);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(a_batch_too_small_for_its_workers_has_no_row)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");

    fill_plan(&p, 3, 3, upto4, 1, two);
    CHECK_EQ(p.nrow, 2);
    CHECK(fire_plan_best(&p, 3, 4) == NULL);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(the_best_row_is_the_fastest_of_its_batch_and_workers)
{
    fire_net_t            *net = two_layers();
    fire_plan_t            p   = make_plan(net, "ethernet10");
    const fire_plan_row_t *best;

    fill_plan(&p, 64, 3, upto4, 2, two);
    best = fire_plan_best(&p, 64, 4);
    CHECK(best != NULL && best->workers == 4);
    for (int64_t i = 0; i < p.nrow; i++)
        if (p.row[i].workers == 4) CHECK(best->t.total <= p.row[i].t.total);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(speed_ups_count_from_the_baseline_if_there_is_one)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");

    p.baseline = 1000;
    fill_plan(&p, 64, 3, upto4, 1, two);
    for (int64_t i = 0; i < p.nrow; i++)
        CHECK_NEAR(p.row[i].speedup, 64 / p.row[i].t.total / 1000, 1e-9);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(without_overlap_the_whole_exchange_is_waited_for)
{
    fire_net_t       *net = two_layers();
    fire_plan_t       p   = make_plan(net, "ethernet10");
    fire_step_times_t t;

    fill_plan(&p, 64, 3, upto4, 1, two);
    CHECK_OK(fire_plan_replay(&p, &p.row[2], &p.row[2].curve, 0, false, &t));
    CHECK_NEAR(t.exposed, t.comm, 1e-12);
    CHECK(t.total >= p.row[2].t.total);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(only_algorithms_whose_messages_are_known_can_be_priced)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");
    int         n   = 0;

    p.cluster.per_node = 1;
    for (int i = 0; fire_algo_at(i) != NULL; i++) {
        const fire_algo_t *a = fire_algo_at(i);

        n += fire_plan_can_price(&p, a);
        if (strcmp(a->name, "tree") == 0) CHECK(fire_plan_can_price(&p, a));
        if (a->flags & FIRE_ALGO_NATIVE) CHECK(!fire_plan_can_price(&p, a));
        if (strcmp(a->name, "hier") == 0) {
            CHECK(!fire_plan_can_price(&p, a));
            p.cluster.per_node = 2;
            CHECK(fire_plan_can_price(&p, a));
            p.cluster.per_node = 1;
        }
    }
    CHECK(n > 3);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(an_unknown_algorithm_or_codec_is_named)
{
    const fire_plan_batch_t batch = {.size = 8};
    const char *const       oak[] = {"oak"};
    fire_net_t             *net   = two_layers();
    fire_plan_t             p     = make_plan(net, "ethernet10");
    fire_plan_axes_t        axes  = {.batch    = &batch,
                                     .nbatch   = 1,
                                     .workers  = upto4,
                                     .nworkers = 3,
                                     .comm     = oak,
                                     .ncomm    = 1,
                                     .compress = "none"};

    CHECK_FAILS(fire_plan_fill(&p, &axes), FIRE_ERR_INVALID, "oak");
    axes.comm     = two;
    axes.compress = "zip";
    CHECK_FAILS(fire_plan_fill(&p, &axes), FIRE_ERR_INVALID, "zip");
    fire_plan_fini(&p);
    fire_net_destroy(net);
}
