/* test_retry.c - whatever fails while a snapshot is written: training goes on, and every
 * pair of files that is there is whole. */
#include "faults.h"
#include "run.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/message.h"
#include "train/snapshot/snapshot.h"

#define SOLVER                                                                        \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 30 snapshot: " \
    "10 snapshot_prefix: '%s/snap' "

enum { MOST_CALLS = 200 };

static const char *const solvers[] = {
    SOLVER,
#ifdef FIRE_HAVE_HDF5
    SOLVER "snapshot_format: HDF5 ",
#endif
};

static uint64_t train(const char *solver, int workers)
{
    glob_t old;

    CHECK_OK(fire_path_glob(test_path("snap"), "*", &old));
    for (size_t i = 0; i < old.gl_pathc; i++)
        unlink(old.gl_pathv[i]);
    globfree(&old);
    return run_train(&(run_t){.solver = solver, .workers = workers, .solve = true});
}

/* Every state opens and has its model, every model has its state, nothing else is
 * left, and the newest is the last. */
static void check_files(const char *what, int call)
{
    glob_t found;
    int    states = 0, models = 0;
    char  *newest;

    CHECK_OK(fire_path_glob(test_path("snap"), "*", &found));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        Caffe__SolverState *state;
        char               *model;

        if (strstr(found.gl_pathv[i], ".tmp.") != NULL)
            test_fail(__FILE__, __LINE__, "%s %d left %s", what, call,
                      found.gl_pathv[i]);
        models += strstr(found.gl_pathv[i], ".caffemodel") != NULL;
        if (strstr(found.gl_pathv[i], ".solverstate") == NULL) continue;
        if (fire_snapshot_open(found.gl_pathv[i], &state, &model) < 0)
            test_fail(__FILE__, __LINE__, "%s %d: %s", what, call, fire_last_error());
        fire_message_free(state);
        fire_free(model);
        states++;
    }
    globfree(&found);
    if (models != states)
        test_fail(__FILE__, __LINE__, "%s %d: %d models, %d states", what, call, models,
                  states);
    CHECK_OK(fire_snapshot_find(test_path("snap"), 0, &newest));
    CHECK(newest != NULL && strstr(newest, "_iter_30.solverstate") != NULL);
    fire_free(newest);
}

/* One fault at each call in turn, then bursts, until none is reached any more. */
static void fail_everywhere(const char *solver, int workers, int length)
{
    static const char *const names[FAULTS] = {"",      "open",  "write",  "short write",
                                              "fsync", "close", "rename", "directory"};
    uint64_t                 want;

    run_net("tiny");
    want = train(solver, workers);
    for (int kind = 1; kind < FAULTS; kind++) {
        int call = 1;

        for (bool reached = true; reached; call++) {
            CHECK(call < MOST_CALLS);
            faults_arm((fault_t)kind, call, call + length - 1);
            CHECK(train(solver, workers) == want);
            reached = faults_disarm();
            check_files(names[kind], call);
        }
        if (call < 7)
            test_fail(__FILE__, __LINE__, "only %d calls of %s", call - 2, names[kind]);
    }
}

TEST(a_snapshot_that_fails_at_any_call_costs_nothing)
{
    for (size_t i = 0; i < sizeof(solvers) / sizeof(solvers[0]); i++)
        fail_everywhere(solvers[i], 1, 1);
}

TEST(a_disk_that_is_full_for_a_while_costs_nothing)
{
    fail_everywhere(solvers[0], 2, 4);
}

TEST(a_snapshot_that_was_not_written_is_warned_of_and_tried_again)
{
    run_net("tiny");
    run_listen();
    faults_arm(FAULT_FSYNC, 1, 1);
    train(SOLVER, 2);
    CHECK(faults_disarm());
    CHECK(run_heard("no snapshot of iteration 10: cannot write \""));
    CHECK(run_heard("training goes on, the next try is at iteration 11"));
    CHECK(access(test_path("snap_iter_10.solverstate"), F_OK) != 0);
    CHECK(access(test_path("snap_iter_11.solverstate"), F_OK) == 0);
    CHECK(access(test_path("snap_iter_12.solverstate"), F_OK) != 0);
}
