/* alloc.h - zeroed memory that fails politely. Every allocation of the library
 * goes through here, so that a test can make the n-th one fail. */
#ifndef FIRE_BASE_ALLOC_H
#define FIRE_BASE_ALLOC_H
#include "base/error.h"

FIRE_BEGIN_C
/* Zeroed array of n elements of `size` bytes, aligned to 64 bytes; end it with
 * fire_free(). n = 0 gives a valid pointer. `what` names it in the message. */
fire_status_t fire_alloc(size_t n, size_t size, const char *what, void **ptr_p);
/* The same with any contents: for large memory that is written before it is read. */
fire_status_t fire_alloc_raw(size_t bytes, const char *what, void **ptr_p);
void          fire_free(void *ptr); /* NULL is allowed */

/* A large range of addresses whose memory comes, zeroed, where it is first touched;
 * *bytes_p of them, as many as the machine has memory if the system allows. */
fire_status_t fire_reserve(void **ptr_p, size_t *bytes_p);
void          fire_unreserve(void *ptr, size_t bytes);

/* Grow an array to hold `want` elements, keeping its contents; *cap grows by
 * half at least, so that appending is cheap. New elements are zero. */
fire_status_t fire_grow(void *array_p, int64_t *cap, int64_t want, size_t size);

fire_status_t fire_strdup(const char *text, char **copy_p);
/* printf into fresh memory. */
fire_status_t fire_asprintf(char **text_p, const char *format, ...) FIRE_PRINTF(2, 3);

#define FIRE_NEW(ptr, n) fire_alloc((size_t)(n), sizeof(**(ptr)), #ptr, (void **)(ptr))

/* Tests: let the n-th allocation from now on fail (0: none). The environment
 * variable FIRE_FAIL_ALLOC does the same from outside. */
void    fire_alloc_fail_at(int64_t n);
int64_t fire_alloc_count(void); /* allocations so far, all threads */
FIRE_END_C
#endif
