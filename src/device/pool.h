/* pool.h - memory that goes round: what one blob gives back, the next takes. Kept by a
 * net for its activations, gradients and scratch. One thread at a time may take and
 * give; whoever holds memory of it keeps the pool alive.
 *
 * On a GPU memory may be given back while work that uses it is still queued: whatever
 * takes it next must use the same queue. */
#ifndef FIRE_DEVICE_POOL_H
#define FIRE_DEVICE_POOL_H
#include <fire/blob.h>
#include "base/error.h"

typedef struct fire_pool fire_pool_t;

fire_status_t fire_pool_create(fire_pool_t **pool_p);
/* Let it have a pool on the GPU beside it, where the GPU's driver can do that. */
void fire_pool_add_gpu(fire_pool_t *pool);
/* The pool for this place, or NULL. */
fire_pool_t *fire_pool_on(fire_pool_t *pool, fire_place_t place);
fire_pool_t *fire_pool_retain(fire_pool_t *pool); /* NULL is allowed */
void         fire_pool_release(fire_pool_t *pool);

/* What taking so many bytes takes. */
size_t fire_pool_round(size_t bytes);
/* At least `bytes`, aligned for vectors, with any contents. */
fire_status_t fire_pool_take(fire_pool_t *pool, size_t bytes, void **ptr_p);
/* The same for what stays: it lies apart, so as not to part what others leave. A GPU has
 * no such place. */
fire_status_t fire_pool_take_lasting(fire_pool_t *pool, size_t bytes, void **ptr_p);
void          fire_pool_give(fire_pool_t *pool, void *ptr); /* NULL is allowed */

size_t fire_pool_peak(const fire_pool_t *pool); /* bytes in use, at most; NULL: 0 */
#endif
