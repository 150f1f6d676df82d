/* Several workers through the program: threads, and processes under mpirun. */
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt --quiet"
/* Of two Open MPI guards one is against root, one against more ranks than cores. */
#define MPIRUN                                                    \
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "  \
    "OMPI_MCA_rmaps_base_oversubscribe=1 OPENBLAS_NUM_THREADS=1 " \
    "mpirun -n "

static void need_mpi(void)
{
    if (!can_mpirun()) test_skip("no MPI");
}

TEST(two_threads_end_with_the_bytes_of_one_that_runs_two_lanes)
{
    make_training();
    SH_OK(TRAIN " --lanes=2 && mv snap_iter_20.caffemodel one.caffemodel");
    SH_OK(TRAIN " --workers 2 && cmp snap_iter_20.caffemodel one.caffemodel");
}

TEST(two_processes_end_with_the_bytes_of_one_that_runs_two_lanes)
{
    need_mpi();
    make_training();
    SH_OK(TRAIN " --lanes=2 && mv snap_iter_20.caffemodel one.caffemodel");
    SH_OK(MPIRUN "2 " TRAIN " && cmp snap_iter_20.caffemodel one.caffemodel");
}

TEST(a_run_of_processes_is_repeated_by_threads_to_the_last_bit)
{
    need_mpi();
    make_training();
    SH_OK(MPIRUN
          "2 " TRAIN " --run_dir run && firecaffe train --repeat run --quiet && "
          "cmp run/snap_iter_20.caffemodel run-repeated/snap_iter_20.caffemodel");
    SH_OK(TRAIN
          " --workers 4 --run_dir four && " MPIRUN
          "4 firecaffe train --repeat four --quiet && "
          "cmp four/snap_iter_20.caffemodel four-repeated/snap_iter_20.caffemodel");
}

TEST(processes_repeat_a_run_only_if_they_are_as_many)
{
    need_mpi();
    make_training();
    SH_OK(TRAIN " --workers 2 --run_dir run");
    CHECK(sh(MPIRUN "3 firecaffe train --repeat run --quiet 2>log") != 0);
    SH_OK("grep 'had 2 workers, 3 processes' log");
}

TEST(only_the_first_process_writes_a_log)
{
    need_mpi();
    make_training();
    SH_OK(MPIRUN "2 firecaffe train --solver solver.prototxt 2>log && "
                 "grep -c '] Iteration 10, lr = ' log");
    CHECK_STR(ran.out, "1\n");
}

TEST(what_fails_for_all_is_told_once)
{
    need_mpi();
    CHECK(sh(MPIRUN "3 firecaffe train --solver none.prototxt 2>log") != 0);
    SH_OK("grep -c 'firecaffe: error: .*none.prototxt' log");
    CHECK_STR(ran.out, "1\n");
}

TEST(a_batch_that_cannot_be_shared_is_refused)
{
    make_training();
    SH_FAILS("cannot be shared", TRAIN " --workers 3 --lanes=2");
    SH_FAILS("positive numbers with commas", TRAIN " --lane_weights=3,many");
    SH_FAILS("cannot be shared", TRAIN " --workers 16");
    SH_FAILS("must be 1 to", TRAIN " --workers 0");
}

TEST(a_missing_table_is_a_mistake_and_no_reason_to_try_again)
{
    make_training();
    SH_FAILS("cannot open \"missing\"", TRAIN " --workers 2 --tuning missing");
    SH_FAILS("cannot open \"missing\"", TRAIN " --workers 4 --tuning missing");
}

TEST(a_setting_with_a_wrong_value_is_refused)
{
    make_training();
    SH_FAILS("lanes", TRAIN " --lanes=many");
    SH_FAILS("smoke", TRAIN " --workers 2 --comm=smoke");
}

/* Looks at a training's threads until they are bound, ten seconds at most; a sanitizer has
 * one of its own, which is not. */
TEST(workers_that_take_all_cores_have_cores_of_their_own)
{
    if (sh("taskset -c 0,1 true") != 0) test_skip("not two cores");
    make_training();
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 1000000");
    SH_OK("taskset -c 0,1 " TRAIN " --workers 2 --threads 1 & train=$!\n"
          "for i in $(seq 100); do sleep 0.1\n"
          "  seen=$(cat /proc/$train/task/*/status | "
          "awk '/Cpus_allowed_list/ && $2 != \"0-1\" {print $2}' | sort -u | xargs)\n"
          "  [ \"$seen\" != '0 1' ] || break\n"
          "done; kill -9 $train; echo $seen");
    CHECK_STR(ran.out, "0 1\n");
}
