/* event_queue.h - events of a simulation, ordered by time; simultaneous ones in the
 * order in which they were pushed, so that simulations are deterministic. A binary
 * heap. */
#ifndef FIRE_SIM_EVENT_QUEUE_H
#define FIRE_SIM_EVENT_QUEUE_H
#include "base/error.h"

typedef struct fire_event {
    double  time;   /* seconds */
    int64_t number; /* set by push: 0, 1, 2 ... */
    int     kind;   /* the caller's */
    int64_t what;   /* the caller's */
} fire_event_t;

typedef struct fire_event_queue {
    fire_event_t *heap;
    int64_t       n, cap, pushed; /* in the heap; allocated; ever */
} fire_event_queue_t;

fire_status_t fire_event_queue_push(fire_event_queue_t *e, double time, int kind,
                                    int64_t what);
/* Remove the next event; false if there is none or it is later than `until`. */
bool fire_event_queue_pop(fire_event_queue_t *e, double until, fire_event_t *event_p);
void fire_event_queue_fini(fire_event_queue_t *e);
#endif
