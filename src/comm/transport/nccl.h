/* nccl.h - sums over workers that have a GPU each, by NCCL, from GPU to GPU and beside
 * the work of their queues. The library is opened when it is first asked for. Which order
 * it adds in is its own affair: the same on every run of the same machine, but not for
 * another number of workers. */
#ifndef FIRE_COMM_NCCL_H
#define FIRE_COMM_NCCL_H
#include "comm/comm.h"
#include "device/gpu.h"

typedef struct fire_nccl fire_nccl_t;

/* All ranks call it (comm NULL: this one alone), and all fail if one does: without the
 * library, or where two of them share a GPU. */
fire_status_t fire_nccl_open(fire_comm_t *comm, fire_stream_t *stream,
                             fire_nccl_t **nccl_p);
void          fire_nccl_close(fire_nccl_t *n); /* NULL is allowed */

/* Add up x[count], on the GPU, over all ranks, in place: after what the stream was asked
 * for so far, beside what it is asked for next. All ranks call it in the same order. */
fire_status_t fire_nccl_sum(fire_nccl_t *n, float *x, int64_t count);
/* What the stream is asked for from now on comes after all sums so far. */
fire_status_t fire_nccl_join(fire_nccl_t *n);
#endif
