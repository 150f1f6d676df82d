/* queue.h - first-in first-out lists whose items are found by tag. A fire_item_t is the
 * first member of what is queued; an item is in one queue at a time. No locking. */
#ifndef FIRE_COMM_QUEUE_H
#define FIRE_COMM_QUEUE_H
#include <stddef.h>

typedef struct fire_item {
    struct fire_item *next;
    int               tag;
} fire_item_t;

typedef struct fire_queue {
    fire_item_t *first, **end; /* end: where the next item is linked */
} fire_queue_t;

static inline void fire_queue_init(fire_queue_t *q)
{
    q->first = NULL;
    q->end   = &q->first;
}

static inline void fire_queue_add(fire_queue_t *q, void *item)
{
    fire_item_t *i = item;

    i->next = NULL;
    *q->end = i;
    q->end  = &i->next;
}

/* Unlink the item that *at points to. */
static inline void fire_queue_cut(fire_queue_t *q, fire_item_t **at)
{
    fire_item_t *i = *at;

    *at = i->next;
    if (q->end == &i->next) q->end = at;
}

/* Remove and return the first item with this tag; NULL if there is none. */
static inline void *fire_queue_take(fire_queue_t *q, int tag)
{
    for (fire_item_t **at = &q->first; *at != NULL; at = &(*at)->next)
        if ((*at)->tag == tag) {
            fire_item_t *i = *at;

            fire_queue_cut(q, at);
            return i;
        }
    return NULL;
}

/* Remove this item, if it is in the queue. */
static inline void fire_queue_drop(fire_queue_t *q, const void *item)
{
    for (fire_item_t **at = &q->first; *at != NULL; at = &(*at)->next)
        if (*at == item) {
            fire_queue_cut(q, at);
            return;
        }
}
#endif
