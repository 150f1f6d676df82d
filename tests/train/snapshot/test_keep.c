/* test_keep.c - snapshots that are not wanted any more go, their models with them. Tests
 * src/train/snapshot/copy.c. */
#include <unistd.h>

#include "run.h"
#include "train/snapshot/snapshot.h"

static bool is_there(const char *kind, int iter)
{
    char name[64];

    snprintf(name, sizeof(name), "snap_iter_%d.%s", iter, kind);
    return access(test_path(name), F_OK) == 0;
}

TEST(the_newest_snapshots_are_kept)
{
    run_net("log");
    run_data(60, 1, 12);
    run_train(&(run_t){.solver  = "net: '%s/net.prototxt' base_lr: 0.0001 lr_policy: "
                                  "'fixed' max_iter: 20 snapshot: 4 snapshot_prefix: "
                                  "'%s/snap' fire { keep: 2 average: 'swa' }",
                       .workers = 1,
                       .solve   = true});
    for (int i = 4; i <= 20; i += 4) {
        CHECK_EQ(is_there("solverstate", i), i > 12);
        CHECK_EQ(is_there("caffemodel", i), i > 12);
        CHECK_EQ(is_there("average.caffemodel", i), i > 12);
    }
}

/* A run that began again at an earlier iteration does not remove what lies ahead. */
TEST(snapshots_of_later_iterations_stay)
{
    static const int iter[] = {10, 20, 30, 40};

    for (int i = 0; i < 4; i++) {
        char name[64];

        snprintf(name, sizeof(name), "snap_iter_%d.solverstate", iter[i]);
        run_file(name, "");
    }
    run_file("snap_iter_5.solverstate.bak", "");
    CHECK_OK(fire_snapshot_prune(test_path("snap"), 30, 1));
    CHECK(!is_there("solverstate", 10) && !is_there("solverstate", 20));
    CHECK(is_there("solverstate", 30) && is_there("solverstate", 40));
    CHECK(is_there("solverstate.bak", 5));
    CHECK_OK(fire_snapshot_prune(test_path("snap"), 30, 5));
    CHECK(is_there("solverstate", 30));
}
