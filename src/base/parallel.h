/* parallel.h - calls a function for many items on several threads. Threads are started
 * for each call, so items should take milliseconds; kernels use
 * device/cpu/parallel.h. */
#ifndef FIRE_BASE_PARALLEL_H
#define FIRE_BASE_PARALLEL_H
#include "base/error.h"

enum { FIRE_MAX_PARALLEL = 64 };

/* Called for item i by thread number `worker` (0, 1, ...), which may index memory that
 * each thread has for itself. */
typedef fire_status_t (*fire_parallel_fn_t)(void *arg, int worker, int64_t i);

/* The number of threads to use: `wanted`, or one per core if it is 0; in any case 1 to
 * FIRE_MAX_PARALLEL. */
int fire_parallel_threads(int wanted);

/* Call fn(arg, worker, i) for i = 0 ... n-1, in any order; the calling thread is one of
 * the workers. After a failure no new item begins; of several failures the one with the
 * lowest i is returned, with its message. */
fire_status_t fire_parallel(int64_t n, int threads, fire_parallel_fn_t fn, void *arg);
#endif
