/* cluster.h - ranks that are the processes of an MPI job. */
#ifndef FIRE_COMM_CLUSTER_H
#define FIRE_COMM_CLUSTER_H
#include "comm/transport/transport.h"

/* Was this process started by mpirun, mpiexec or srun? Needs no MPI. */
bool fire_cluster_launched(void);
/* How many processes were, as far as their environment tells; 0: it does not. */
int fire_cluster_size(void);
/* Name and version of the MPI that this build uses; "" without one. */
void fire_cluster_library(char *text, size_t size);

/* All processes of the job; starts MPI if nobody has, and then ends it when the
 * transport is closed. Two-sided messages; inside a node bytes stay where they are
 * if they lie in memory from alloc(). */
fire_status_t fire_p2p_open(fire_transport_t **tp_p);
/* The same with one-sided messages: write and notify, with credits. Where the MPI
 * at hand cannot do that, says so in the log and is two-sided. */
fire_status_t fire_rma_open(fire_transport_t **tp_p);
#endif
