/* storage.c - copies of the same values in several formats, converted when needed. */
#include <string.h>

#include "base/alloc.h"
#include "blob/storage_state.h"

fire_status_t fire_storage_create(fire_storage_t **storage_p)
{
    fire_storage_t *s;
    fire_status_t   st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->copy, FIRE_MAX_COPIES), err_storage);
    atomic_init(&s->refs, 1);
    *storage_p = s;
    return FIRE_OK;

err_storage:
    fire_free(s);
    return st;
}

fire_storage_t *fire_storage_retain(fire_storage_t *storage)
{
    atomic_fetch_add(&storage->refs, 1);
    return storage;
}

void fire_copy_drop(fire_copy_t *c)
{
    if (c->pool != NULL)
        fire_pool_give(c->pool, c->ptr);
    else if (c->region == NULL && !c->bound && c->ptr != NULL)
        fire_device_find(c->format.place)->free(c->ptr);
    fire_region_release(c->region);
    fire_pool_release(c->pool);
    memset(c, 0, sizeof(*c));
}

void fire_storage_use_pool(fire_storage_t *s, fire_pool_t *pool, bool lasting)
{
    fire_pool_release(s->pool);
    s->pool    = fire_pool_retain(pool);
    s->lasting = lasting;
}

void fire_storage_clear(fire_storage_t *s)
{
    s->version++;
    for (int i = 0; i < FIRE_MAX_COPIES; i++) {
        s->copy[i].valid = false;
        if (!s->copy[i].bound) fire_copy_drop(&s->copy[i]);
    }
}

void fire_storage_trim(fire_storage_t *s)
{
    const fire_copy_t *kept = NULL;

    for (int i = 0; i < FIRE_MAX_COPIES && kept == NULL; i++)
        if (s->copy[i].valid && fire_format_is_plain(&s->copy[i].format))
            kept = &s->copy[i];
    for (int i = 0; i < FIRE_MAX_COPIES && kept != NULL; i++)
        if (&s->copy[i] != kept && !s->copy[i].bound &&
            !fire_copy_is_viewed(&s->copy[i]))
            fire_copy_drop(&s->copy[i]);
}

void fire_storage_release(fire_storage_t *s)
{
    if (s == NULL || atomic_fetch_sub(&s->refs, 1) > 1) return;
    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        fire_copy_drop(&s->copy[i]);
    fire_pool_release(s->pool);
    fire_free(s->copy);
    fire_free(s);
}

/* Bytes of an array in this format; FIRE_EVEN has only every second row and column. */
static size_t bytes_of(const fire_format_t *f, int ndim, const int64_t *dim)
{
    size_t n = fire_dtype_size(f->dtype);

    if (f->layout == FIRE_OPAQUE) return f->opaque->bytes;
    for (int i = 0; i < ndim; i++)
        n *= (size_t)(f->layout == FIRE_EVEN && i > 1 ? (dim[i] + 1) / 2 : dim[i]);
    return n;
}

fire_copy_t *fire_storage_find_copy(const fire_storage_t *s,
                                    const fire_format_t  *format)
{
    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        if (s->copy[i].ptr != NULL && fire_format_equal(&s->copy[i].format, format))
            return &s->copy[i];
    return NULL;
}

/* A valid copy, preferably on `place`; NULL: all values are zero. */
static fire_copy_t *find_valid(const fire_storage_t *s, fire_place_t place)
{
    fire_copy_t *other = NULL;

    for (int i = 0; i < FIRE_MAX_COPIES; i++) {
        if (!s->copy[i].valid) continue;
        if (s->copy[i].format.place == place) return &s->copy[i];
        other = &s->copy[i];
    }
    return other;
}

bool fire_storage_has(const fire_storage_t *s, const fire_format_t *format)
{
    const fire_copy_t *c = fire_storage_find_copy(s, format);

    return c != NULL && c->valid;
}

void fire_storage_zero(fire_storage_t *s)
{
    s->version++;
    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        s->copy[i].valid = false;
}

bool fire_storage_is_zero(const fire_storage_t *s)
{
    return find_valid(s, FIRE_CPU) == NULL;
}

/* Plain values have no shape of their own; other layouts keep their writer's. */
static bool has_shape(const fire_copy_t *c, int ndim, const int64_t *dim)
{
    return c->format.layout == FIRE_PLAIN ||
           (c->ndim == ndim && memcmp(c->dim, dim, (size_t)ndim * sizeof(*dim)) == 0);
}

