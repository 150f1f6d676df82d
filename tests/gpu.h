/* gpu.h - tests that run on a GPU as well: `program --gpu` or `--gpu=bf16`. Where there
 * is none they are skipped. */
#ifndef FIRE_TESTS_GPU_H
#define FIRE_TESTS_GPU_H
#include "device/gpu.h"

/* Was --gpu given? */
bool test_on_gpu(void);
/* A place to run on: the GPU if --gpu was given, at the given precision; the CPU. */
fire_ctx_t test_ctx(void);
/* How far results may be from float32's, relative to the largest. */
double test_tolerance(double of_float32);
/* "fp32", "tf32", "bf16" or "fp16" into a ctx on GPU 0; false and why if there is none. */
bool test_open_gpu(const char *precision, fire_ctx_t *ctx, const char **why_p);
#endif
