/* alltoall.h - a different message to every rank, as MPI_Alltoallv. The sample store
 * uses it, where every worker holds a part of the data set in memory (data/store.h). */
#ifndef FIRE_COMM_ALLTOALL_H
#define FIRE_COMM_ALLTOALL_H
#include "comm/comm.h"

/* Send span send[r] of buf to rank r and receive span recv[r] from it, for every rank r
 * except this one. send: [size], recv: [size]; send[r].len here must equal the length
 * that rank r expects. All ranks call it; it returns when this rank's part is done. */
fire_status_t fire_comm_alltoall(fire_comm_t *c, float *buf, const fire_span_t *send,
                                 const fire_span_t *recv);
#endif