fire_format_t fire_storage_format_at(const fire_storage_t *s, fire_place_t place,
                                     int ndim, const int64_t *dim)
{
    fire_format_t best  = FIRE_FORMAT_PLAIN(place);
    bool          found = false;

    for (int i = 0; i < FIRE_MAX_COPIES; i++) {
        const fire_copy_t *c = &s->copy[i];

        if (c->valid && c->format.place == place && has_shape(c, ndim, dim) &&
            (!found || best.layout < c->format.layout)) {
            best  = c->format;
            found = true;
        }
    }
    if (best.layout == FIRE_EVEN) best.layout = FIRE_NHWC;
    return best;
}

bool fire_storage_is_on(const fire_storage_t *s, fire_place_t place)
{
    const fire_copy_t *c = find_valid(s, place);

    return c != NULL && c->format.place == place;
}

unsigned fire_storage_marks(const fire_storage_t *s)
{
    unsigned marks = 0;

    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        if (s->copy[i].valid) marks |= 1u << i;
    return marks;
}

void fire_storage_set_marks(fire_storage_t *s, unsigned marks)
{
    s->version++;
    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        s->copy[i].valid = s->copy[i].ptr != NULL && (marks >> i & 1);
}

/* A free slot, freeing a stale copy if necessary; NULL: none. */
static fire_copy_t *free_slot(fire_storage_t *s)
{
    fire_copy_t *stale = NULL;

    for (int i = 0; i < FIRE_MAX_COPIES; i++) {
        if (s->copy[i].ptr == NULL) return &s->copy[i];
        if (!s->copy[i].valid && !s->copy[i].bound && !fire_copy_is_viewed(&s->copy[i]))
            stale = &s->copy[i];
    }
    if (stale != NULL) fire_copy_drop(stale);
    return stale;
}

/* Allocate a copy. Memory of a pool has any contents, other memory is zero. */
static fire_status_t get_memory(const fire_storage_t *s, const fire_format_t *format,
                                size_t bytes, fire_copy_t *c)
{
    fire_pool_t *pool = fire_pool_on(s->pool, format->place);

    *c = (fire_copy_t){.format = *format, .bytes = bytes};
    if (pool == NULL)
        return fire_device_find(format->place)->alloc(bytes > 0 ? bytes : 1, &c->ptr);
    c->used = true;
    FIRE_TRY(
        (s->lasting ? fire_pool_take_lasting : fire_pool_take)(pool, bytes, &c->ptr));
    c->pool = fire_pool_retain(pool);
    return FIRE_OK;
}

/* The copy in this format, with room for `bytes`. Its values are kept if it had room
 * already; a new one is stale. */
static fire_status_t make_room(fire_storage_t *s, const fire_format_t *format,
                               size_t bytes, fire_copy_t **copy_p)
{
    fire_copy_t *c = fire_storage_find_copy(s, format), fresh;

    if (fire_device_find(format->place) == NULL)
        return FIRE_FAIL(FIRE_ERR_DEVICE, "there is no GPU back end");
    if (c == NULL || c->bytes < bytes) {
        if (c != NULL && c->bound)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "a blob outgrew its planned memory (%zu > %zu bytes)",
                             bytes, c->bytes);
        if (c == NULL) c = free_slot(s);
        if (c == NULL)
            return FIRE_FAIL(FIRE_ERR_INVALID, "a blob is held in too many formats");
        FIRE_TRY(get_memory(s, format, bytes, &fresh));
        fire_copy_drop(c);
        *c = fresh;
    }
    *copy_p = c;
    return FIRE_OK;
}

static int64_t count_of(int ndim, const int64_t *dim)
{
    int64_t n = 1;

    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    return n;
}

/* Values that a copy holds: plain ones have no shape of their own, so as many as there
 * is room for; other layouts keep their writer's shape. */
static int64_t count_in(const fire_copy_t *c)
{
    if (c->format.layout == FIRE_PLAIN)
        return (int64_t)(c->bytes / fire_dtype_size(c->format.dtype));
    return count_of(c->ndim, c->dim);
}

/* The blob got another size since `from` was written: its first values, in plain order,
 * are kept, and new ones are zero. */
static fire_status_t bring_resized(const fire_device_t *device, const fire_copy_t *from,
                                   fire_copy_t *c)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(c->format.place);
    bool          flat  = from->format.layout == FIRE_PLAIN;
    int64_t       held = count_in(from), wanted = count_of(c->ndim, c->dim);
    size_t        bytes = sizeof(float) * (size_t)(held > wanted ? held : wanted);
    void         *all;
    fire_status_t st;

    FIRE_TRY(device->alloc(bytes, &all));
    FIRE_TRY_GOTO(st, device->clear(all, bytes), out);
    FIRE_TRY_GOTO(st,
                  device->convert(&from->format, from->ptr, &plain, all,
                                  flat ? 1 : from->ndim, flat ? &held : from->dim),
                  out);
    st = device->convert(&plain, all, &c->format, c->ptr, c->ndim, c->dim);
out:
    device->free(all);
    return st;
}

