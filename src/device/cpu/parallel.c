/* parallel.c - the number of threads, which is OpenMP's. */
#include "device/cpu/parallel.h"

#ifdef FIRE_HAVE_OPENMP
#    include <omp.h>

void fire_threads_set(int threads)
{
    omp_set_num_threads(threads > 0 ? threads : omp_get_num_procs());
}

int fire_threads(void)
{
    return omp_get_max_threads();
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
#endif
