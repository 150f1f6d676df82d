/* test_launch.c - what the environment of a launcher tells. */
#include <stdlib.h>

#include "comm/transport/cluster.h"
#include "test.h"

static const char *const marks[] = {
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",    "PMIX_RANK", "MPI_LOCALNRANKS",
    "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"};

static void forget_launcher(void)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        unsetenv(marks[i]);
}

TEST(a_process_without_a_launcher_is_no_job)
{
    forget_launcher();
    CHECK(!fire_cluster_launched());
    CHECK_EQ(fire_cluster_size(), 0);
}

TEST(launchers_are_known_by_their_variables)
{
    for (size_t i = 0; i < 4; i++) {
        forget_launcher();
        setenv(marks[i], "6", 1);
        CHECK(fire_cluster_launched());
    }
    forget_launcher();
    setenv("PMI_SIZE", "6", 1);
    CHECK_EQ(fire_cluster_size(), 6);
    forget_launcher();
}

static void check_kinds(const char *mark, int n, fire_mpi_kind_t first)
{
    fire_mpi_kind_t kind[FIRE_MPI_KINDS];
    const char     *seen;

    if (mark != NULL) setenv(mark, "2", 1);
    CHECK_EQ(fire_cluster_kinds(kind, &seen), n);
    CHECK_EQ(kind[0], first);
    CHECK(n == 1 || kind[1] != first);
    if (mark != NULL) CHECK_STR(seen, mark);
}

/* Each of these sets the variables of those before it too, or srun around it does. */
TEST(a_launcher_tells_which_mpi_library_fits)
{
    forget_launcher();
    check_kinds(NULL, 2, FIRE_OPEN_MPI);
    check_kinds("PMIX_RANK", 2, FIRE_OPEN_MPI);
    check_kinds("PMI_SIZE", 2, FIRE_MPICH);
    check_kinds("MPI_LOCALNRANKS", 1, FIRE_MPICH);
    check_kinds("OMPI_COMM_WORLD_SIZE", 1, FIRE_OPEN_MPI);
    forget_launcher();
}

/* srun sets it for programs that are no MPI jobs too. */
TEST(a_batch_system_alone_is_no_launcher)
{
    forget_launcher();
    setenv("SLURM_NTASKS", "4", 1);
    CHECK(!fire_cluster_launched());
    CHECK_EQ(fire_cluster_size(), 4);
    setenv("SLURM_STEP_NUM_TASKS", "3", 1); /* srun -n 3 in a job of four */
    CHECK_EQ(fire_cluster_size(), 3);
    forget_launcher();
}
