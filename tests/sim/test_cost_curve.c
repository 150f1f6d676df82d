/* Prices from a curve agree with those of whole simulations. */
#include "sim/cost_curve.h"
#include "test.h"

static const fire_cluster_t star = {
    .topology = FIRE_STAR,
    .per_node = 1,
    .node     = {3e-6, 5e9, 1e-6, 50e9},
    .net      = {3e-6, 5e9, 1e-6, 50e9},
};

static void compare(const fire_cluster_t *m, const char *name, int workers,
                    double bytes, double within)
{
    fire_mode_t       mode = {0};
    fire_cost_curve_t t;
    fire_price_t      got, want;

    CHECK_OK(fire_algo_find(name, &mode.algo));
    CHECK_OK(fire_cost_curve_make(m, &mode, workers, &t));
    CHECK_OK(fire_mode_simulate(m, &mode, workers, bytes, &want));
    got = fire_cost_curve_price(&t, bytes);
    if (fabs(got.seconds / want.seconds - 1) > within)
        test_fail(__FILE__, __LINE__, "%s of %g bytes on %d: %g s, simulated %g s",
                  name, bytes, workers, got.seconds, want.seconds);
    if (fabs(got.bytes / want.bytes - 1) > 0.03)
        test_fail(__FILE__, __LINE__, "%s of %g bytes on %d: sends %g, simulated %g",
                  name, bytes, workers, got.bytes, want.bytes);
}

TEST(a_cost_curve_gives_what_a_whole_simulation_gives)
{
    static const double sizes[] = {400e3, 4e6, 30e6};
    static const char  *names[] = {"ps", "tree", "multicolor", "ring", "rhd"};

    for (size_t a = 0; a < sizeof(names) / sizeof(names[0]); a++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            compare(&star, names[a], 8, sizes[i], 0.13);
            compare(&star, names[a], 24, sizes[i], 0.13);
        }
    compare(&star, "tree", 96, 4e6, 0.05);
    compare(&star, "multicolor", 96, 4e6, 0.05);
}

/* Lanes of an all-to-all exchange meet at the receivers, by chance as it were. */
TEST(a_cost_curve_comes_near_several_chains_of_an_all_to_all_exchange)
{
    compare(&star, "direct", 8, 30e6, 0.16);
    compare(&star, "direct", 24, 30e6, 0.16);
    compare(&star, "direct", 40, 8e6, 0.16);
}

TEST(formulas_of_many_workers_are_exact_where_one_chain_does)
{
    compare(&star, "ring", 64, 4e6, 0.01);
    compare(&star, "ring", 96, 6e6, 0.01);
    compare(&star, "direct", 40, 2.5e6, 0.03);
    compare(&star, "ring", 64, 40e6, 0.05);
    compare(&star, "ps", 40, 400e3, 0.05);
}

TEST(nothing_is_sent_by_one_worker_alone)
{
    fire_mode_t       mode = {0};
    fire_cost_curve_t t;

    CHECK_OK(fire_algo_find("tree", &mode.algo));
    CHECK_OK(fire_cost_curve_make(&star, &mode, 1, &t));
    CHECK_NEAR(fire_cost_curve_price(&t, 1e9).seconds, 0, 0);
}

/* A node's card is shared by its workers: hier spares it. */
TEST(hier_pays_on_nodes_of_several_workers)
{
    fire_cluster_t    nodes = star;
    fire_mode_t       hier = {0}, direct = {0};
    fire_cost_curve_t a, b;

    nodes.per_node       = 8;
    nodes.node.bandwidth = 100e9;
    CHECK_OK(fire_algo_find("hier", &hier.algo));
    CHECK_OK(fire_algo_find("direct", &direct.algo));
    CHECK_OK(fire_cost_curve_make(&nodes, &hier, 32, &a));
    CHECK_OK(fire_cost_curve_make(&nodes, &direct, 32, &b));
    CHECK(fire_cost_curve_price(&a, 100e6).seconds <
          fire_cost_curve_price(&b, 100e6).seconds);
}
