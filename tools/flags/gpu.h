/* gpu.h - which GPU a worker works on: --gpu, or what a solver file asks for. */
#ifndef FIRE_TOOLS_FLAGS_GPU_H
#define FIRE_TOOLS_FLAGS_GPU_H
#include "caffe.pb-c.h"
#include "device/gpu.h"

/* How many GPUs --gpu names; 0: it says nothing, or "none". */
fire_status_t gpu_flags_count(int *n_p);
/* solver_mode: GPU, Caffe's default, with its device_id: taken where --gpu says nothing
 * and there is one. */
void gpu_flags_adopt(const Caffe__SolverParameter *param);

/* Put the worker on its GPU: the rank-th of those named, beginning again after the
 * last. Does nothing where none is named. */
fire_status_t gpu_flags_open(int rank, fire_ctx_t *ctx);
void          gpu_flags_close(fire_ctx_t *ctx); /* when all its nets are gone */

/* fp32, tf32, bf16 or fp16. */
fire_status_t gpu_flags_precision(const char *name, fire_ctx_t *ctx);
#endif
