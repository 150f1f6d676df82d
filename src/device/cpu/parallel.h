/* parallel.h - loops shared by the threads of a worker (OpenMP). Write each iteration
 * so that it stores only results of its own and sums in an order of its own: then bits
 * do not depend on the number of threads. */
#ifndef FIRE_DEVICE_CPU_PARALLEL_H
#define FIRE_DEVICE_CPU_PARALLEL_H
#include <stdint.h>

#define FIRE_PRAGMA(text) _Pragma(#text)

/* for each i of [0, n); threads start only if `when`, e.g. there is enough to do */
#define FIRE_PARALLEL(i, n, when)                            \
    FIRE_PRAGMA(omp parallel for schedule(static) if (when)) \
    for (int64_t i = 0; i < (n); i++)

/* for each piece [i, i + grain) of [0, n); the last is shorter */
#define FIRE_PARALLEL_PIECES(i, n, grain)                             \
    FIRE_PRAGMA(omp parallel for schedule(static) if ((n) > (grain))) \
    for (int64_t i = 0; i < (n); i += (grain))

/* for each i of [0, n), which take very different times */
#define FIRE_PARALLEL_UNEVEN(i, n)                     \
    FIRE_PRAGMA(omp parallel for schedule(dynamic, 1)) \
    for (int64_t i = 0; i < (n); i++)

/* Elements of simple work that are worth a thread. */
enum { FIRE_GRAIN = 1 << 14 };

/* Length of the piece that begins at i. */
static inline int64_t fire_piece(int64_t n, int64_t i, int64_t grain)
{
    return n - i < grain ? n - i : grain;
}

/* Set how many threads share the loops of the calling thread from now on; 0: as many as
 * the process may use. */
void fire_threads_set(int threads);
int  fire_threads(void);

/* How many to set where nobody chose: 0, which leaves it to OpenMP, unless a control group
 * grants fewer cores than there are. */
int fire_threads_granted(void);

/* Rounds that a waiting thread of OpenMP spins before it sleeps, as libfire_early
 * (device/cpu/early.h) has set it; 0: the user chose. */
long fire_threads_spins(void);
#endif
