/* A machine file made by measuring: it must be one that can be planned with. */
#include <unistd.h>
#include "plans.h"
#include "ranks.h"

static void measure(fire_comm_t *comm, void *path)
{
    CHECK_OK(fire_plan_measure(comm, 1, path));
}

TEST(a_measured_machine_can_be_loaded)
{
    const fire_comm_options_t options = FIRE_COMM_OPTIONS_INIT;
    char                      path[512];
    fire_cluster_t            c;

    snprintf(path, sizeof(path), "%s", test_path("here.json"));
    run_ranks(2, &options, measure, path);
    CHECK_OK(fire_cluster_load(path, &c));
    CHECK(c.compute.flops > 1e6 && c.compute.bandwidth > 1e6);
    CHECK(c.net.bandwidth > 1e6 && c.net.latency >= 0);
    CHECK_EQ(c.cores_each, 1);
    CHECK_EQ(c.cores, sysconf(_SC_NPROCESSORS_ONLN));
}
