/* region.c - memory with a count of its users. */
#include "blob/region.h"

#include <stdatomic.h>

#include "base/alloc.h"

struct fire_region {
    _Atomic int        refs, views; /* views are counted in refs too */
    void              *memory;
    fire_region_free_t free;
    void              *arg;
};

fire_status_t fire_region_create(void *memory, fire_region_free_t free, void *arg,
                                 fire_region_t **region_p)
{
    fire_region_t *b;

    FIRE_TRY(FIRE_NEW(&b, 1));
    atomic_init(&b->refs, 1);
    b->memory = memory;
    b->free   = free;
    b->arg    = arg;
    *region_p = b;
    return FIRE_OK;
}

fire_region_t *fire_region_retain(fire_region_t *b)
{
    if (b != NULL) atomic_fetch_add(&b->refs, 1);
    return b;
}

void fire_region_release(fire_region_t *b)
{
    if (b == NULL || atomic_fetch_sub(&b->refs, 1) > 1) return;
    if (b->free != NULL) b->free(b->arg, b->memory);
    fire_free(b);
}

void *fire_region_memory(const fire_region_t *b)
{
    return b->memory;
}

fire_region_t *fire_region_add_view(fire_region_t *b)
{
    atomic_fetch_add(&b->views, 1);
    return fire_region_retain(b);
}

void fire_region_drop_view(fire_region_t *b)
{
    atomic_fetch_sub(&b->views, 1);
    fire_region_release(b);
}

bool fire_region_is_viewed(const fire_region_t *b)
{
    return b != NULL && atomic_load(&b->views) > 0;
}
