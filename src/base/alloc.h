/* alloc.h - memory allocation that returns a status. Every allocation of the library
 * goes through here, so that a test can make the n-th one fail. Thread-safe.
 *
 *   float *x;
 *   FIRE_TRY(FIRE_NEW(&x, count));    zeroed, aligned to 64 bytes
 *   fire_free(x);                    fire/memory.h */
#ifndef FIRE_BASE_ALLOC_H
#define FIRE_BASE_ALLOC_H
#include <fire/memory.h>
#include "base/error.h"

FIRE_BEGIN_C
/* Allocate a zeroed array of n elements of `size` bytes, aligned to 64 bytes; free it
 * with fire_free(). n = 0 gives a valid pointer. `what` names it in the error
 * message. */
fire_status_t fire_alloc(size_t n, size_t size, const char *what, void **ptr_p);
/* The same, not zeroed: for large memory that is written before it is read. */
fire_status_t fire_alloc_raw(size_t bytes, const char *what, void **ptr_p);

/* Reserve a large range of addresses; the system provides zeroed memory page by page,
 * when a page is first touched. *bytes_p: as many as the machine has memory, or less if
 * the system limits addresses. */
fire_status_t fire_reserve(void **ptr_p, size_t *bytes_p);
void          fire_unreserve(void *ptr, size_t bytes);

/* Make room for `want` elements of `size` bytes in the array at *array_p, keeping its
 * contents. *cap, the room there is, grows by half at least, so that appending one by
 * one takes linear time. New elements are zero. */
fire_status_t fire_grow(void *array_p, int64_t *cap, int64_t want, size_t size);

fire_status_t fire_strdup(const char *text, char **copy_p);
/* printf into newly allocated memory. */
fire_status_t fire_asprintf(char **text_p, const char *format, ...) FIRE_PRINTF(2, 3);

/* Allocate n zeroed elements of the type that *ptr points to. */
#define FIRE_NEW(ptr, n) fire_alloc((size_t)(n), sizeof(**(ptr)), #ptr, (void **)(ptr))

/* For tests: make the n-th allocation from now on fail (0: none). The environment
 * variable FIRE_FAIL_ALLOC=n does the same for a whole program. */
void    fire_alloc_fail_at(int64_t n);
int64_t fire_alloc_count(void); /* allocations so far, all threads */
FIRE_END_C
#endif
