/* early.h - libfire_early, a small library that is initialised before OpenMP's runtime.
 *
 * Threads of libgomp that wait for work or for each other spin for about 300,000 rounds,
 * milliseconds, before they sleep. Beside another busy process that makes a step two to
 * four times as long as a fair share of the cores would. The number of rounds is an
 * environment variable that libgomp reads when it is initialised, before anything that
 * depends on it. This library depends on the C library alone and is the last that libfire
 * and the program are linked with; of libraries that do not depend on each other the
 * dynamic linker initialises the last one first (docs/design/0025-waiting.md). */
#ifndef FIRE_DEVICE_CPU_EARLY_H
#define FIRE_DEVICE_CPU_EARLY_H

/* Microseconds that a waiting thread spins before it sleeps. */
#define FIRE_SPIN_US 50

/* The rounds that this library has set, or 0 where the user chose with OMP_WAIT_POLICY or
 * GOMP_SPINCOUNT. */
long fire_early_spins(void);
#endif
