/* job_mpi.h - what the MPI transports share: the job, its errors, its nodes and
 * the memory that processes of a node have in common. */
#ifndef FIRE_COMM_JOB_MPI_H
#define FIRE_COMM_JOB_MPI_H
#include <mpi.h>

#include "comm/transport/transport.h"

/* A foreign code becomes a status at the call. */
#define FIRE_MPI(call) fire_mpi_status((call), #call, __FILE__, __LINE__)

fire_status_t fire_mpi_status(int code, const char *call, const char *file, int line);

/* Memory of this process that those of its node reach, and theirs. */
typedef struct fire_share {
    struct fire_share *next;
    int                number; /* the same on all ranks */
    MPI_Win            win;    /* MPI_WIN_NULL: plain memory */
    char              *base;
    size_t             bytes;
    char             **peer; /* by node rank: the same memory there */
} fire_share_t;

typedef struct fire_job {
    MPI_Comm      world, node;
    bool          started; /* here: to be ended here */
    int           rank, size, node_size;
    int          *node_of;   /* rank -> node number */
    int          *node_rank; /* rank -> rank in this node, or -1 */
    fire_share_t *shares;
    int           nshare; /* made so far */
} fire_job_t;

/* Starts MPI for threads as wanted (MPI_THREAD_...), if nobody has started it. */
fire_status_t fire_job_open(fire_job_t *job, int threads);
/* `broken`: peers may be gone; leave everything that would wait for them. */
void          fire_job_close(fire_job_t *job, bool broken);
fire_status_t fire_job_dup(const fire_job_t *job, MPI_Comm *comm_p);

fire_status_t fire_share_alloc(fire_job_t *job, size_t bytes, void **memory_p);
void          fire_share_free(fire_job_t *job, void *memory);
/* The share that holds this address and is reachable by others, or NULL. */
const fire_share_t *fire_share_find(const fire_job_t *job, const void *memory);
const fire_share_t *fire_share_number(const fire_job_t *job, int number);
#ifdef SMPI_H /* the same memory for all workers: nobody looks at gradients there */
fire_status_t fire_share_fold(size_t bytes, void **memory_p);
#endif

/* For a transport on top of the two-sided one. */
fire_status_t fire_p2p_open_for(int threads, fire_transport_t **tp_p);
MPI_Comm      fire_p2p_comm(const fire_transport_t *tp);
bool          fire_p2p_is_broken(const fire_transport_t *tp);
#endif
