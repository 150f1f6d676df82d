/* job_mpi.c - starts and ends MPI, and finds out which ranks share a node. */
#include "comm/transport/job_mpi.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/transport/cluster.h"

fire_status_t fire_mpi_status(int code, const char *call, const char *file, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int  len;

    if (code == MPI_SUCCESS) return FIRE_OK;
    MPI_Error_string(code, text, &len);
    fire_error_set(FIRE_ERR_COMM, file, line, "%.*s: %s", (int)strcspn(call, "("), call,
                   text);
    return FIRE_ERR_COMM;
}

/* "Open MPI v4.1.4" or "MPICH Version: 4.0.2": the library's text up to its details. */
void fire_cluster_library(char *text, size_t size)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int  n;

    if (MPI_Get_library_version(all, &n) != MPI_SUCCESS) all[0] = '\0';
    for (char *c = all; *c != '\0'; c++)
        if (*c == '\t') *c = ' ';
    snprintf(text, size, "%.*s", (int)strcspn(all, ",\n"), all);
}

static fire_status_t start_mpi(fire_job_t *job, int threads)
{
    int done, level;

    FIRE_TRY(FIRE_MPI(MPI_Finalized(&done)));
    if (done) return FIRE_FAIL(FIRE_ERR_COMM, "MPI has already ended in this process");
    FIRE_TRY(FIRE_MPI(MPI_Initialized(&done)));
    if (done) return FIRE_OK;
    FIRE_TRY(FIRE_MPI(MPI_Init_thread(NULL, NULL, threads, &level)));
    job->started = true;
    return FIRE_OK;
}

fire_status_t fire_job_dup(const fire_job_t *job, MPI_Comm *comm_p)
{
    FIRE_TRY(FIRE_MPI(MPI_Comm_dup(job->world, comm_p)));
    return FIRE_MPI(MPI_Comm_set_errhandler(*comm_p, MPI_ERRORS_RETURN));
}

/* At first a node is identified by its lowest rank, which its processes broadcast; all
 * ranks gather these numbers and replace them by 0, 1, 2 ... */
static fire_status_t find_nodes(fire_job_t *job)
{
    int first = job->rank, mine, nodes = 0;

    FIRE_TRY(FIRE_MPI(MPI_Comm_split_type(job->world, MPI_COMM_TYPE_SHARED, 0,
                                          MPI_INFO_NULL, &job->node)));
    FIRE_TRY(FIRE_MPI(MPI_Comm_set_errhandler(job->node, MPI_ERRORS_RETURN)));
    FIRE_TRY(FIRE_MPI(MPI_Comm_size(job->node, &job->node_size)));
    FIRE_TRY(FIRE_MPI(MPI_Bcast(&first, 1, MPI_INT, 0, job->node)));
    FIRE_TRY(FIRE_NEW(&job->node_of, job->size));
    FIRE_TRY(FIRE_NEW(&job->node_rank, job->size));
    FIRE_TRY(FIRE_MPI(
        MPI_Allgather(&first, 1, MPI_INT, job->node_of, 1, MPI_INT, job->world)));
    mine = 0;
    for (int r = 0; r < job->size; r++) {
        bool leads = job->node_of[r] == r;

        job->node_rank[r] = job->node_of[r] == first ? mine++ : -1;
        job->node_of[r]   = leads ? nodes++ : job->node_of[job->node_of[r]];
    }
    return FIRE_OK;
}

fire_status_t fire_job_open(fire_job_t *job, int threads)
{
    *job = (fire_job_t){.world = MPI_COMM_WORLD, .node = MPI_COMM_NULL};
    FIRE_TRY(start_mpi(job, threads));
    FIRE_TRY(fire_job_dup(job, &job->world));
    FIRE_TRY(FIRE_MPI(MPI_Comm_rank(job->world, &job->rank)));
    FIRE_TRY(FIRE_MPI(MPI_Comm_size(job->world, &job->size)));
    return find_nodes(job);
}

void fire_job_close(fire_job_t *job, bool broken)
{
    while (job->shares != NULL && !broken)
        fire_share_free(job, job->shares->base);
    if (job->node != MPI_COMM_NULL && !broken) MPI_Comm_free(&job->node);
    if (job->world != MPI_COMM_WORLD && !broken) MPI_Comm_free(&job->world);
    fire_free(job->node_of);
    fire_free(job->node_rank);
    if (job->started && !broken) MPI_Finalize();
}
