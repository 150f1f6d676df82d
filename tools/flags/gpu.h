/* gpu.h - which GPU a worker uses, by --gpu or by the solver file. */
#ifndef FIRE_TOOLS_FLAGS_GPU_H
#define FIRE_TOOLS_FLAGS_GPU_H
#include "caffe.pb-c.h"
#include "device/gpu.h"

/* How many GPUs --gpu names; 0: it is not given, or "none". */
fire_status_t gpu_flags_count(int *n_p);
/* Without --gpu, use the device_id of a solver whose solver_mode is GPU, which is
 * Caffe's default, if there is such a GPU. */
void gpu_flags_adopt(const Caffe__SolverParameter *param);

/* Open the worker's GPU: the rank-th of those named, starting again after the last one.
 * Does nothing if none is named. */
fire_status_t gpu_flags_open(int rank, fire_ctx_t *ctx);
void gpu_flags_close(fire_ctx_t *ctx); /* after all of its nets are destroyed */
#endif
