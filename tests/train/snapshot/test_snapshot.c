/* test_snapshot.c - snapshots on disk are complete or are known not to be. Tests
 * src/train/snapshot/. */
#include "train/snapshot/snapshot.h"
#include "run.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/load.h"

#define SOLVER                                                                        \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 30 snapshot: " \
    "10 snapshot_prefix: '%s/snap' "

/* Leaves snapshots of iterations 10, 20 and 30. */
static void train(const char *solver)
{
    run_net("tiny");
    run_train(&(run_t){.solver = solver, .workers = 1, .solve = true});
}

static void damage(const char *name, size_t from_end)
{
    char  *bytes;
    size_t n;

    CHECK_OK(fire_file_read(test_path(name), &bytes, &n));
    bytes[n - from_end] ^= 1;
    CHECK_OK(fire_file_write(test_path(name), bytes, n));
    fire_free(bytes);
}

static void check_newest(double since, const char *want)
{
    char *path;

    CHECK_OK(fire_snapshot_find(test_path("snap"), since, &path));
    if (want == NULL)
        CHECK(path == NULL);
    else
        CHECK_STR(path, test_path(want));
    fire_free(path);
}

TEST(the_newest_snapshot_is_the_one_of_the_highest_iteration)
{
    check_newest(0, NULL);
    train(SOLVER);
    check_newest(0, "snap_iter_30.solverstate");
    CHECK(remove(test_path("snap_iter_30.solverstate")) == 0);
    check_newest(0, "snap_iter_20.solverstate");
}

TEST(a_damaged_model_or_state_makes_the_one_before_the_newest)
{
    train(SOLVER);
    damage("snap_iter_30.caffemodel", 10);
    check_newest(0, "snap_iter_20.solverstate");
    damage("snap_iter_20.solverstate", 40);
    check_newest(0, "snap_iter_10.solverstate");
    CHECK(remove(test_path("snap_iter_10.caffemodel")) == 0);
    check_newest(0, NULL);
}

TEST(hdf5_snapshots_are_sealed_too)
{
#ifdef FIRE_HAVE_HDF5
    train(SOLVER "snapshot_format: HDF5");
    check_newest(0, "snap_iter_30.solverstate.h5");
    damage("snap_iter_30.caffemodel.h5", 200);
    check_newest(0, "snap_iter_20.solverstate.h5");
#endif
}

TEST(snapshots_of_an_older_run_are_told_from_new_ones)
{
    double now;

    train(SOLVER);
    usleep(50000); /* clocks of file systems tick slowly */
    CHECK_OK(fire_snapshot_now(test_path("snap"), &now));
    check_newest(now + 0.001, NULL);
    CHECK(utimensat(0, test_path("snap_iter_20.solverstate"), NULL, 0) == 0);
    check_newest(now, "snap_iter_20.solverstate");
    CHECK_FAILS(fire_snapshot_now(test_path("nowhere/snap"), &now), FIRE_ERR_IO,
                "nowhere/snap");
}

TEST(a_damaged_snapshot_is_not_resumed_from)
{
    Caffe__SolverState *state;
    char               *model;

    train(SOLVER);
    damage("snap_iter_30.caffemodel", 10);
    CHECK_FAILS(
        fire_snapshot_open(test_path("snap_iter_30.solverstate"), &state, &model),
        FIRE_ERR_PARSE, "damaged or was replaced");
}

TEST(a_snapshot_without_its_model_says_which_one_is_missing)
{
    Caffe__SolverState *state;
    char               *model;

    train(SOLVER);
    CHECK_EQ(unlink(test_path("snap_iter_30.caffemodel")), 0);
    CHECK_FAILS(
        fire_snapshot_open(test_path("snap_iter_30.solverstate"), &state, &model),
        FIRE_ERR_IO, "snap_iter_30.solverstate\" was written with, nor find it beside");
}
