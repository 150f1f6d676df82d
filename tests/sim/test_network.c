/* test_network.c - the ports on the way of a message. */
#include "sim/network.h"
#include "test.h"

static fire_cluster_t cluster(fire_topology_t topology)
{
    return (fire_cluster_t){.name             = "test",
                            .topology         = topology,
                            .leaf             = 4,
                            .oversubscription = 2,
                            .dims             = {4, 2, 1},
                            .per_node         = 1,
                            .node             = {.bandwidth = 7},
                            .net              = {.bandwidth = 5}};
}

static fire_path_t path_of(const fire_cluster_t *c, int ranks, int from, int to)
{
    fire_network_t net;
    fire_path_t    p;

    CHECK_OK(fire_network_init(&net, c, ranks));
    fire_network_path(&net, from, to, &p);
    for (int i = 0; i < p.n; i++)
        CHECK(p.port[i] >= 0 && p.port[i] < net.nport);
    fire_network_fini(&net);
    return p;
}

TEST(a_star_is_passed_by_two_cards)
{
    fire_cluster_t c = cluster(FIRE_STAR);
    fire_path_t    p = path_of(&c, 8, 3, 6);

    CHECK_EQ(p.n, 2);
    CHECK_EQ(p.port[0], 2 * 3);
    CHECK_EQ(p.port[1], 2 * 6 + 1);
    CHECK(p.wire == &c.net && !p.lent);
}

TEST(workers_of_a_node_do_not_use_its_card)
{
    fire_cluster_t c = cluster(FIRE_STAR);
    fire_path_t    p;

    c.per_node = 2;
    c.shared   = true;
    p          = path_of(&c, 8, 4, 5);
    CHECK_EQ(p.n, 2);
    CHECK(p.port[0] >= 2 * 4 && p.port[1] >= 2 * 4); /* cards of 4 nodes come first */
    CHECK(p.wire == &c.node && p.lent);
    CHECK_EQ(path_of(&c, 8, 0, 7).port[1], 2 * 3 + 1);
}

TEST(a_fat_tree_has_uplinks_that_the_receiver_chooses)
{
    fire_cluster_t c = cluster(FIRE_FAT_TREE); /* two uplinks per leaf */

    CHECK_EQ(path_of(&c, 8, 0, 3).n, 2);
    CHECK_EQ(path_of(&c, 8, 0, 5).n, 4);
    CHECK_EQ(path_of(&c, 8, 0, 5).port[1], path_of(&c, 8, 1, 7).port[1]);
    CHECK(path_of(&c, 8, 0, 5).port[1] != path_of(&c, 8, 1, 6).port[1]);
}

TEST(a_torus_goes_the_shorter_way_in_each_dimension)
{
    fire_cluster_t c = cluster(FIRE_TORUS); /* 4 x 2 */

    CHECK_EQ(path_of(&c, 8, 0, 1).n, 3);
    CHECK_EQ(path_of(&c, 8, 0, 3).n, 3); /* backward */
    CHECK_EQ(path_of(&c, 8, 0, 2).n, 4);
    CHECK_EQ(path_of(&c, 8, 0, 6).n, 5); /* two in x, one in y */
}

TEST(too_many_nodes_for_a_torus_are_refused)
{
    fire_cluster_t c = cluster(FIRE_TORUS);
    fire_network_t net;

    CHECK_FAILS(fire_network_init(&net, &c, 9), FIRE_ERR_INVALID, "9 nodes do not fit");
}
