/* gpu.h - GPUs as the program sees them, whether or not this build or machine has any.
 * A worker uses one GPU, from one thread. */
#ifndef FIRE_DEVICE_GPU_H
#define FIRE_DEVICE_GPU_H
#include "device/device.h"

FIRE_BEGIN_C
/* How many there are; 0 without a driver or without the back end, with the reason in
 * *why_p (static text). */
int fire_gpu_count(const char **why_p);
/* "NVIDIA H200, 139.8 GiB, compute capability 9.0" */
fire_status_t fire_gpu_describe(int index, char *text, size_t size);

/* Open a queue of work on GPU `index` and make it this thread's. */
fire_status_t fire_gpu_open(int index, fire_stream_t **stream_p);
void          fire_gpu_close(fire_stream_t *stream); /* NULL is allowed */
/* Another thread of the worker (one that exchanges gradients) works on its queue. */
void fire_gpu_use(fire_stream_t *stream);
/* Wait for all work of the queue; errors of kernels come out here. */
fire_status_t fire_gpu_sync(fire_stream_t *stream);

/* Values that kernels look up when they run: which step it is, the solver's rate and
 * Adam's correction. */
fire_status_t fire_gpu_set_step(fire_stream_t *stream, int64_t step);
fire_status_t fire_gpu_set_rate(fire_stream_t *stream, float rate, float correction);
FIRE_END_C
#endif
