/* test_kill.c - workers that are killed or stopped. A training that may restart ends
 * with the bits of an undisturbed one, and never leaves half a snapshot. */
#include "training.h"

#include <glob.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/message.h"
#include "train/snapshot/snapshot.h"

enum { KILLS = 20 };

/* Processes: the supervisor, its mpirun, the ranks. */
#define RANKS_OF "$(ps -o pid= --ppid $(ps -o pid= --ppid $sup))"

/* after TEXT: sleep until the log of $sup has one more line with it, and a random
 * moment of up to 9 ms longer; kill_one: any rank. */
#define SHELL_FUNCTIONS                                                       \
    "after() { was=$(grep -c \"$1\" log); while kill -0 $sup 2>/dev/null && " \
    "test $(grep -c \"$1\" log) -le $was; do sleep 0.005; done; "             \
    "sleep 0.00$(shuf -i 0-9 -n 1); }; "                                      \
    "kill_one() { victim=$(echo " RANKS_OF " | tr ' ' '\\n' | shuf -n 1); "   \
    "test -n \"$victim\" && kill -9 $victim 2>/dev/null; }; "

/* In a test, while a snapshot is written, and twice in between: in backward or in an
 * exchange. */
static const char kill_at_all_moments[] =
    "n=0; while test $n -lt $KILLS && kill -0 $sup 2>/dev/null; do "
    "case $((n % 4)) in 0) after 'Testing net';; 1) after Snapshotting;; "
    "*) after 'Iteration .* lr';; esac; "
    "kill_one && n=$((n + 1)); done; echo $n >kills; ";

static void check_all_snapshots_are_whole(void)
{
    char   pattern[1024];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/snap_iter_*.solverstate", test_tmpdir());
    CHECK(glob(pattern, 0, NULL, &found) == 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        Caffe__SolverState *state;
        char               *model;

        CHECK_OK(fire_snapshot_open(found.gl_pathv[i], &state, &model));
        fire_message_free(state);
        fire_free(model);
    }
    globfree(&found);
    SH_OK("! ls snap_*.tmp.* 2>/dev/null");
}

static void make_training(void)
{
    make_net(TEMPTING, "");
    SH_OK("sed -i 's/max_iter: 60/max_iter: 1500 test_iter: 40 test_interval: 100/; "
          "s/snapshot: 31/snapshot: 25/' solver.prototxt");
}

TEST(killed_twenty_times_it_ends_with_the_bits_of_an_undisturbed_run)
{
    char want[65];

    if (!has_mpi()) test_skip("no MPI");
    make_training();
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_1500.caffemodel"));
    SH_OK(ENVIRONMENT SHELL_FUNCTIONS "rm snap_*; KILLS=%d; : >log; " TRAIN
                                      "--workers=4 --launcher=mpirun "
                                      "--restarts=100 2>log & sup=$!; %s wait $sup",
          KILLS, kill_at_all_moments);
    CHECK_STR(sha256_of("snap_iter_1500.caffemodel"), want);
    check_all_snapshots_are_whole();
    SH_OK("cat kills; test $(grep -c 'Training broke off' log) -gt 0");
    if (atoi(ran.out) < KILLS / 2)
        test_fail(__FILE__, __LINE__, "it ended after %s kills: too fast", ran.out);
}

/* Whatever it was doing: tested, wrote a snapshot, computed. */
TEST(without_restarts_a_kill_ends_the_job_and_the_user_goes_on)
{
    static const char *const moments[] = {"Testing net", "Snapshotting",
                                          "Iteration .* lr"};
    char                     want[65];

    if (!has_mpi()) test_skip("no MPI");
    make_training();
    SH_OK("sed -i 's/max_iter: 1500/max_iter: 400/' solver.prototxt");
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_400.caffemodel"));
    SH_OK("rm snap_*");
    for (int i = 0; i < 3; i++) {
        SH_OK(ENVIRONMENT SHELL_FUNCTIONS
              ": >log; timeout 60 mpirun -n 4 " TRAIN "--snapshot=auto 2>log & sup=$!; "
              "after 'Iteration .* lr'; after '%s'; kill_one; date +%%s >killed; "
              "wait $sup; test $? -eq 137",
              moments[i]);
        SH_OK("test $(($(date +%%s) - $(cat killed))) -lt 15");
    }
    SH_OK(ENVIRONMENT "mpirun -n 2 " TRAIN "--snapshot=auto");
    CHECK_STR(sha256_of("snap_iter_400.caffemodel"), want);
    check_all_snapshots_are_whole();
}

TEST(a_stopped_rank_is_named_and_ends_the_job_at_the_deadline)
{
    if (!has_mpi()) test_skip("no MPI");
    make_net(TEMPTING, "");
    SH_OK("sed -i 's/max_iter: 60/max_iter: 100000/' solver.prototxt");
    SH_OK(ENVIRONMENT
          "timeout 60 mpirun -n 4 " TRAIN "--deadline=3 2>log & p=$!; "
          "while kill -0 $p && ! grep -q 'Iteration 20,' log; do sleep 0.05; done; "
          "kill -STOP $(ps -o pid= --ppid $(ps -o pid= --ppid $p) | tail -1); "
          "wait $p; test $? -eq 75");
    SH_OK("grep 'no word from rank 3 (.*) for [0-9.]* s; giving up after 3 s' log");
    SH_OK("grep 'firecaffe: error: rank [0-9].*: no word from rank 3 (' log");
}

TEST(fewer_workers_go_on_where_so_many_cannot)
{
    char want[65];

    if (!has_mpi()) test_skip("no MPI");
    make_net(TEMPTING, "");
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_60.caffemodel"));
    /* A launcher that cannot start four. */
    write_file("few",
               "#!/bin/sh\n[ \"$2\" -gt 2 ] && kill -9 $$\nexec mpirun \"$@\"\n");
    SH_OK(ENVIRONMENT "chmod +x few; rm snap_*; " TRAIN "--workers=4 --launcher=./few "
                      "--restarts=3 --least_workers=2 2>log");
    SH_OK("grep 'Going on with 2 workers' log");
    CHECK_STR(sha256_of("snap_iter_60.caffemodel"), want);
}

TEST(a_mistake_is_not_tried_again)
{
    make_net(TEMPTING, "");
    SH_OK("rm -r db");
    CHECK(sh(ENVIRONMENT TRAIN "--workers=2 --restarts=5 2>log") == 1);
    SH_OK("grep -c 'firecaffe: error' log; ! grep 'restart' log");
    CHECK_STR(ran.out, "1\n");
}
