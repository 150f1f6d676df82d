/* storage.h - the memory behind one part of one or more blobs. The same values may
 * be held in several formats at once (host and device, plain and blocked); a read
 * converts from a valid one, a write leaves one valid. */
#ifndef FIRE_BLOB_STORAGE_H
#define FIRE_BLOB_STORAGE_H
#include "device/device.h"
#include "device/pool.h"

FIRE_BEGIN_C
typedef enum fire_access { FIRE_READ, FIRE_WRITE, FIRE_UPDATE } fire_access_t;

typedef struct fire_storage fire_storage_t;

fire_status_t   fire_storage_create(fire_storage_t **storage_p);
fire_storage_t *fire_storage_retain(fire_storage_t *storage);
void            fire_storage_release(fire_storage_t *storage); /* NULL is allowed */

fire_status_t fire_storage_access(fire_storage_t *storage, fire_access_t access,
                                  const fire_format_t *format, int ndim,
                                  const int64_t *dim, void **ptr_p);

/* Use the caller's memory for plain float32 on this place from now on (a memory plan's
 * arena, a communication buffer). It must hold `bytes` and outlive the storage;
 * values already there move in. */
fire_status_t fire_storage_bind(fire_storage_t *storage, fire_place_t place,
                                void *memory, size_t bytes);

/* Take memory from this pool from now on, on the GPU from the one beside it; lasting: to
 * keep it. */
void fire_storage_use_pool(fire_storage_t *storage, fire_pool_t *pool, bool lasting);

/* Is there a valid copy in this format, so that reading it costs nothing? */
bool fire_storage_has(const fire_storage_t *storage, const fire_format_t *format);
/* All values are zero from now on; memory is written only when somebody reads it. Is it
 * still so? Then who would add may as well overwrite. */
void fire_storage_zero(fire_storage_t *storage);
bool fire_storage_is_zero(const fire_storage_t *storage);
/* The format the values are held in now on this place, for a blob of this shape: a
 * library's own before plain; plain where there are none yet. It is one of all values:
 * FIRE_EVEN is for who asks for it. */
fire_format_t fire_storage_format_at(const fire_storage_t *storage, fire_place_t place,
                                     int ndim, const int64_t *dim);
/* Are there values on this place? */
bool fire_storage_is_on(const fire_storage_t *storage, fire_place_t place);
/* Which formats hold the values, as a number; say so again, when memory has been written
 * in the same way once more. */
unsigned fire_storage_marks(const fire_storage_t *storage);
void     fire_storage_set_marks(fire_storage_t *storage, unsigned marks);
/* Exchange what two storages hold: a way to keep old values without copying them. No
 * bound memory may be involved. */
void fire_storage_swap(fire_storage_t *a, fire_storage_t *b);
/* Forget the values and free memory that is not bound. */
void fire_storage_clear(fire_storage_t *storage);
/* Free the copies in other formats, where there is a plain one. */
void    fire_storage_trim(fire_storage_t *storage);
int64_t fire_storage_conversions(const fire_storage_t *storage); /* so far */
/* A number that changes whenever the values may have. */
uint64_t fire_storage_version(const fire_storage_t *storage);
size_t   fire_storage_bytes(const fire_storage_t *storage); /* held now */
bool     fire_storage_is_shared(const fire_storage_t *storage);
FIRE_END_C
#endif
