/* test_comm.c - opening and closing communicators. */
#include "ranks.h"
#include "test.h"

#include "base/alloc.h"

/* Four ranks, two to a pretended node. */
static void check_nodes(fire_comm_t *c, void *arg)
{
    (void)arg;
    for (int r = 0; r < 4; r++)
        CHECK_EQ(fire_comm_node(c, r), r / 2);
    CHECK_EQ(fire_comm_size(c), 4);
    CHECK_STR(fire_comm_transport(c), "threads");
}

TEST(ranks_can_pretend_to_be_on_several_nodes)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

    o.ranks_per_node = 2;
    run_ranks(4, &o, check_nodes, NULL);
}

TEST(nothing_leaks_or_breaks_when_memory_runs_out)
{
    fire_team_t *team;
    fire_comm_t *c;
    int          fails = 0;

    for (int n = 1; n < 200; n++) {
        CHECK_OK(fire_team_create(1, &team));
        fire_alloc_fail_at(n);
        if (fire_comm_open_threads(team, 0, &FIRE_COMM_OPTIONS_INIT, &c) == FIRE_OK) {
            float x = 3;

            if (fire_comm_allreduce(c, "hier", &x, 1) < 0) fails++;
            fire_comm_close(c);
        } else {
            fails++;
        }
        fire_alloc_fail_at(0);
        fire_team_destroy(team);
    }
    CHECK(fails > 20 && fails < 190);
}
