/* early.c - tells libgomp, before it starts, for how long its threads may spin. */
#include "early.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long spins;

static long nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000000000 * (t.tv_sec % 1000) + t.tv_nsec;
}

/* One round of libgomp's loop: 1 to 50 ns, depending on the processor. */
static void spin_once(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    __asm volatile("" : : : "memory");
}

/* The shortest of three measurements of 10 us or so: the others were interrupted. */
static long spins_of_us(long us)
{
    enum { ROUNDS = 400 };
    long shortest = 1000000;

    for (int i = 0; i < 3; i++) {
        long before = nanoseconds(), taken;

        for (int k = 0; k < ROUNDS; k++)
            spin_once();
        taken = nanoseconds() - before;
        if (taken > 0 && taken < shortest) shortest = taken;
    }
    return us * 1000 * ROUNDS / shortest + 1;
}

__attribute__((constructor)) static void limit_spinning(void)
{
    char text[24];

    if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL) return;
    spins = spins_of_us(FIRE_SPIN_US);
    snprintf(text, sizeof(text), "%ld", spins);
    setenv("GOMP_SPINCOUNT", text, 1);
}

__attribute__((visibility("default"))) long fire_early_spins(void)
{
    return spins;
}
