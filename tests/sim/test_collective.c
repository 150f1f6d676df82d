/* Prices of collectives against times that SimGrid's SMPI gave for a probe program
 * with the same algorithms: a star of 5 GB/s links each way, 2 x 1.5 us a path, ideal
 * factors, all but multicolor in whole messages. */
#include "sim/collective.h"

#include "sim/network.h"
#include "test.h"

static const fire_cluster_t star = {
    .name     = "star",
    .topology = FIRE_STAR,
    .per_node = 1,
    .node     = {3e-6, 5e9, 0, 1e15},
    .net      = {3e-6, 5e9, 0, 1e15},
};

static fire_price_t price(const fire_cluster_t *m, const char *name, int ranks,
                          double bytes, size_t piece)
{
    const fire_algo_t *algo;
    fire_coll_t        c = {.op     = FIRE_ALLREDUCE,
                            .size   = ranks,
                            .ncolor = 4,
                            .piece  = piece / sizeof(float),
                            .grain  = 16,
                            .span   = {0, (size_t)(bytes / 4)}};
    fire_price_t       p;

    CHECK_OK(fire_algo_find(name, &algo));
    CHECK_OK(fire_simulate(m, algo, &c, NULL, &p));
    return p;
}

typedef struct row {
    int    ranks;
    double ps, tree, ring, rhd, multicolor; /* milliseconds */
} row_t;

static void check_on(const fire_cluster_t *m, const char *algo, int ranks, double bytes,
                     size_t piece, double want_ms, double within)
{
    double got = 1e3 * price(m, algo, ranks, bytes, piece).seconds;

    if (fabs(got / want_ms - 1) > within)
        test_fail(__FILE__, __LINE__,
                  "%s of %g bytes on %d of a %s: %g ms, SMPI gave %g", algo, bytes,
                  ranks, m->name, got, want_ms);
}

static void check(const char *algo, int ranks, double bytes, size_t piece,
                  double want_ms, double within)
{
    check_on(&star, algo, ranks, bytes, piece, want_ms, within);
}

static void check_table(const row_t *row, int nrow, double bytes)
{
    for (int i = 0; i < nrow; i++, row++) {
        check("ps", row->ranks, bytes, 0, row->ps, 0.05);
        check("tree", row->ranks, bytes, 0, row->tree, 0.05);
        check("ring", row->ranks, bytes, 0, row->ring, 0.05);
        check("rhd", row->ranks, bytes, 0, row->rhd, 0.05);
        check("multicolor", row->ranks, bytes, 256 << 10, row->multicolor, 0.1);
    }
}

TEST(prices_of_30_mb_are_those_of_smpi)
{
    static const row_t table[] = {
        {2, 12.0, 12.01, 6.01, 6.01, 6.05},
        {4, 36.0, 24.02, 9.02, 9.02, 9.05},
        {8, 84.0, 36.02, 10.54, 10.52, 10.80},
        {16, 180.1, 48.03, 11.34, 11.28, 12.30},
        {32, 372.2, 60.03, 11.81, 11.66, 12.92},
        {64, 756.4, 72.04, 12.19, 11.85, 13.04},
        {128, 1524.8, 84.05, 12.67, 11.95, 13.62},
    };

    check_table(table, sizeof(table) / sizeof(table[0]), 30e6);
}

TEST(prices_of_54_mb_are_those_of_smpi)
{
    static const row_t table[] = {
        {2, 21.6, 21.61, 10.81, 10.81, 10.88},
        {4, 64.8, 43.22, 16.22, 16.21, 16.29},
        {8, 151.2, 64.82, 18.95, 18.92, 19.21},
        {16, 324.1, 86.43, 20.34, 20.28, 21.85},
        {32, 669.8, 108.03, 21.11, 20.96, 22.50},
        {64, 1361.2, 129.64, 21.64, 21.30, 22.59},
        {128, 2744.0, 151.25, 22.20, 21.48, 23.22},
    };

    check_table(table, sizeof(table) / sizeof(table[0]), 54e6);
}

TEST(a_fat_tree_with_full_bisection_is_a_star_unless_uplinks_are_shared)
{
    fire_cluster_t fat = star;

    fat.topology         = FIRE_FAT_TREE;
    fat.leaf             = 16;
    fat.oversubscription = 1;
    strcpy(fat.name, "fat tree");
    for (int big = 0; big < 2; big++) {
        check_on(&fat, "ps", big ? 128 : 64, 30e6, 0, big ? 1525 : 756, 0.05);
        check_on(&fat, "tree", big ? 128 : 64, 30e6, 0, big ? 84 : 72, 0.05);
        check_on(&fat, "ring", big ? 128 : 64, 30e6, 0, big ? 12.7 : 12.2, 0.05);
        check_on(&fat, "rhd", big ? 128 : 64, 30e6, 0, big ? 11.9 : 11.8, 0.05);
        check_on(&fat, "multicolor", big ? 128 : 64, 30e6, 256 << 10, big ? 18.9 : 14.4,
                 big ? 0.1 : 0.13);
    }
}

