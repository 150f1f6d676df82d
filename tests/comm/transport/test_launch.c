/* test_launch.c - what the environment of a launcher tells. */
#include <stdlib.h>

#include "comm/transport/cluster.h"
#include "test.h"

static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK",
                                    "MPI_LOCALNRANKS", "SLURM_NTASKS"};

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

/* srun sets it for programs that are no MPI jobs too. */
TEST(a_batch_system_alone_is_no_launcher)
{
    forget_launcher();
    setenv("SLURM_NTASKS", "4", 1);
    CHECK(!fire_cluster_launched());
    CHECK_EQ(fire_cluster_size(), 4);
    forget_launcher();
}
