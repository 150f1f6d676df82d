/* sweeps.h - sweeps of tests/sweep/solver.prototxt in a temporary directory. */
#ifndef TESTS_SWEEP_SWEEPS_H
#define TESTS_SWEEP_SWEEPS_H
#include "sweep/sweep.h"
#include "test.h"

/* Open a sweep whose points are in test_path("grid"). */
fire_status_t try_sweep(const fire_sweep_settings_t *settings, fire_sweep_t *s);
fire_sweep_t  make_sweep(const char *batches, const char *rates);
#endif