TEST(oversubscribed_uplinks_slow_down_who_crosses_them_with_much)
{
    fire_cluster_t fat = star;

    fat.topology         = FIRE_FAT_TREE;
    fat.leaf             = 16;
    fat.oversubscription = 4;
    /* A ring crosses with one stream a leaf, halving-doubling with all of them. */
    CHECK(price(&fat, "ring", 64, 30e6, 0).seconds < 0.013);
    CHECK(price(&fat, "rhd", 64, 30e6, 0).seconds > 0.0125);
}

TEST(neighbours_of_a_ring_do_not_meet_on_a_torus_but_partners_of_rhd_do)
{
    fire_cluster_t     torus = star;
    const fire_algo_t *ring;

    torus.topology = FIRE_TORUS;
    torus.dims[0]  = 8;
    torus.dims[1] = torus.dims[2] = 4;
    strcpy(torus.name, "torus");
    check_on(&torus, "ring", 128, 30e6, 0, 12.0, 0.08);
    check_on(&torus, "tree", 128, 30e6, 0, 84.0, 0.05);
    CHECK(price(&torus, "rhd", 128, 30e6, 0).seconds > 0.015);
    CHECK_OK(fire_algo_find("ring", &ring));
    CHECK_FAILS(fire_simulate(&torus, ring, &(fire_coll_t){.size = 129}, NULL, NULL),
                FIRE_ERR_INVALID, "do not fit into a torus of 8 x 4 x 4");
}

TEST(every_algorithm_ends_on_any_number_of_workers_and_nodes)
{
    fire_cluster_t     nodes = star;
    const fire_algo_t *algo;
    int                node[24];

    nodes.per_node = 4;
    for (int i = 0; i < 24; i++)
        node[i] = i / 4;
    for (int i = 0; (algo = fire_algo_at(i)) != NULL; i++)
        for (int size = 1; size <= 24; size++)
            for (int lend = 0; lend < 2; lend++) {
                fire_coll_t  c = {.op     = FIRE_ALLREDUCE,
                                  .size   = size,
                                  .node   = node,
                                  .lend   = lend == 1,
                                  .ncolor = 4,
                                  .piece  = 1000,
                                  .grain  = 16,
                                  .span   = {0, 10000}};
                fire_price_t p;

                if (algo->flags & FIRE_ALGO_NATIVE) continue;
                CHECK_OK(fire_simulate(&nodes, algo, &c, NULL, &p));
                CHECK((p.seconds > 0) == (size > 1));
                CHECK((p.bytes > 0) == (size > 1));
            }
}

/* Two workers swap halves: n/2 each way and n/2 to add, twice the first. */
TEST(latency_overhead_and_additions_are_paid_for)
{
    fire_cluster_t slow = star;

    slow.net = (fire_wire_t){1, 4, 10, 2};
    CHECK_NEAR(price(&slow, "ring", 2, 128, 0).seconds,
               (10 + 16 + 1 + 10 + 32) + (10 + 16 + 1 + 10), 1e-9);
}

/* Memory that both reach is added from where it lies: 64 bytes each way in half of the
 * array, and the sum is copied back. */
TEST(shared_memory_is_not_sent)
{
    fire_cluster_t node = star;

    node.per_node = 2;
    node.shared   = true;
    node.node     = (fire_wire_t){1, 4, 0, 2};
    CHECK_NEAR(price(&node, "ring", 2, 128, 0).seconds, (1 + 32) + (1 + 16), 1e-9);
    node.cores      = 1;
    node.cores_each = 1;
    CHECK_NEAR(price(&node, "ring", 2, 128, 0).seconds, (1 + 64) + (1 + 32), 1e-9);
}

/* Receivers 16 and 32 go by the same spine, 16 and 33 do not. */
TEST(messages_to_receivers_of_one_spine_meet_on_the_uplink)
{
    fire_cluster_t fat = star;
    fire_network_t net;
    fire_path_t    a, b;

    fat.topology         = FIRE_FAT_TREE;
    fat.leaf             = 16;
    fat.oversubscription = 1;
    CHECK_OK(fire_network_init(&net, &fat, 48));
    fire_network_path(&net, 0, 16, &a);
    fire_network_path(&net, 1, 32, &b);
    CHECK_EQ(a.n, 4);
    CHECK_EQ(a.port[1], b.port[1]);
    CHECK(a.port[2] != b.port[2]);
    fire_network_path(&net, 1, 33, &b);
    CHECK(a.port[1] != b.port[1]);
    fire_network_path(&net, 1, 2, &b);
    CHECK_EQ(b.n, 2);
    fire_network_fini(&net);
}

TEST(a_codec_sends_fewer_bytes)
{
    const fire_algo_t  *ring;
    const fire_codec_t *fp16;
    float               arg;
    fire_coll_t         c = {
                .op = FIRE_ALLREDUCE, .size = 8, .grain = 16, .span = {0, 8 << 20}};
    fire_price_t full, half;

    CHECK_OK(fire_algo_find("ring", &ring));
    CHECK_OK(fire_codec_find("fp16", &fp16, &arg));
    CHECK_OK(fire_simulate(&star, ring, &c, NULL, &full));
    CHECK_OK(fire_simulate(&star, ring, &c, fp16, &half));
    CHECK_NEAR(half.bytes, full.bytes / 2, 1);
    CHECK_NEAR(half.seconds, full.seconds / 2, 0.01 * full.seconds);
}
