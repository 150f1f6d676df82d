/* launch.c - was this process started by an MPI launcher? Answers from environment
 * variables, because MPI_Init() must not be called without a launcher. */
#include <stdlib.h>

#include "comm/transport/cluster.h"

#ifndef FIRE_HAVE_MPI
void fire_cluster_library(char *text, size_t size)
{
    if (size > 0) text[0] = '\0';
}
#endif

bool fire_cluster_launched(void)
{
    /* Open MPI, MPICH and its kin (also under srun --mpi=pmi2), PMIx. */
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK",
                                        "MPI_LOCALNRANKS"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (getenv(marks[i]) != NULL) return true;
    return false;
}

int fire_cluster_size(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "SLURM_NTASKS"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (getenv(marks[i]) != NULL) return atoi(getenv(marks[i]));
    return 0;
}
