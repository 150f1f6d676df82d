/* storage_state.h - the members of a storage, for the files that implement it. */
#ifndef FIRE_BLOB_STORAGE_STATE_H
#define FIRE_BLOB_STORAGE_STATE_H
#include <stdatomic.h>

#include "blob/storage.h"

enum { FIRE_MAX_COPIES = 6 };

/* A copy of the values in one format. ptr NULL: the slot is free. */
typedef struct fire_copy {
    fire_format_t  format;
    void          *ptr;
    fire_pool_t   *pool;   /* the pool that owns ptr, or NULL */
    fire_region_t *region; /* keeps ptr, with others; NULL: the copy owns it alone */
    size_t         bytes;  /* allocated */
    bool           valid;  /* holds the current values */
    bool           bound;  /* ptr is the caller's memory */
    bool           used;   /* may be non-zero; fresh memory is all zero */
    int            ndim;   /* the shape it was written with */
    int64_t        dim[FIRE_MAX_DIMS];
} fire_copy_t;

struct fire_storage {
    _Atomic int  refs;
    int64_t      conversions; /* made so far */
    uint64_t     version;     /* see fire_storage_version() */
    fire_pool_t *pool;        /* for new memory; NULL: the device's allocator */
    bool         lasting;
    bool         viewed; /* has had views */
    fire_copy_t *copy;   /* [FIRE_MAX_COPIES]; slots never move */
};

/* The copy in this format, valid or not; NULL: there is none. */
fire_copy_t *fire_storage_find_copy(const fire_storage_t *storage,
                                    const fire_format_t  *format);
/* Free a copy, by the way it was allocated; the slot is free then. */
void fire_copy_drop(fire_copy_t *copy);

static inline bool fire_copy_is_viewed(const fire_copy_t *copy)
{
    return fire_region_is_viewed(copy->region);
}
#endif
