/* launch.c - was this process started by an MPI launcher, and whose? Answers from
 * environment variables, because MPI_Init() must not be called without a launcher. */
#include <stdlib.h>

#include "comm/transport/cluster.h"

/* Set by launchers in every process that they start. Hydra is the launcher of MPICH and
 * its kin; srun's interfaces serve both kinds of library, depending on how they were
 * built. */
static const struct {
    const char     *name;
    fire_mpi_kind_t first;
    bool            only; /* no other library understands this launcher */
} marks[] = {
    {"OMPI_COMM_WORLD_SIZE", FIRE_OPEN_MPI, true}, /* Open MPI's mpirun */
    {"MPI_LOCALNRANKS", FIRE_MPICH, true},         /* Hydra */
    {"PMI_SIZE", FIRE_MPICH, false},               /* srun --mpi=pmi2 */
    {"PMIX_RANK", FIRE_OPEN_MPI, false},           /* srun --mpi=pmix */
};

enum { MARKS = sizeof(marks) / sizeof(marks[0]) };

static int find_mark(void)
{
    int i = 0;

    while (i < MARKS && getenv(marks[i].name) == NULL)
        i++;
    return i;
}

bool fire_cluster_launched(void)
{
    return find_mark() < MARKS;
}

int fire_cluster_kinds(fire_mpi_kind_t kind_p[FIRE_MPI_KINDS], const char **mark_p)
{
    int i = find_mark();

    *mark_p   = i < MARKS ? marks[i].name : NULL;
    kind_p[0] = i < MARKS ? marks[i].first : FIRE_OPEN_MPI;
    kind_p[1] = kind_p[0] == FIRE_OPEN_MPI ? FIRE_MPICH : FIRE_OPEN_MPI;
    return i < MARKS && marks[i].only ? 1 : FIRE_MPI_KINDS;
}

int fire_cluster_size(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (getenv(sizes[i]) != NULL) return atoi(getenv(sizes[i]));
    return 0;
}
