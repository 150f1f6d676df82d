#include "base/clock.h"

#include <sched.h>
#include <time.h>

enum {
    SPINS  = 64,   /* about a microsecond */
    YIELDS = 4096, /* a millisecond or two on an idle core */
    NAP_NS = 50000
};

double fire_clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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
