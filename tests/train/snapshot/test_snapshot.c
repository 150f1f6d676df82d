/* test_snapshot.c - snapshots on disk are complete or are known not to be. Tests
 * src/train/snapshot/. */
#include "train/snapshot/snapshot.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
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

/* Flip each bit of a file in turn: none may be accepted. */
static void check_every_bit(const char *name)
{
    const char         *path = test_path(name);
    Caffe__SolverState *state;
    char               *model, *bytes;
    size_t              n;
    FILE               *f;

    CHECK_OK(fire_file_read(path, &bytes, &n));
    f = fopen(path, "r+b");
    CHECK(f != NULL);
    setbuf(f, NULL);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        char wrong = (char)(bytes[bit / 8] ^ 1 << bit % 8);

        fseek(f, (long)(bit / 8), SEEK_SET);
        CHECK(fwrite(&wrong, 1, 1, f) == 1);
        if (fire_snapshot_open(path, &state, &model) >= 0)
            test_fail(__FILE__, __LINE__, "bit %zu of %s does not matter", bit, name);
        fseek(f, (long)(bit / 8), SEEK_SET);
        CHECK(fwrite(bytes + bit / 8, 1, 1, f) == 1);
    }
    fclose(f);
    CHECK_OK(fire_snapshot_open(path, &state, &model));
    fire_message_free(state);
    fire_free(model);
    fire_free(bytes);
}

TEST(no_bit_of_a_state_can_change_unnoticed)
{
    train(SOLVER);
    check_every_bit("snap_iter_30.solverstate");
}

TEST(no_bit_of_an_hdf5_state_can_change_unnoticed)
{
#ifdef FIRE_HAVE_HDF5
    train(SOLVER "snapshot_format: HDF5");
    check_every_bit("snap_iter_30.solverstate.h5");
#endif
}

TEST(a_state_that_lost_its_end_is_damaged)
{
    Caffe__SolverState *state;
    char               *model;
    struct stat         info;

    train(SOLVER);
    CHECK_EQ(stat(test_path("snap_iter_30.solverstate"), &info), 0);
    CHECK_EQ(truncate(test_path("snap_iter_30.solverstate"), info.st_size - 6), 0);
    CHECK_FAILS(
        fire_snapshot_open(test_path("snap_iter_30.solverstate"), &state, &model),
        FIRE_ERR_PARSE, "its checksum is missing");
    check_newest(0, "snap_iter_20.solverstate");
}

/* Write NaN into the weights or the history of a snapshot, with right checksums. */
static void diverge(const char *name, bool in_history)
{
    Caffe__SolverState  *state;
    Caffe__NetParameter *net;
    char                *model;

    CHECK_OK(fire_snapshot_open(test_path(name), &state, &model));
    CHECK_OK(fire_net_param_load_weights(model, &net));
    if (in_history)
        state->history[0]->data[1] = INFINITY;
    else
        net->layer[1]->blobs[0]->data[0] = NAN;
    CHECK_OK(fire_net_param_save_weights(model, net));
    fire_message_clear_field(state->fire, "weights_sha256");
    CHECK_OK(fire_snapshot_seal(state, model));
    CHECK_OK(fire_solver_state_save(test_path(name), state));
    fire_message_free(state);
    fire_message_free(net);
    fire_free(model);
}

TEST(a_snapshot_that_is_not_finite_is_never_the_newest)
{
    train(SOLVER);
    diverge("snap_iter_30.solverstate", false);
    check_newest(0, "snap_iter_20.solverstate");
    diverge("snap_iter_20.solverstate", true);
    check_newest(0, "snap_iter_10.solverstate");
}
