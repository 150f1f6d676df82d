/* alltoall.h - something else for everybody: the exchange behind a data set that
 * workers hold in parts. */
#ifndef FIRE_COMM_ALLTOALL_H
#define FIRE_COMM_ALLTOALL_H
#include "comm/comm.h"

/* Send span send[r] of buf to rank r and receive span recv[r] from it, for all ranks r
 * but oneself. What one sends is as long as the other expects. */
fire_status_t fire_comm_alltoall(fire_comm_t *c, float *buf, const fire_span_t *send,
                                 const fire_span_t *recv);
#endif
