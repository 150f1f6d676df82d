/* test_bits.c - with --lanes 8 the model has the same SHA-256 on 1 to 8 workers,
 * threads or processes, whatever way gradients go, and after a kill. */
#include "training.h"

#include <stdlib.h>

#include "device/cpu/precision.h"

static const char *const modes[] = {
    "--comm=tree --overlap=thread",
    "--comm=rhd --overlap=poll",
    "--comm=rhd --overlap=off --update=sharded",
    "--comm=tree --overlap=thread --update=sharded",
    "--comm=tree --overlap=off",
    "--comm=rhd --overlap=thread",
    "--comm=rhd --overlap=off",
    "--comm=rhd --overlap=thread --update=sharded",
    "--comm=tree --overlap=off --update=sharded",
};
enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static char want[65]; /* what one worker makes */

static void train_alone(void)
{
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_60.caffemodel"));
}

static void check_same(const char *how, int workers, const char *mode)
{
    if (strcmp(sha256_of("snap_iter_60.caffemodel"), want) != 0)
        test_fail(__FILE__, __LINE__, "%d %s, %s: other bits", workers, how, mode);
}

static void check_threads(int workers, const char *mode)
{
    SH_OK(ENVIRONMENT "rm snap_*; " TRAIN "--workers=%d %s", workers, mode);
    check_same("threads", workers, mode);
}

static void check_processes(int workers, const char *mode)
{
    if (!has_mpi()) return;
    SH_OK(ENVIRONMENT "rm snap_*; mpirun -n %d " TRAIN "%s", workers, mode);
    check_same("processes", workers, mode);
}

/* Processes take their time to start: one mode with each number of them, and all modes
 * of all nets where FIRE_TEST_ALL is set. Sanitized, every mode has its turn with some
 * net and number of workers. */
static void check_net(net_kind_t kind)
{
    bool all       = getenv("FIRE_TEST_ALL") != NULL;
    int  turn      = 3 * (int)kind;
    int  processes = all ? MODES : 1;
    int  threads   = TEST_SANITIZED && !all ? 1 : all ? MODES : 4;

    make_net(kind, "");
    train_alone();
    for (int workers = 2; workers <= 8; workers++, turn++) {
        for (int k = 0; k < threads; k++)
            check_threads(workers, modes[(turn + k) % MODES]);
        for (int k = 0; k < processes; k++)
            check_processes(workers, modes[(3 * turn + (int)kind + k) % MODES]);
    }
}

TEST(lenet_has_the_same_bits_on_1_to_8_workers)
{
    check_net(LENET);
}

TEST(batchnorm_dropout_crops_and_shuffling_too)
{
    check_net(TEMPTING);
}

TEST(cifar10_quick_too)
{
    check_net(QUICK);
}

TEST(one_sided_messages_and_the_choice_of_auto_too)
{
    make_net(TEMPTING, "");
    train_alone();
    check_processes(4, "--comm=onesided");
    check_processes(4, "--comm=auto");
    check_processes(4, "--comm=hier --ranks_per_node=2");
    check_processes(3, "--comm=onesided");
    check_processes(5, "--comm=auto --lane_weights=1,2,1,3,1");
    check_processes(7, "--comm=hier --ranks_per_node=3");
}

/* Fast kernels share their work between threads. */
static void check_again(const char *how)
{
    SH_OK("rm -f snap_*; firecaffe train --solver solver.prototxt --threads=2 %s", how);
    snprintf(want, sizeof(want), "%s", sha256_of("snap_iter_60.caffemodel"));
    SH_OK("rm snap_*; firecaffe train --solver solver.prototxt --threads=2 %s", how);
    check_same("run again", 1, how);
}

TEST(two_threads_give_the_same_bits_every_time)
{
    for (net_kind_t kind = 0; kind < NET_KINDS; kind++) {
        make_net(kind, "");
        check_again("");
        if (fire_cpu_check_precision(FIRE_BF16) == FIRE_OK)
            check_again("--precision=bf16");
    }
}

/* Start on some workers, kill all of them when the snapshot of iteration 31 is there,
 * resume on others. */
static void check_killed(const char *first, const char *then)
{
    SH_OK(
        ENVIRONMENT
        "rm -f snap_*; command %s " TRAIN "& p=$!; "
        "while kill -0 $p && ! test -e snap_iter_31.solverstate; do sleep 0.01; done; "
        "kill -9 $(ps -o pid= --ppid $p) $p; wait $p; rm -f snap_iter_60*",
        first);
    SH_OK(ENVIRONMENT "%s " TRAIN "--snapshot=auto 2>log; grep 'Resuming from "
                      "snap_iter_31.solverstate' log",
          then);
    if (strcmp(sha256_of("snap_iter_60.caffemodel"), want) != 0)
        test_fail(__FILE__, __LINE__, "%s, then %s: other bits", first, then);
}

TEST(killed_and_resumed_on_another_number_of_workers_too)
{
    if (!has_mpi()) test_skip("no MPI");
    make_net(TEMPTING, "");
    train_alone();
    check_killed("mpirun -n 4", "mpirun -n 2");
    check_killed("mpirun -n 4", "mpirun -n 3");
    check_killed("mpirun -n 3", "mpirun -n 4");
    check_killed("", "mpirun -n 4");
}
