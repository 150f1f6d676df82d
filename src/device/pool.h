/* pool.h - a memory pool: what one blob gives back, the next takes. A net has one for
 * its activations, gradients and scratch memory. Reference counted: whoever keeps
 * memory of a pool retains it. One thread at a time may take and give.
 *
 * On a GPU, memory may be given back while queued work still uses it. So whoever takes
 * it next must use it on the same queue. */
#ifndef FIRE_DEVICE_POOL_H
#define FIRE_DEVICE_POOL_H
#include <fire/blob.h>
#include "base/error.h"

typedef struct fire_pool fire_pool_t;

fire_status_t fire_pool_create(fire_pool_t **pool_p);
/* Add a pool on the current GPU to it; does nothing where the driver cannot reserve
 * virtual memory. */
void fire_pool_add_gpu(fire_pool_t *pool);
/* The pool for this place, or NULL where there is none. */
fire_pool_t *fire_pool_on(fire_pool_t *pool, fire_place_t place);
fire_pool_t *fire_pool_retain(fire_pool_t *pool); /* NULL is allowed */
void         fire_pool_release(fire_pool_t *pool);

/* Bytes that a request for `bytes` occupies. */
size_t fire_pool_round(size_t bytes);
/* Take at least `bytes`, aligned to 256 bytes, not cleared. */
fire_status_t fire_pool_take(fire_pool_t *pool, size_t bytes, void **ptr_p);
/* The same for memory that is kept as long as the net (parameters): from the other end
 * of the range, so that it does not fragment what activations use. On a GPU there is no
 * such end, and it equals fire_pool_take(). */
fire_status_t fire_pool_take_lasting(fire_pool_t *pool, size_t bytes, void **ptr_p);
void          fire_pool_give(fire_pool_t *pool, void *ptr); /* NULL is allowed */

size_t fire_pool_peak(const fire_pool_t *pool); /* most bytes ever in use; NULL: 0 */
#endif
