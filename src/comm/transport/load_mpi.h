/* load_mpi.h - opens the MPI library and our module for it. Nothing else in libfire needs
 * an MPI library to be there. For *_mpi.c files only. */
#ifndef FIRE_COMM_LOAD_MPI_H
#define FIRE_COMM_LOAD_MPI_H
#include "base/error.h"
#include "comm/transport/module/mpi_table.h"

/* Open the MPI library of this job, in this order: the one that FIRE_MPI names (openmpi,
 * mpich, or the path of a library); the one that this process has opened already; the
 * one that the launcher belongs to (fire_cluster_kinds()). The table stays valid: what
 * is opened here is never unloaded, as no MPI library can start twice in a process. */
fire_status_t fire_mpi_load(const fire_mpi_t **mpi_p);
#endif
