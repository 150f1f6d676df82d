/* test_memory.c - jobs that are killed go on from the state in shared memory, and lose no
 * more than its interval. Tests src/train/snapshot/memory.c and
 * src/train/snapshot/spread.c. */
#include "training.h"

#include <stdlib.h>

#define KEEPING TRAIN "--memory_snapshot=10 "

/* Rank processes of the supervisor $sup. */
#define RANKS_OF "$(ps -o pid= --ppid $(ps -o pid= --ppid $sup))"

/* The iteration that it goes on at is at most ten below the last one in the log. */
static const char check_loss[] =
    "awk '/Iteration [0-9]+ \\(/ { for (i = 1; i < NF; i++) if ($i == \"Iteration\") "
    "at = "
    "$(i + 1) } /Resuming from .dev.shm.firecaffe/ { n++; sub(/.*_iter_/, \"\"); "
    "sub(/\\..*/, \"\"); if (at - $0 > 10) { print at, $0; exit 1 } } "
    "END { exit n < 3 }' log";

static void make_training(void)
{
    make_net(TEMPTING, "");
    SH_OK("sed -i 's/max_iter: 60/max_iter: 2000/; s/snapshot: 31/snapshot: 100000/; "
          "s/display: 20/display: 1/' solver.prototxt");
}

TEST(a_killed_job_goes_on_from_memory_and_leaves_nothing_there)
{
    char want[65];

    if (!has_mpi()) test_skip("no MPI");
    make_training();
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_2000.caffemodel"));
    SH_OK("rm snap_*");
    SH_OK(ENVIRONMENT KEEPING
          "--workers=4 --launcher=mpirun --restarts=9 2>log & "
          "sup=$!; for i in 500 1000 1500; do "
          "while ! grep -q \"Iteration $i (\" log; do sleep 0.01; done; "
          "kill -9 $(echo " RANKS_OF " | tr ' ' '\\n' | shuf -n 1); "
          "done; wait $sup");
    CHECK_STR(sha256_of("snap_iter_2000.caffemodel"), want);
    SH_OK("%s", check_loss);
    SH_OK("dir=$(grep -o '/dev/shm/firecaffe[^/]*' log | head -1); test -n \"$dir\"; "
          "! test -e \"$dir\"");
    SH_OK("! ls snap.memory snap.lock 2>/dev/null");
}

TEST(a_job_whose_supervisor_is_killed_goes_on_from_memory)
{
    char want[65];

    if (!has_mpi()) test_skip("no MPI");
    make_training();
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_2000.caffemodel"));
    SH_OK("rm snap_*");
    SH_OK(ENVIRONMENT KEEPING "--workers=2 --launcher=mpirun --restarts=9 2>log & "
                              "sup=$!; while ! grep -q 'Iteration 200 (' log; do sleep "
                              "0.01; done; kill -9 $sup; ! wait $sup");
    SH_OK(ENVIRONMENT "timeout 100 mpirun -n 4 " KEEPING "--snapshot=auto 2>log");
    SH_OK("grep 'Resuming from /dev/shm/firecaffe' log");
    CHECK_STR(sha256_of("snap_iter_2000.caffemodel"), want);
}
