/* job_mpi.c - starts and ends MPI, and finds out which ranks share a node. */
#include "comm/transport/job_mpi.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/transport/cluster.h"
#include "comm/transport/load_mpi.h"

/* "isend(...)" is MPI_Isend. */
fire_status_t fire_mpi_status(const fire_mpi_t *mpi, int code, const char *call,
                              const char *file, int line)
{
    char text[512];

    if (code == 0) return FIRE_OK;
    mpi->error_string(code, text, sizeof(text));
    fire_error_set(FIRE_ERR_COMM, file, line, "MPI_%c%.*s: %s",
                   toupper((unsigned char)call[0]), (int)strcspn(call, "(") - 1,
                   call + 1, text);
    return FIRE_ERR_COMM;
}

static fire_status_t start_mpi(fire_job_t *job, fire_mpi_threads_t threads)
{
    int done;

    FIRE_TRY(FIRE_MPI(job->mpi, finalized(&done)));
    if (done) return FIRE_FAIL(FIRE_ERR_COMM, "MPI has already ended in this process");
    FIRE_TRY(FIRE_MPI(job->mpi, initialized(&done)));
    if (done) return FIRE_OK;
    FIRE_TRY(FIRE_MPI(job->mpi, init_thread(threads)));
    job->started = true;
    return FIRE_OK;
}

fire_status_t fire_job_dup(const fire_job_t *job, fire_mpi_comm_t *comm_p)
{
    return FIRE_MPI(job->mpi, comm_dup(job->world, comm_p));
}

/* An MPI library that does not understand the launcher starts a job of its own in every
 * process. */
static fire_status_t check_size(const fire_job_t *job)
{
    int  want = fire_cluster_size();
    char library[128];

    if (!job->started || job->size > 1 || want <= 1) return FIRE_OK;
    fire_cluster_library(library, sizeof(library));
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "the launcher has started %d processes, but %s knows of this one "
                     "only: the launcher is that of another MPI; start this one's, or "
                     "set FIRE_MPI to openmpi or mpich",
                     want, library);
}

/* At first a node is identified by its lowest rank, which its processes broadcast; all
 * ranks gather these numbers and replace them by 0, 1, 2 ... */
static fire_status_t find_nodes(fire_job_t *job)
{
    int first = job->rank, mine, nodes = 0;

    FIRE_TRY(FIRE_MPI(job->mpi, comm_split_type(job->world, &job->node)));
    FIRE_TRY(FIRE_MPI(job->mpi, comm_size(job->node, &job->node_size)));
    FIRE_TRY(FIRE_MPI(job->mpi, bcast(job->node, &first)));
    FIRE_TRY(FIRE_NEW(&job->node_of, job->size));
    FIRE_TRY(FIRE_NEW(&job->node_rank, job->size));
    FIRE_TRY(FIRE_MPI(job->mpi, allgather(job->world, first, job->node_of)));
    mine = 0;
    for (int r = 0; r < job->size; r++) {
        bool leads = job->node_of[r] == r;

        job->node_rank[r] = job->node_of[r] == first ? mine++ : -1;
        job->node_of[r]   = leads ? nodes++ : job->node_of[job->node_of[r]];
    }
    return FIRE_OK;
}

fire_status_t fire_job_open(fire_job_t *job, fire_mpi_threads_t threads)
{
    *job = (fire_job_t){0};
    FIRE_TRY(fire_mpi_load(&job->mpi));
    FIRE_TRY(start_mpi(job, threads));
    FIRE_TRY(FIRE_MPI(job->mpi, comm_dup(job->mpi->comm_world(), &job->world)));
    FIRE_TRY(FIRE_MPI(job->mpi, comm_rank(job->world, &job->rank)));
    FIRE_TRY(FIRE_MPI(job->mpi, comm_size(job->world, &job->size)));
    FIRE_TRY(check_size(job));
    return find_nodes(job);
}

void fire_job_close(fire_job_t *job, bool broken)
{
    while (job->shares != NULL && !broken)
        fire_share_free(job, job->shares->base);
    if (job->node != NULL && !broken) job->mpi->comm_free(&job->node);
    if (job->world != NULL && !broken) job->mpi->comm_free(&job->world);
    fire_free(job->node_of);
    fire_free(job->node_rank);
    if (job->started && !broken) job->mpi->finalize();
}
