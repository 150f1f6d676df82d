/* What the wires between ranks are like. */
#include "comm/measure/probe.h"

#include "ranks.h"
#include "test.h"

static void check_wire(const fire_wire_probe_t *w, bool found)
{
    CHECK_EQ(w->found, found);
    if (!found) return;
    CHECK(w->latency > 0 && w->latency < 1);
    CHECK(w->bandwidth > 1e6);
    CHECK(w->reduce > 1e6);
}

static void probe(fire_comm_t *c, void *arg)
{
    const int   *nodes = arg;
    fire_probe_t p;

    CHECK_OK(fire_comm_probe(c, 1 << 16, &p));
    CHECK_EQ(p.nodes, *nodes);
    CHECK_EQ(p.per_node, fire_comm_size(c) / *nodes);
    check_wire(&p.node, p.per_node > 1);
    check_wire(&p.net, *nodes > 1);
}

TEST(wires_inside_of_a_node_and_between_nodes_are_measured)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

    run_ranks(3, &o, probe, &(int){1});
    o.ranks_per_node = 1;
    run_ranks(2, &o, probe, &(int){2});
    o.ranks_per_node = 2;
    run_ranks(4, &o, probe, &(int){2});
}
