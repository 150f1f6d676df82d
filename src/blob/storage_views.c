/* storage_views.c - memory of a storage that somebody looks at from outside, and
 * exchanging the values of two storages. */
#include <string.h>

#include "blob/storage_state.h"

static void free_on_device(void *device, void *memory)
{
    ((const fire_device_t *)device)->free(memory);
}

/* Take the copy's memory out of the pool, which only one thread may use: a view may be
 * dropped by any. */
static fire_status_t leave_pool(fire_copy_t *c)
{
    const fire_device_t *device = fire_device_find(c->format.place);
    void                *ptr;

    if (c->pool == NULL) return FIRE_OK;
    FIRE_TRY(device->alloc(c->bytes > 0 ? c->bytes : 1, &ptr));
    FIRE_TRY(device->copy(ptr, c->ptr, c->bytes));
    fire_pool_give(c->pool, c->ptr);
    fire_pool_release(c->pool);
    c->pool = NULL;
    c->ptr  = ptr;
    return FIRE_OK;
}

/* Whoever looks from outside has a queue of its own: wait until the values are there. */
static fire_status_t wait_for(const fire_copy_t *c)
{
    char first;

    if (c->bytes == 0) return FIRE_OK;
    return fire_device_find(c->format.place)->to_host(&first, c->ptr, sizeof(first));
}

fire_status_t fire_storage_view(fire_storage_t *s, fire_place_t place, int ndim,
                                const int64_t *dim, fire_region_t **view_p)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(place);
    fire_copy_t  *c;
    void         *ptr;

    FIRE_TRY(fire_storage_access(s, FIRE_UPDATE, &plain, ndim, dim, &ptr));
    c = fire_storage_find_copy(s, &plain);
    FIRE_TRY(leave_pool(c));
    if (place == FIRE_GPU) FIRE_TRY(wait_for(c));
    if (c->region == NULL)
        FIRE_TRY(fire_region_create(c->ptr, c->bound ? NULL : free_on_device,
                                    (void *)fire_device_find(place), &c->region));
    s->viewed = true;
    *view_p   = fire_region_add_view(c->region);
    return FIRE_OK;
}

/* Does the storage have a viewed copy on this place? */
static fire_copy_t *viewed_on(fire_storage_t *s, fire_place_t place)
{
    fire_copy_t *c = fire_storage_find_copy(s, &FIRE_FORMAT_PLAIN(place));

    return s->viewed && c != NULL && fire_copy_is_viewed(c) ? c : NULL;
}

bool fire_storage_is_viewed(const fire_storage_t *s)
{
    for (int i = 0; i < FIRE_MAX_COPIES && s->viewed; i++)
        if (s->copy[i].ptr != NULL && fire_copy_is_viewed(&s->copy[i])) return true;
    return false;
}

fire_status_t fire_storage_absorb(fire_storage_t *s, int ndim, const int64_t *dim)
{
    const fire_copy_t *c = viewed_on(s, FIRE_CPU);
    void              *ptr;

    if (c == NULL) c = viewed_on(s, FIRE_GPU);
    if (c == NULL) return FIRE_OK;
    return fire_storage_access(s, FIRE_UPDATE, &c->format, ndim, dim, &ptr);
}

fire_status_t fire_storage_refresh(fire_storage_t *s, int ndim, const int64_t *dim)
{
    fire_copy_t *viewed[2] = {viewed_on(s, FIRE_CPU), viewed_on(s, FIRE_GPU)};
    void        *ptr;

    if (viewed[0] == NULL && viewed[1] == NULL) return FIRE_OK;
    for (int i = 0; i < 2; i++)
        if (viewed[i] != NULL)
            FIRE_TRY(
                fire_storage_access(s, FIRE_READ, &viewed[i]->format, ndim, dim, &ptr));
    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        s->copy[i].valid = &s->copy[i] == viewed[0] || &s->copy[i] == viewed[1];
    s->version++;
    return FIRE_OK;
}

/* Give a storage that gets other copies a copy of c, which is viewed and stays. */
static fire_status_t duplicate(const fire_copy_t *c, fire_copy_t *to)
{
    const fire_device_t *device = fire_device_find(c->format.place);

    *to        = *c;
    to->pool   = NULL;
    to->region = NULL;
    to->ptr    = NULL;
    FIRE_TRY(device->alloc(c->bytes > 0 ? c->bytes : 1, &to->ptr));
    return c->valid ? device->copy(to->ptr, c->ptr, c->bytes) : FIRE_OK;
}

/* Before a swap, take viewed copies out of the storage; a duplicate stays. */
static fire_status_t take_viewed(fire_storage_t *s, fire_copy_t taken[2])
{
    for (int place = 0; place < 2; place++) {
        fire_copy_t *c = viewed_on(s, (fire_place_t)place), fresh;

        if (c == NULL) continue;
        FIRE_TRY(duplicate(c, &fresh));
        taken[place]       = *c;
        taken[place].valid = false;
        *c                 = fresh;
    }
    return FIRE_OK;
}

/* After a swap, put a viewed copy back. Values that came in its format move into it. */
static fire_status_t put_viewed(fire_storage_t *s, fire_copy_t *t)
{
    fire_copy_t *c = fire_storage_find_copy(s, &t->format);

    if (c != NULL && c->valid && c->bytes <= t->bytes) {
        FIRE_TRY(fire_device_find(t->format.place)->copy(t->ptr, c->ptr, c->bytes));
        t->valid = true;
    }
    for (int i = 0; i < FIRE_MAX_COPIES && c == NULL; i++)
        if (!s->copy[i].valid && !s->copy[i].bound) c = &s->copy[i];
    if (c == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "a blob is held in too many formats");
    fire_copy_drop(c);
    *c = *t;
    memset(t, 0, sizeof(*t));
    return FIRE_OK;
}

static fire_status_t put_back(fire_storage_t *s, fire_copy_t taken[2])
{
    for (int place = 0; place < 2; place++)
        if (taken[place].ptr != NULL) FIRE_TRY(put_viewed(s, &taken[place]));
    return FIRE_OK;
}

/* With views; `taken` are those of a and of b, dropped at the end if a step failed. */
static fire_status_t swap_values(fire_storage_t *a, fire_storage_t *b,
                                 fire_copy_t taken[4])
{
    fire_copy_t *copy = a->copy;

    FIRE_TRY(take_viewed(a, taken));
    FIRE_TRY(take_viewed(b, taken + 2));
    a->copy = b->copy;
    b->copy = copy;
    FIRE_TRY(put_back(a, taken));
    return put_back(b, taken + 2);
}

fire_status_t fire_storage_swap(fire_storage_t *a, fire_storage_t *b)
{
    fire_copy_t   taken[4] = {{.ptr = NULL}};
    fire_status_t st       = swap_values(a, b, taken);

    for (int i = 0; i < 4; i++)
        if (taken[i].ptr != NULL) fire_copy_drop(&taken[i]);
    a->version++;
    b->version++;
    return st;
}
