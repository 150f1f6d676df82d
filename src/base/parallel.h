/* parallel.h - the same work on many things, by several threads. For work of
 * milliseconds and more: threads are started for each call. */
#ifndef FIRE_BASE_PARALLEL_H
#define FIRE_BASE_PARALLEL_H
#include "base/error.h"

enum { FIRE_MAX_PARALLEL = 64 };

/* `worker` (0, 1, ...) tells the threads apart, for memory that each keeps. */
typedef fire_status_t (*fire_parallel_fn_t)(void *arg, int worker, int64_t i);

/* Threads for a wish: as many, or for 0 one per core; 1 to FIRE_MAX_PARALLEL. */
int fire_parallel_threads(int wish);

/* fn(arg, worker, i) for all i from 0 to n - 1, in any order; the calling thread works
 * too. After a failure nothing new begins; of several failures that of the lowest i is
 * returned, with its message. */
fire_status_t fire_parallel(int64_t n, int threads, fire_parallel_fn_t fn, void *arg);
#endif
