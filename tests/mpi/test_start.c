/* test_start.c - ranks that are stopped while MPI starts, and signals to those who start
 * them. Tests src/launch/. */
#include "training.h"

#include <stdlib.h>

/* FIRE_TEST_ALL: forty moments. */
static int moments(void)
{
    return getenv("FIRE_TEST_ALL") != NULL ? 40 : 3;
}

/* Stops a rank, the launcher or whatever runs below it at a moment between exec and the
 * tenth of a second in which training begins; the job must be as it was. */
TEST(a_process_stopped_at_any_moment_of_the_start_is_noticed)
{
    char want[65];

    if (!has_mpi()) test_skip("no MPI");
    make_net(TEMPTING, "");
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_60.caffemodel"));
    for (int i = 0; i < moments(); i++) {
        SH_OK(
            ENVIRONMENT
            "rm -f snap_*; " TRAIN "--workers=4 --launcher=mpirun --restarts=3 "
            "--deadline=8 2>log & sup=$!; sleep 0.%03d; "
            "down() { for p in $(ps -o pid= --ppid $1); do echo $p; down $p; done; }; "
            "victim=$(down $sup | shuf -n 1); test -n \"$victim\" && kill -STOP "
            "$victim; date +%%s >stopped; wait $sup",
            rand() % 900);
        SH_OK("test $(($(date +%%s) - $(cat stopped))) -lt 60");
        CHECK_STR(sha256_of("snap_iter_60.caffemodel"), want);
    }
}

/* mpirun reads no log any more from when it is asked to end: few lines, or the ranks wait
 * for it. */
TEST(sigterm_to_a_plain_mpirun_writes_a_snapshot)
{
    if (!has_mpi()) test_skip("no MPI");
    make_net(TEMPTING, "");
    SH_OK(
        "sed -i 's/max_iter: 60/max_iter: 1000000/; s/snapshot: 31/snapshot: 1000000/; "
        "s/display: 20/display: 1000/' solver.prototxt");
    SH_OK(ENVIRONMENT
          "timeout 60 mpirun --mca odls_base_sigkill_timeout 3 -n 2 " TRAIN
          "2>log & p=$!; while kill -0 $p && ! grep -q 'Iteration 0,' log; do sleep "
          "0.05; done; "
          "kill -TERM $(ps -o pid= --ppid $p); wait $p; ls snap_iter_*.solverstate");
}

TEST(sigterm_to_the_supervisor_writes_a_snapshot_and_ends_it)
{
    if (!has_mpi()) test_skip("no MPI");
    make_net(TEMPTING, "");
    SH_OK(
        "sed -i 's/max_iter: 60/max_iter: 1000000/; s/snapshot: 31/snapshot: 1000000/; "
        "s/display: 20/display: 1000/' solver.prototxt");
    SH_OK(ENVIRONMENT
          "timeout 60 " TRAIN "--workers=2 --launcher=mpirun --restarts=3 "
          "--sigint_effect=none 2>log & p=$!; "
          "while kill -0 $p && ! grep -q 'Iteration 0,' log; do sleep 0.05; done; "
          "kill -TERM $(ps -o pid= --ppid $p); wait $p; ls snap_iter_*.solverstate");
}