/* Convert the valid copy `from`, on the same place, into c. */
static fire_status_t bring_local(const fire_device_t *device, const fire_copy_t *from,
                                 fire_copy_t *c)
{
    bool    flat   = from->format.layout == FIRE_PLAIN;
    int64_t wanted = count_of(c->ndim, c->dim);

    if (flat ? count_in(from) < wanted : count_in(from) != wanted)
        return bring_resized(device, from, c);
    return device->convert(&from->format, from->ptr, &c->format, c->ptr,
                           flat ? c->ndim : from->ndim, flat ? c->dim : from->dim);
}

/* Convert the valid copy `from` into c. Values are copied between CPU and GPU only as
 * plain float32, so other formats at either end need another conversion there. */
static fire_status_t bring(fire_storage_t *s, const fire_copy_t *from, fire_copy_t *c)
{
    const fire_device_t *gpu   = fire_device_find(FIRE_GPU);
    fire_format_t        here  = FIRE_FORMAT_PLAIN(c->format.place);
    fire_format_t        there = FIRE_FORMAT_PLAIN(from->format.place);
    const fire_device_t *local = fire_device_find(here.place);
    size_t               bytes = bytes_of(&here, c->ndim, c->dim);
    void                *src;

    s->conversions++;
    if (from->format.place == c->format.place) return bring_local(local, from, c);
    if (!fire_format_is_plain(&c->format)) {
        FIRE_TRY(fire_storage_access(s, FIRE_READ, &here, c->ndim, c->dim, &src));
        return local->convert(&here, src, &c->format, c->ptr, c->ndim, c->dim);
    }
    FIRE_TRY(fire_storage_access(s, FIRE_READ, &there, c->ndim, c->dim, &src));
    return c->format.place == FIRE_GPU ? gpu->from_host(c->ptr, src, bytes)
                                       : gpu->to_host(c->ptr, src, bytes);
}

fire_status_t fire_storage_access(fire_storage_t *s, fire_access_t access,
                                  const fire_format_t *format, int ndim,
                                  const int64_t *dim, void **ptr_p)
{
    fire_copy_t *c;

    FIRE_TRY(make_room(s, format, bytes_of(format, ndim, dim), &c));
    if (access == FIRE_WRITE || !c->valid || format->layout == FIRE_PLAIN) {
        c->ndim = ndim;
        if (ndim > 0) memcpy(c->dim, dim, (size_t)ndim * sizeof(*dim));
    }
    if (access != FIRE_WRITE && !c->valid) {
        const fire_copy_t *from = find_valid(s, format->place);

        if (from != NULL)
            FIRE_TRY(bring(s, from, c));
        else if (c->used) /* no valid copy: all values are zero */
            FIRE_TRY(fire_device_find(format->place)->clear(c->ptr, c->bytes));
    }
    if (access != FIRE_READ) {
        for (int i = 0; i < FIRE_MAX_COPIES; i++)
            s->copy[i].valid = false;
        s->version++;
    }
    c->valid = c->used = true;
    *ptr_p             = c->ptr;
    return FIRE_OK;
}

static void release_owner(void *owner, void *memory)
{
    (void)memory;
    fire_region_release(owner);
}

fire_status_t fire_storage_bind(fire_storage_t *s, fire_place_t place, void *memory,
                                size_t bytes, fire_region_t *owner)
{
    fire_format_t        plain  = FIRE_FORMAT_PLAIN(place);
    const fire_device_t *device = fire_device_find(place);
    fire_region_t       *region = NULL;
    fire_copy_t         *c, old = {0};

    FIRE_TRY(make_room(s, &plain, 0, &c));
    old = *c;
    if (old.valid && old.bytes > bytes)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%zu bytes cannot hold a blob of %zu", bytes,
                         old.bytes);
    if (old.valid && old.ptr != memory)
        FIRE_TRY(device->copy(memory, old.ptr, old.bytes));
    if (owner != NULL) {
        FIRE_TRY(fire_region_create(memory, release_owner, owner, &region));
        fire_region_retain(owner);
    }
    c->ptr   = memory;
    c->bytes = bytes;
    c->bound = c->used = true;
    c->pool            = NULL;
    c->region          = region;
    fire_copy_drop(&old);
    return FIRE_OK;
}

int64_t fire_storage_conversions(const fire_storage_t *s)
{
    return s->conversions;
}

uint64_t fire_storage_version(const fire_storage_t *s)
{
    return s->version;
}

size_t fire_storage_bytes(const fire_storage_t *s)
{
    size_t sum = 0;

    for (int i = 0; i < FIRE_MAX_COPIES; i++)
        sum += s->copy[i].bytes;
    return sum;
}

bool fire_storage_is_shared(const fire_storage_t *s)
{
    return atomic_load(&s->refs) > 1;
}
