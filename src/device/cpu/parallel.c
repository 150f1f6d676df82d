/* parallel.c - the number of threads, which is OpenMP's, and how they wait. */
#include "device/cpu/parallel.h"

#include <stdlib.h>

#include "base/host/cores.h"

#ifdef FIRE_HAVE_OPENMP
#    include <omp.h>

#    include "device/cpu/early.h"

void fire_threads_set(int threads)
{
    omp_set_num_threads(threads > 0 ? threads : fire_cores());
}

int fire_threads(void)
{
    return omp_get_max_threads();
}

int fire_threads_granted(void)
{
    int granted;

    if (getenv("OMP_NUM_THREADS") != NULL) return 0;
    granted = fire_cores();
    return granted < omp_get_num_procs() ? granted : 0;
}

long fire_threads_spins(void)
{
    return fire_early_spins();
}
#else
void fire_threads_set(int threads)
{
    (void)threads;
}

int fire_threads(void)
{
    return 1;
}

int fire_threads_granted(void)
{
    return 0;
}

long fire_threads_spins(void)
{
    return 0;
}
#endif
