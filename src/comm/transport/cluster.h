/* cluster.h - ranks that are the processes of an MPI job. Needs no mpi.h. */
#ifndef FIRE_COMM_CLUSTER_H
#define FIRE_COMM_CLUSTER_H
#include "comm/transport/transport.h"

/* Was this process started by mpirun, mpiexec or srun? Needs no MPI. */
bool fire_cluster_launched(void);
/* The number of processes of this job, from the environment; 0: not known. */
int fire_cluster_size(void);
/* The two kinds of MPI library that there are modules for. */
typedef enum fire_mpi_kind {
    FIRE_OPEN_MPI,
    FIRE_MPICH,
    FIRE_MPI_KINDS
} fire_mpi_kind_t;

/* Which MPI libraries fit the launcher, the likeliest first; returns how many. *mark_p:
 * the environment variable that tells it; NULL: no launcher. */
int fire_cluster_kinds(fire_mpi_kind_t kind_p[FIRE_MPI_KINDS], const char **mark_p);

/* Name and version of the MPI library that this process has opened, as "Open MPI
 * v4.1.4" or "MPICH Version: 4.0.2"; "" if it has none. */
void fire_cluster_library(char *text, size_t size);
/* The MPI libraries that this installation has modules for: "Open MPI and MPICH". */
void fire_cluster_modules(char *text, size_t size);

/* Two-sided messages between all processes of the job; inside a node, memory from
 * alloc() is zero-copy. Opens the MPI library (load_mpi.h), calls MPI_Init if nobody
 * has, and then MPI_Finalize in close(). */
fire_status_t fire_p2p_open(fire_transport_t **tp_p);
/* One-sided messages between nodes: write and notify, with credits (edge_mpi.h). If
 * this MPI has no usable windows, logs a warning and opens the two-sided transport. */
fire_status_t fire_rma_open(fire_transport_t **tp_p);
#endif
