/* clock.c - clocks, and pauses of polling loops. */
#include "base/clock.h"

#include <sched.h>
#include <time.h>

enum {
    SPINS  = 64,   /* about a microsecond */
    YIELDS = 4096, /* a millisecond or two on an idle core */
    NAP_NS = 50000 /* of a sleep */
};

double fire_clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double fire_clock_unix(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fire_pause(fire_pause_t *p)
{
    if (p->idle < SPINS + p->patience) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    } else if (p->idle < YIELDS + p->patience) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        return;
    }
    p->idle++;
}
