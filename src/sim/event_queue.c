/* event_queue.c - a binary heap of events. */
#include "sim/event_queue.h"

#include "base/alloc.h"

static bool before(const fire_event_t *a, const fire_event_t *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

fire_status_t fire_event_queue_push(fire_event_queue_t *e, double time, int kind,
                                    int64_t what)
{
    fire_event_t event = {time, e->pushed++, kind, what};
    int64_t      i     = e->n;

    FIRE_TRY(fire_grow(&e->heap, &e->cap, e->n + 1, sizeof(*e->heap)));
    e->n++;
    for (; i > 0 && before(&event, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = event;
    return FIRE_OK;
}

bool fire_event_queue_pop(fire_event_queue_t *e, double until, fire_event_t *event_p)
{
    fire_event_t last;
    int64_t      i = 0;

    if (e->n == 0 || e->heap[0].time > until) return false;
    *event_p = e->heap[0];
    last     = e->heap[--e->n];
    for (int64_t child = 1; child < e->n; child = 2 * i + 1) {
        if (child + 1 < e->n && before(&e->heap[child + 1], &e->heap[child])) child++;
        if (!before(&e->heap[child], &last)) break;
        e->heap[i] = e->heap[child];
        i          = child;
    }
    if (e->n > 0) e->heap[i] = last;
    return true;
}

void fire_event_queue_fini(fire_event_queue_t *e)
{
    fire_free(e->heap);
    *e = (fire_event_queue_t){0};
}
