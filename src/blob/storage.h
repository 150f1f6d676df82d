/* storage.h - the memory of one part (data or gradient) of one or more blobs.
 *
 * A storage holds up to six copies of the same values, each in another format: place
 * (CPU or GPU), type (float32, bf16, ...) and layout (plain NCHW, NHWC, blocked). A
 * copy is valid or stale. Reading converts from a valid copy if there is none in the
 * wanted format; writing leaves only the written copy valid. All functions but retain
 * and release are for one thread at a time. */
#ifndef FIRE_BLOB_STORAGE_H
#define FIRE_BLOB_STORAGE_H
#include "blob/region.h"
#include "device/device.h"
#include "device/pool.h"

FIRE_BEGIN_C
/* READ: values are there; WRITE: contents are undefined, all will be written; UPDATE:
 * both. */
typedef enum fire_access { FIRE_READ, FIRE_WRITE, FIRE_UPDATE } fire_access_t;

typedef struct fire_storage fire_storage_t;

/* Storage is reference-counted: create() and retain() count one, release() counts
 * down. */
fire_status_t   fire_storage_create(fire_storage_t **storage_p);
fire_storage_t *fire_storage_retain(fire_storage_t *storage);
void            fire_storage_release(fire_storage_t *storage); /* NULL is allowed */

/* Set *ptr_p to the values in this format, for an array of this shape. Memory is
 * allocated on first use, zeroed. The pointer is valid until the storage grows or is
 * cleared. */
fire_status_t fire_storage_access(fire_storage_t *storage, fire_access_t access,
                                  const fire_format_t *format, int ndim,
                                  const int64_t *dim, void **ptr_p);

/* From now on use the caller's memory for plain float32 values on this place (a
 * communication buffer, for example). It must have room for `bytes`. Values that exist
 * are copied there. owner: what keeps the memory, retained by the storage; NULL: the
 * caller keeps it until the storage and its views have ended. */
fire_status_t fire_storage_bind(fire_storage_t *storage, fire_place_t place,
                                void *memory, size_t bytes, fire_region_t *owner);

/* ---- views: memory of plain float32 values that stays where it is as long as it is
 * looked at. While there are views of a storage, whoever runs the layers that use it
 * calls absorb() before (the values may have been changed through the views) and
 * refresh() after. For an array of this shape. */

/* End *view_p with fire_region_drop_view(). */
fire_status_t fire_storage_view(fire_storage_t *storage, fire_place_t place, int ndim,
                                const int64_t *dim, fire_region_t **view_p);
/* The viewed copy becomes the only valid one; that on the CPU where both places have
 * views. */
fire_status_t fire_storage_absorb(fire_storage_t *storage, int ndim,
                                  const int64_t *dim);
/* Every viewed copy gets the values of now, and no other copy stays valid. */
fire_status_t fire_storage_refresh(fire_storage_t *storage, int ndim,
                                   const int64_t *dim);

/* From now on take new memory from this pool (on the GPU from its GPU half). lasting:
 * the memory is kept for the whole run. */
void fire_storage_use_pool(fire_storage_t *storage, fire_pool_t *pool, bool lasting);

/* Is there a valid copy in this format? Then reading costs nothing. */
bool fire_storage_has(const fire_storage_t *storage, const fire_format_t *format);
/* zero() makes all values zero; memory is cleared only when it is read. is_zero() tells
 * if that is still so: a kernel that would add to the values may overwrite them
 * then. */
void fire_storage_zero(fire_storage_t *storage);
bool fire_storage_is_zero(const fire_storage_t *storage);
/* The format of a valid copy on this place, for a blob of this shape: a library's own
 * layout before NHWC before plain; plain if there is no valid copy. Never FIRE_EVEN,
 * which lacks half of the values. */
fire_format_t fire_storage_format_at(const fire_storage_t *storage, fire_place_t place,
                                     int ndim, const int64_t *dim);
/* Is a copy on this place valid? */
bool fire_storage_is_on(const fire_storage_t *storage, fire_place_t place);
/* The set of valid copies as a number, and setting it again: for a CUDA graph, whose
 * replay writes the same memory as the recorded pass. */
unsigned fire_storage_marks(const fire_storage_t *storage);
void     fire_storage_set_marks(fire_storage_t *storage, unsigned marks);
/* Exchange the values of two storages without copying. Neither may have bound memory.
 * Viewed memory stays with its storage, so its values are copied: ask for pointers
 * again. */
fire_status_t fire_storage_swap(fire_storage_t *a, fire_storage_t *b);
/* Make all copies stale and free memory that is not bound. Views keep the values that
 * they have and are not refreshed again. */
void fire_storage_clear(fire_storage_t *storage);
/* Does somebody hold a view of it? */
bool fire_storage_is_viewed(const fire_storage_t *storage);
/* If there is a valid plain copy, free all others. */
void fire_storage_trim(fire_storage_t *storage);
/* Number of conversions so far. */
int64_t fire_storage_conversions(const fire_storage_t *storage);
/* A number that changes whenever the values may have changed. */
uint64_t fire_storage_version(const fire_storage_t *storage);
size_t   fire_storage_bytes(const fire_storage_t *storage); /* bytes of all copies */
/* Do several blobs use it? */
bool fire_storage_is_shared(const fire_storage_t *storage);
FIRE_END_C
#endif
