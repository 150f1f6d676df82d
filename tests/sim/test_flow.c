/* test_flow.c - max-min fair shares of ports. */
#include "sim/flow.h"
#include "test.h"

static const fire_cluster_t star = {
    .topology = FIRE_STAR,
    .per_node = 1,
    .node     = {3e-6, 5e9, 0, 1e15},
    .net      = {3e-6, 5e9, 0, 1e15},
};

/* 0 sends to 1 and 2, and 3 to 2: the receiver 2 halves its port, and what 0 cannot
 * send there is left for 1. With a second message to 1, these two share half of the
 * card. */
TEST(what_a_flow_cannot_use_is_left_to_others)
{
    static const int way[3][2] = {{0, 1}, {0, 2}, {3, 2}};
    fire_cluster_t   slow      = star;
    fire_network_t   net;
    fire_flows_t     f;
    fire_path_t      path;

    slow.net.bandwidth = 12;
    CHECK_OK(fire_network_init(&net, &slow, 4));
    CHECK_OK(fire_flows_init(&f, &net, 3, 6));
    for (int i = 0; i < 3; i++) {
        fire_network_path(&net, way[i][0], way[i][1], &path);
        fire_flows_add(&f, &path);
        fire_flows_join(&f, i);
    }
    fire_flows_settle(&f, 0);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(f.flow[i].rate, 6, 1e-9);
    fire_flows_forget(&f);
    fire_flows_join(&f, 0);
    fire_flows_settle(&f, 1);
    CHECK_NEAR(f.flow[0].rate, 4, 0.02);
    CHECK_NEAR(f.flow[1].rate, 4, 0.02);
    CHECK_NEAR(f.flow[2].rate, 8, 0.02);
    CHECK_NEAR(f.flow[2].given, 6, 1e-9);
    fire_flows_leave(&f, 1);
    fire_flows_settle(&f, 2);
    CHECK_NEAR(f.flow[0].rate, 6, 0.02);
    CHECK_NEAR(f.flow[2].rate, 12, 0.02);
    fire_flows_fini(&f);
    fire_network_fini(&net);
}
