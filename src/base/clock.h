/* clock.h - time, and how to wait for another thread or process. */
#ifndef FIRE_BASE_CLOCK_H
#define FIRE_BASE_CLOCK_H
#include <stdint.h>

double fire_clock_now(void);  /* seconds; never jumps back; only differences count */
double fire_clock_unix(void); /* seconds since 1970; may jump when the clock is set */

/* State of a loop that polls:
 *
 *     fire_pause_t pause = {0};
 *     while (!done()) {
 *         if (something_changed)
 *             pause = (fire_pause_t){0};
 *         else
 *             fire_pause(&pause);
 *     }
 *
 * The loop first spins, then yields its core, then sleeps 50 us at a time: short waits
 * are fast and long ones leave the core to others. */
typedef struct fire_pause {
    uint32_t idle;     /* calls so far */
    uint32_t patience; /* additional spins, for loops that have a core of their own */
} fire_pause_t;

void fire_pause(fire_pause_t *p);
#endif
