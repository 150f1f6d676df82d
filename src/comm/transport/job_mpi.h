/* job_mpi.h - what the MPI transports share: errors, the job's processes and nodes, and
 * memory that the processes of a node have in common. For *_mpi.c files only. They call
 * MPI by the table of module/mpi_table.h. */
#ifndef FIRE_COMM_JOB_MPI_H
#define FIRE_COMM_JOB_MPI_H
#include "comm/transport/module/mpi_table.h"
#include "comm/transport/transport.h"

/* Call a function of the table and turn its result into a status, with the name of the
 * MPI function in the message: FIRE_MPI(job->mpi, comm_free(&comm)). */
#define FIRE_MPI(mpi, call) \
    fire_mpi_status((mpi), (mpi)->call, #call, __FILE__, __LINE__)

fire_status_t fire_mpi_status(const fire_mpi_t *mpi, int code, const char *call,
                              const char *file, int line);

/* Memory that all processes of a node have allocated together: each has its part and
 * can access those of the others. */
typedef struct fire_share {
    struct fire_share *next;
    int                number; /* the same on all ranks, for notes */
    fire_mpi_win_t     win;    /* NULL: plain memory, nobody can access it */
    char              *base;   /* this process's part */
    size_t             bytes;
    char             **peer; /* [node_size] the others' parts, in our address space */
} fire_share_t;

typedef struct fire_job {
    const fire_mpi_t *mpi;
    fire_mpi_comm_t   world, node; /* duplicate of MPI_COMM_WORLD; this node's part */
    bool              started;     /* MPI_Init was called here: so is MPI_Finalize */
    int               rank, size, node_size;
    int              *node_of;   /* [size] rank -> node number */
    int              *node_rank; /* [size] rank -> rank in `node`; -1: another node */
    fire_share_t     *shares;    /* list */
    int               nshare;    /* numbers given so far */
} fire_job_t;

/* Open the MPI library of this job and call MPI_Init_thread, unless MPI is running
 * already. */
fire_status_t fire_job_open(fire_job_t *job, fire_mpi_threads_t threads);
/* `broken`: peers may be gone, so skip every call that would wait for them. */
void fire_job_close(fire_job_t *job, bool broken);
/* Duplicate job->world. */
fire_status_t fire_job_dup(const fire_job_t *job, fire_mpi_comm_t *comm_p);

/* All ranks call alloc, and free, in the same order with the same size. */
fire_status_t fire_share_alloc(fire_job_t *job, size_t bytes, void **memory_p);
void          fire_share_free(fire_job_t *job, void *memory);
/* The share that contains this address and that others can access, or NULL. */
const fire_share_t *fire_share_find(const fire_job_t *job, const void *memory);
const fire_share_t *fire_share_number(const fire_job_t *job, int number);
/* In SimGrid: one memory for all ranks, because nobody reads the gradients. */
#ifdef FIRE_SIMGRID
fire_status_t fire_share_fold(size_t bytes, void **memory_p);
#endif

/* For the one-sided transport, which is built on the two-sided one. */
fire_status_t fire_p2p_open_for(fire_mpi_threads_t threads, fire_transport_t **tp_p);
const fire_job_t *fire_p2p_job(const fire_transport_t *tp);
bool              fire_p2p_is_broken(const fire_transport_t *tp);
#endif
