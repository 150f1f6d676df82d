/* nccl.h - sums over workers that have a GPU each, by NCCL, from GPU to GPU, while the
 * workers' streams compute. libnccl is opened with dlopen when it is first needed.
 * NCCL's order of additions is the same on every run of one machine, but depends on the
 * number of workers. One thread at a time. */
#ifndef FIRE_COMM_NCCL_H
#define FIRE_COMM_NCCL_H
#include "comm/comm.h"
#include "device/gpu.h"

typedef struct fire_nccl fire_nccl_t;

/* All ranks call it (comm NULL: one worker alone). All fail if one does: without the
 * library, or if two of them share a GPU. */
fire_status_t fire_nccl_open(fire_comm_t *comm, fire_stream_t *stream,
                             fire_nccl_t **nccl_p);
void          fire_nccl_close(fire_nccl_t *n); /* NULL is allowed */

/* Queue the sum of x[count], in GPU memory, over all ranks, in place. It begins after
 * the work that is in the stream now, and runs beside work that is added later. All
 * ranks call it in the same order. */
fire_status_t fire_nccl_sum(fire_nccl_t *n, float *x, int64_t count);
/* Make the stream wait: work that is added from now on runs after all sums so far. */
fire_status_t fire_nccl_join(fire_nccl_t *n);
#endif
