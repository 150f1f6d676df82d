/* event_queue.h - what happens next: a heap of moments, equal ones by entry. */
#ifndef FIRE_SIM_EVENT_QUEUE_H
#define FIRE_SIM_EVENT_QUEUE_H
#include "base/error.h"

typedef struct fire_event {
    double  time;
    int64_t number; /* set by push */
    int     kind;
    int64_t what;
} fire_event_t;

typedef struct fire_event_queue {
    fire_event_t *heap;
    int64_t       n, cap, pushed;
} fire_event_queue_t;

fire_status_t fire_event_queue_push(fire_event_queue_t *e, double time, int kind,
                                    int64_t what);
/* The next one, unless it is later than `until`. */
bool fire_event_queue_pop(fire_event_queue_t *e, double until, fire_event_t *event_p);
void fire_event_queue_fini(fire_event_queue_t *e);
#endif
