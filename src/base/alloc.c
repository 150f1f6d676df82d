/* alloc.c - aligned memory, large pages for large blocks, failures on request. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/host/memory.h"

/* Bytes: a cache line; a large page; blocks from here on use large pages. */
enum { ALIGN = 64, HUGE_PAGE = 2 << 20, LARGE = 8 << 20 };

static _Atomic int64_t alloc_count, fail_at; /* fail_at 0: never */

void fire_alloc_fail_at(int64_t n)
{
    atomic_store(&fail_at, n > 0 ? atomic_load(&alloc_count) + n : 0);
}

int64_t fire_alloc_count(void)
{
    return atomic_load(&alloc_count);
}

static bool must_fail(void)
{
    int64_t nth = atomic_fetch_add(&alloc_count, 1) + 1;

    if (nth == 1) {
        const char *nth_text = getenv("FIRE_FAIL_ALLOC");

        if (nth_text != NULL) atomic_store(&fail_at, atoll(nth_text));
    }
    return nth == atomic_load(&fail_at);
}

/* Large blocks ask for large pages, so that the processor looks up far fewer address
 * translations. */
static void *get(size_t bytes)
{
    size_t align = bytes >= LARGE ? HUGE_PAGE : ALIGN;
    void  *ptr   = aligned_alloc(align, (bytes + align) / align * align);

    if (ptr != NULL && align == HUGE_PAGE) madvise(ptr, bytes, MADV_HUGEPAGE);
    return ptr;
}

fire_status_t fire_alloc_raw(size_t bytes, const char *what, void **ptr_p)
{
    void *ptr = bytes <= SIZE_MAX - HUGE_PAGE && !must_fail() ? get(bytes) : NULL;

    if (ptr == NULL)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "out of memory: %zu bytes for %s", bytes,
                         what);
    *ptr_p = ptr;
    return FIRE_OK;
}

fire_status_t fire_alloc(size_t n, size_t size, const char *what, void **ptr_p)
{
    size_t bytes = 0;

    if (__builtin_mul_overflow(n, size, &bytes))
        return FIRE_FAIL(FIRE_ERR_NOMEM, "out of memory: %zu x %zu bytes for %s", n,
                         size, what);
    FIRE_TRY(fire_alloc_raw(bytes, what, ptr_p));
    memset(*ptr_p, 0, bytes);
    return FIRE_OK;
}

void fire_free(void *ptr)
{
    free(ptr);
}

/* Bytes of addresses that this process has mapped; 0: not known. */
static size_t addresses_in_use(void)
{
    unsigned long pages = 0;
    FILE         *f     = fopen("/proc/self/statm", "r");

    if (f == NULL) return 0;
    if (fscanf(f, "%lu", &pages) != 1) pages = 0;
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of addresses to reserve: as many as there is memory. If addresses are limited
 * (ulimit -v, as batch systems set it), a quarter of those left: libraries need some
 * too. */
static size_t fair_share(void)
{
    size_t        memory = fire_memory_size(), used = addresses_in_use(), left;
    struct rlimit most;

    if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY)
        return memory;
    left = most.rlim_cur > used ? (most.rlim_cur - used) / 4 : 0;
    return left < memory ? left : memory;
}

fire_status_t fire_reserve(void **ptr_p, size_t *bytes_p)
{
    size_t bytes = fair_share();
    void  *ptr   = MAP_FAILED;

    for (; bytes >= LARGE && ptr == MAP_FAILED && !must_fail(); bytes /= 2) {
        *bytes_p = bytes;
        ptr      = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (ptr == MAP_FAILED)
        return FIRE_FAIL(FIRE_ERR_NOMEM,
                         "out of memory: no addresses for activations; is there "
                         "a limit (ulimit -v)?");
    madvise(ptr, *bytes_p, MADV_HUGEPAGE);
    *ptr_p = ptr;
    return FIRE_OK;
}

void fire_unreserve(void *ptr, size_t bytes)
{
    munmap(ptr, bytes);
}

fire_status_t fire_grow(void *array_p, int64_t *cap, int64_t want, size_t size)
{
    void  *old = NULL, *fresh = NULL;
    size_t n;

    if (want <= *cap) return FIRE_OK;
    n = (size_t)(want > *cap + *cap / 2 ? want : *cap + *cap / 2);
    n = n < 8 ? 8 : n;
    FIRE_TRY(fire_alloc(n, size, "array", &fresh));
    memcpy(&old, array_p, sizeof(old));
    if (old != NULL) memcpy(fresh, old, (size_t)*cap * size);
    fire_free(old);
    memcpy(array_p, &fresh, sizeof(fresh));
    *cap = (int64_t)n;
    return FIRE_OK;
}

fire_status_t fire_strdup(const char *text, char **copy_p)
{
    return fire_asprintf(copy_p, "%s", text);
}

fire_status_t fire_asprintf(char **text_p, const char *format, ...)
{
    va_list ap;
    char   *text;
    int     n;

    va_start(ap, format);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0) return FIRE_FAIL(FIRE_ERR_INVALID, "bad format \"%s\"", format);
    FIRE_TRY(fire_alloc((size_t)n + 1, 1, "text", (void **)&text));
    va_start(ap, format);
    vsnprintf(text, (size_t)n + 1, format, ap);
    va_end(ap);
    *text_p = text;
    return FIRE_OK;
}
