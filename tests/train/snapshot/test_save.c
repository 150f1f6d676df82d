/* test_save.c - snapshots are written while training goes on, and hold the moment at which
 * they were due. Whatever fails meanwhile: training goes on, and every pair of files that
 * is there is whole. Tests src/train/snapshot/save.c, src/train/snapshot/copy.c and
 * src/train/snapshot/saver.c. */
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

static int count_between(int first, int last)
{
    char name[64];
    int  n = 0;

    for (int i = first; i <= last; i++) {
        snprintf(name, sizeof(name), "snap_iter_%d.solverstate", i);
        n += access(test_path(name), F_OK) == 0;
    }
    return n;
}

static fire_status_t take_time(fire_trainer_t *t)
{
    (void)t;
    usleep(20000);
    return FIRE_OK;
}

TEST(a_snapshot_that_was_not_written_is_warned_of_and_tried_again)
{
    run_net("tiny");
    run_listen();
    faults_arm(FAULT_FSYNC, 1, 1);
    run_train(
        &(run_t){.solver = SOLVER, .workers = 2, .solve = true, .before = take_time});
    CHECK(faults_disarm());
    CHECK(run_heard("no snapshot of iteration 10: cannot write \""));
    CHECK(run_heard("training goes on, the next try is at iteration 1"));
    CHECK(access(test_path("snap_iter_10.solverstate"), F_OK) != 0);
    CHECK_EQ(count_between(11, 19), 1);
}

/* ---- beside training ---- */

#define LAST                                                                          \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 10 momentum: " \
    "0.9 snapshot_prefix: '%s/snap' "

static void check_same(const char *a, const char *b)
{
    char  *x, *y;
    size_t n, m;

    CHECK_OK(fire_file_read(test_path(a), &x, &n));
    CHECK_OK(fire_file_read(test_path(b), &y, &m));
    if (n != m || memcmp(x, y, n) != 0)
        test_fail(__FILE__, __LINE__, "%s and %s differ", a, b);
    fire_free(x);
    fire_free(y);
}

static void move(const char *from, const char *to)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s", test_path(from));
    CHECK(rename(path, test_path(to)) == 0);
}

static int late; /* iterations that began while a snapshot was being written */

static fire_status_t count_late(fire_trainer_t *t)
{
    late += t->saver.copy != NULL;
    return FIRE_OK;
}

/* Against that of a training that ends there, for which training waits. Each write takes
 * 30 ms, in which many iterations change the weights. */
static void check_as_of_10(const char *extra, int workers)
{
    char solver[1024];

    snprintf(solver, sizeof(solver), SOLVER "momentum: 0.9 %s", "%s", "%s", extra);
    run_net("tiny");
    late = 0;
    faults_slow(30000);
    CHECK(run_train(&(run_t){.solver  = solver,
                             .workers = workers,
                             .solve   = true,
                             .before  = count_late}) != 0);
    faults_slow(0);
    CHECK(late > 0);
    move("snap_iter_10.caffemodel", "beside.caffemodel");
    move("snap_iter_10.solverstate", "beside.solverstate");
    snprintf(solver, sizeof(solver), LAST "%s", "%s", "%s", extra);
    run_train(&(run_t){.solver = solver, .workers = workers, .solve = true});
    check_same("snap_iter_10.caffemodel", "beside.caffemodel");
    check_same("snap_iter_10.solverstate", "beside.solverstate");
}

TEST(a_snapshot_beside_training_is_that_of_its_iteration)
{
    check_as_of_10("", 1);
    check_as_of_10("", 2);
}

TEST(so_it_is_with_shards_and_means)
{
    check_as_of_10("fire { update: 'sharded' }", 2);
    check_as_of_10("fire { average: 'ema' }", 2);
    check_as_of_10("fire { compress: '1bit' compress_from: 0 }", 2);
}

/* Two arrays of 12 million numbers: more than is waited for. */
TEST(a_slow_disk_costs_snapshots_but_not_the_last_one)
{
    run_net_with("tiny", "num_output: 3 ", "num_output: 2000000 ");
    run_listen();
    faults_slow(150000);
    run_train(&(run_t){.solver  = "net: '%s/net.prototxt' base_lr: 0.0001 lr_policy: "
                                  "'fixed' max_iter: 12 snapshot: 3 snapshot_prefix: "
                                  "'%s/snap' momentum: 0.9",
                       .workers = 2,
                       .solve   = true});
    faults_slow(0);
    CHECK(run_heard("no snapshot of iteration 6: that of iteration 3 is still being "
                    "written, since "));
    CHECK(access(test_path("snap_iter_3.solverstate"), F_OK) == 0);
    CHECK(access(test_path("snap_iter_6.solverstate"), F_OK) != 0);
    CHECK(access(test_path("snap_iter_12.solverstate"), F_OK) == 0);
}

TEST(training_ends_when_snapshot_patience_does)
{
    run_net("tiny");
    faults_arm(FAULT_WRITE, 1, 1000000);
    run_train(&(run_t){.solver  = SOLVER "fire { snapshot_patience: 0.1 }",
                       .workers = 2,
                       .solve   = true,
                       .before  = take_time});
    CHECK(faults_disarm());
    CHECK(strstr(run_errors[0], "no snapshot could be written for ") != NULL);
    CHECK(strstr(run_errors[0], "(snapshot_patience is 0.1 s)") != NULL);
}

/* Workers talk about a snapshot only when no updates are under way: both would take
 * messages from the same place. */
TEST(snapshots_after_each_iteration_do_not_disturb_the_exchange)
{
    run_net("six");
    run_train(&(run_t){.solver  = "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: "
                                  "'fixed' max_iter: 400 snapshot: 1 snapshot_prefix: "
                                  "'%s/snap' fire { bucket_mb: 0.0001 deadline: 3 keep: "
                                  "2 overlap: 'thread' memory_snapshot: 1 }",
                       .workers = 4,
                       .timeout = 3,
                       .solve   = true});
}
