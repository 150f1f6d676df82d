/* clock.h - time, and what to do while there is nothing to do. */
#ifndef FIRE_BASE_CLOCK_H
#define FIRE_BASE_CLOCK_H
#include <stdint.h>

double fire_clock_now(void); /* seconds; never jumps back; only differences count */
double fire_clock_unix(void); /* seconds since 1970; may jump when the clock is set */

/* A waiting loop starts from {0}, calls fire_pause() each time it finds nothing
 * new and sets {0} again when it does. The loop first spins, then gives its core
 * to others, then sleeps, so that a short wait is fast and a long one is cheap. */
typedef struct fire_pause {
    uint32_t idle;
    uint32_t patience; /* spins beyond the usual ones: nobody else wants the core */
} fire_pause_t;

void fire_pause(fire_pause_t *p);
#endif
