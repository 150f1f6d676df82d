/* job_mpi.h - what the MPI transports share: errors, the job's processes and nodes, and
 * memory that the processes of a node have in common. For *_mpi.c files only. */
#ifndef FIRE_COMM_JOB_MPI_H
#define FIRE_COMM_JOB_MPI_H
#include <mpi.h>

#include "comm/transport/transport.h"

/* Turn the result of an MPI call into a status, with the call's name in the message. */
#define FIRE_MPI(call) fire_mpi_status((call), #call, __FILE__, __LINE__)

fire_status_t fire_mpi_status(int code, const char *call, const char *file, int line);

/* Memory that all processes of a node have allocated together: each has its part and
 * can access those of the others. */
typedef struct fire_share {
    struct fire_share *next;
    int                number; /* the same on all ranks, for notes */
    MPI_Win            win;    /* MPI_WIN_NULL: plain memory, nobody can access it */
    char              *base;   /* this process's part */
    size_t             bytes;
    char             **peer; /* [node_size] the others' parts, in our address space */
} fire_share_t;

typedef struct fire_job {
    MPI_Comm      world, node; /* duplicate of MPI_COMM_WORLD; processes of this node */
    bool          started;     /* MPI_Init was called here: so is MPI_Finalize */
    int           rank, size, node_size;
    int          *node_of;   /* [size] rank -> node number */
    int          *node_rank; /* [size] rank -> rank in `node`; -1: on another node */
    fire_share_t *shares;    /* list */
    int           nshare;    /* numbers given so far */
} fire_job_t;

/* Call MPI_Init_thread with `threads` (MPI_THREAD_...), unless MPI is running
 * already. */
fire_status_t fire_job_open(fire_job_t *job, int threads);
/* `broken`: peers may be gone, so skip every call that would wait for them. */
void fire_job_close(fire_job_t *job, bool broken);
/* Duplicate job->world, with MPI_ERRORS_RETURN. */
fire_status_t fire_job_dup(const fire_job_t *job, MPI_Comm *comm_p);

/* All ranks call alloc, and free, in the same order with the same size. */
fire_status_t fire_share_alloc(fire_job_t *job, size_t bytes, void **memory_p);
void          fire_share_free(fire_job_t *job, void *memory);
/* The share that contains this address and that others can access, or NULL. */
const fire_share_t *fire_share_find(const fire_job_t *job, const void *memory);
const fire_share_t *fire_share_number(const fire_job_t *job, int number);
/* In SimGrid: one memory for all ranks, because nobody reads the gradients. */
#ifdef SMPI_H
fire_status_t fire_share_fold(size_t bytes, void **memory_p);
#endif

/* For the one-sided transport, which is built on the two-sided one. */
fire_status_t fire_p2p_open_for(int threads, fire_transport_t **tp_p);
MPI_Comm      fire_p2p_comm(const fire_transport_t *tp);
bool          fire_p2p_is_broken(const fire_transport_t *tp);
#endif
