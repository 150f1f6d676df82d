/* cluster.h - ranks that are the processes of an MPI job. Needs no mpi.h. */
#ifndef FIRE_COMM_CLUSTER_H
#define FIRE_COMM_CLUSTER_H
#include "comm/transport/transport.h"

/* Was this process started by mpirun, mpiexec or srun? Needs no MPI. */
bool fire_cluster_launched(void);
/* The number of processes of this job, from the environment; 0: not known. */
int fire_cluster_size(void);
/* Name and version of the MPI that this build uses; "" without one. */
void fire_cluster_library(char *text, size_t size);

/* Two-sided messages between all processes of the job; inside a node, memory from
 * alloc() is zero-copy. Calls MPI_Init if nobody has, and then MPI_Finalize in
 * close(). */
fire_status_t fire_p2p_open(fire_transport_t **tp_p);
/* One-sided messages between nodes: write and notify, with credits (edge_mpi.h). If
 * this MPI has no usable windows, logs a warning and opens the two-sided transport. */
fire_status_t fire_rma_open(fire_transport_t **tp_p);
#endif
