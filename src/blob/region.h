/* region.h - memory that ends with the last of its users: a copy of a blob's values,
 * the object that lends its memory to blobs (fire_storage_bind()), views of the values.
 * All functions may be called by any thread. */
#ifndef FIRE_BLOB_REGION_H
#define FIRE_BLOB_REGION_H
#include "base/error.h"

FIRE_BEGIN_C
typedef struct fire_region fire_region_t;

/* Called once, with the memory, by the thread that releases the buffer last. */
typedef void (*fire_region_free_t)(void *arg, void *memory);

/* Take over `memory`; the caller has the first reference. free NULL: somebody else
 * frees it, after the buffer. On failure the memory is still the caller's. */
fire_status_t  fire_region_create(void *memory, fire_region_free_t free, void *arg,
                                  fire_region_t **region_p);
fire_region_t *fire_region_retain(fire_region_t *region);  /* NULL is allowed */
void           fire_region_release(fire_region_t *region); /* NULL is allowed */
void          *fire_region_memory(const fire_region_t *region);

/* References that are views, which the storage keeps up to date. NULL: not viewed. */
fire_region_t *fire_region_add_view(fire_region_t *region);
void           fire_region_drop_view(fire_region_t *region);
bool           fire_region_is_viewed(const fire_region_t *region);
FIRE_END_C
#endif
