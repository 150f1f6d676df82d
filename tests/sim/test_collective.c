/* test_collective.c - prices of collectives: against times that SimGrid gives for the
 * real executor (bench/sim/table) and for a probe program with whole messages; on
 * topologies; and what costs besides. Links of 5 GB/s each way, 3 us a path. Tests
 * src/sim/collective.c, src/sim/collective_rounds.c, src/sim/traffic.c. */
#include "sim/collective.h"

#include "sim/cost_curve.h"
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

static fire_cluster_t fat_tree(double oversubscription)
{
    fire_cluster_t fat = star;

    strcpy(fat.name, "fat tree");
    fat.topology         = FIRE_FAT_TREE;
    fat.leaf             = 16;
    fat.oversubscription = oversubscription;
    return fat;
}

static fire_cluster_t torus_of_128(void)
{
    fire_cluster_t torus = star;

    strcpy(torus.name, "torus");
    torus.topology = FIRE_TORUS;
    torus.dims[0]  = 8;
    torus.dims[1] = torus.dims[2] = 4;
    return torus;
}

/* What SMPI gave; milliseconds. */
typedef struct row {
    int    ranks;
    double bytes, ps, tree, ring, rhd, multicolor;
} row_t;

static void check(const fire_cluster_t *m, const char *algo, const row_t *row,
                  double seconds, double want_ms, double within)
{
    if (fabs(1e3 * seconds / want_ms - 1) > within)
        test_fail(__FILE__, __LINE__,
                  "%s of %g bytes on %d of a %s: %g ms, SMPI gave %g", algo, row->bytes,
                  row->ranks, m->name, 1e3 * seconds, want_ms);
}

/* By the executor's own pieces. */
static void check_executor(const fire_cluster_t *m, const row_t *row, int nrow)
{
    static const char *names[] = {"ps", "tree", "ring", "rhd", "multicolor"};

    for (int i = 0; i < nrow; i++, row++) {
        const double want[] = {row->ps, row->tree, row->ring, row->rhd,
                               row->multicolor};

        for (int a = 0; a < 5; a++) {
            fire_mode_t  mode = {0};
            fire_price_t p;

            CHECK_OK(fire_algo_find(names[a], &mode.algo));
            CHECK_OK(fire_mode_simulate(m, &mode, row->ranks, row->bytes, &p));
            check(m, names[a], row, p.seconds, want[a], 0.02);
        }
    }
}

TEST(where_messages_mingle_the_executor_takes_as_long_as_in_simgrid)
{
    static const row_t table[] = {
        {2, 30e6, 6.51, 6.51, 6.05, 6.12, 6.06},
        {4, 54e6, 34.94, 22.61, 16.32, 16.34, 16.23},
        {8, 30e6, 44.87, 19.21, 10.71, 10.65, 11.10},
        {16, 54e6, 167.22, 45.37, 20.70, 20.43, 22.39},
        {32, 30e6, 189.25, 31.31, 12.56, 11.84, 13.17},
    };
    fire_cluster_t mingling = star, fat = fat_tree(1);

    mingling.mingle = fat.mingle = true;
    check_executor(&mingling, table, 5);
    check_executor(&fat, &table[4], 1);
}

TEST(whole_messages_that_follow_each_other_take_as_long_as_in_simgrid)
{
    static const row_t table[] = {
        {2, 30e6, 12.0, 12.01, 6.01, 6.01, 6.05},
        {8, 30e6, 84.0, 36.02, 10.54, 10.52, 10.80},
        {32, 54e6, 669.8, 108.03, 21.11, 20.96, 22.50},
        {128, 30e6, 1524.8, 84.05, 12.67, 11.95, 13.62},
    };

    for (int i = 0; i < 4; i++) {
        const row_t *r = &table[i];

#define PROBE(algo, piece, within)                                                 \
    check(&star, #algo, r, price(&star, #algo, r->ranks, r->bytes, piece).seconds, \
          r->algo, within)
        PROBE(ps, 0, 0.05);
        PROBE(tree, 0, 0.05);
        PROBE(ring, 0, 0.05);
        PROBE(rhd, 0, 0.05);
        PROBE(multicolor, 256 << 10, 0.1);
#undef PROBE
    }
}

/* Messages to receivers of one number meet on the way up: SimGrid takes 18.9 ms on 128,
 * where a star takes 13.6. */
TEST(colors_of_a_fat_tree_share_uplinks)
{
    fire_cluster_t fat = fat_tree(1);

    CHECK_NEAR(price(&fat, "multicolor", 128, 30e6, 256 << 10).seconds, 0.0189, 0.001);
    CHECK(price(&star, "multicolor", 128, 30e6, 256 << 10).seconds < 0.0137);
}

TEST(oversubscribed_uplinks_slow_down_who_crosses_them_with_much)
{
    fire_cluster_t fat = fat_tree(4);

    /* A ring crosses with one stream a leaf, halving-doubling with all of them. */
    CHECK(price(&fat, "ring", 64, 30e6, 0).seconds < 0.013);
    CHECK(price(&fat, "rhd", 64, 30e6, 0).seconds > 0.0125);
}

TEST(neighbours_of_a_ring_do_not_meet_on_a_torus_but_partners_of_rhd_do)
{
    fire_cluster_t     torus = torus_of_128();
    const fire_algo_t *ring;

    CHECK_NEAR(price(&torus, "ring", 128, 30e6, 0).seconds, 0.012, 0.001);
    CHECK_NEAR(price(&torus, "tree", 128, 30e6, 0).seconds, 0.084, 0.004);
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
    fire_cluster_t fat = fat_tree(1);
    fire_network_t net;
    fire_path_t    a, b;

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
