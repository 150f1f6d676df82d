/* test_library.c - a program that trains through libfire (examples/c/train.c,
 * train_workers.c) makes the weights of `firecaffe train`: alone, on threads and under
 * mpirun. Tests src/api/trainer.c, src/api/comm.c. */
#include "training.h"

#define EXAMPLES FIRE_BUILD_DIR "/examples/"

static char want[65];

static void check_same(const char *what)
{
    if (strcmp(sha256_of("snap_iter_60.caffemodel"), want) != 0)
        test_fail(__FILE__, __LINE__, "%s: other bits", what);
}

/* The program's weights, in `want`. */
static void train_by_program(const char *flags)
{
    SH_OK(ENVIRONMENT "rm -f snap_*; firecaffe train --solver solver.prototxt %s",
          flags);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_60.caffemodel"));
}

/* The example on n processes, under each MPI that is here. */
static void check_processes(int n, const char *settings)
{
    const char *launchers[] = {open_mpi_launcher(), mpich_launcher()};

    if (launchers[0] == NULL && launchers[1] == NULL) test_skip("no MPI");
    for (int i = 0; i < 2; i++) {
        if (launchers[i] == NULL) continue;
        SH_OK(ENVIRONMENT "rm snap_*; %s -n %d " EXAMPLES
                          "train_workers solver.prototxt 0 %s",
              launchers[i], n, settings);
        check_same(launchers[i]);
    }
}

TEST(one_worker_trains_as_the_program_does)
{
    make_net(LENET, "");
    train_by_program("");
    SH_OK(ENVIRONMENT "rm snap_*; " EXAMPLES "train solver.prototxt");
    check_same("examples/train");
    SH_OK(ENVIRONMENT "rm snap_iter_60.*; " EXAMPLES
                      "train solver.prototxt snap_iter_31.solverstate");
    check_same("examples/train, from a snapshot");
}

TEST(workers_without_lanes_train_as_the_program_does)
{
    make_net(TEMPTING, "");
    train_by_program("--workers=2");
    SH_OK(ENVIRONMENT "rm snap_*; " EXAMPLES "train_workers solver.prototxt 2");
    check_same("2 threads");
    check_processes(2, "");
}

TEST(workers_with_lanes_train_as_one_does)
{
    make_net(TEMPTING, "");
    train_by_program("--lanes=8");
    for (int n = 1; n <= 4; n *= 2) {
        SH_OK(ENVIRONMENT "rm snap_*; " EXAMPLES
                          "train_workers solver.prototxt %d 'lanes: 8'",
              n);
        check_same("threads");
    }
    for (int n = 2; n <= 4; n *= 2)
        check_processes(n, "\"lanes: 8 bucket_mb: 0.02\"");
}

TEST(a_process_that_fails_ends_the_job_with_one_message)
{
    if (!has_mpi()) test_skip("no MPI");
    make_net(LENET, "");
    CHECK(sh(ENVIRONMENT "mpirun -n 2 " EXAMPLES
                         "train_workers solver.prototxt 0 'lanes: 1'") != 0);
    CHECK_HAS(ran.err, "error: 1 lanes cannot be shared by 2 workers");
}
