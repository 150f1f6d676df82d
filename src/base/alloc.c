#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static _Atomic int64_t alloc_count, fail_at;

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
        const char *wish = getenv("FIRE_FAIL_ALLOC");

        if (wish != NULL) atomic_store(&fail_at, atoll(wish));
    }
    return nth == atomic_load(&fail_at);
}

fire_status_t fire_alloc(size_t n, size_t size, const char *what, void **ptr_p)
{
    size_t bytes = 0;
    void  *ptr   = NULL;

    if (!__builtin_mul_overflow(n, size, &bytes) && bytes <= SIZE_MAX - ALIGN &&
        !must_fail())
        ptr = aligned_alloc(ALIGN, (bytes + ALIGN) / ALIGN * ALIGN);
    if (ptr == NULL)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "out of memory: %zu x %zu bytes for %s", n,
                         size, what);
    memset(ptr, 0, bytes);
    *ptr_p = ptr;
    return FIRE_OK;
}

void fire_free(void *ptr)
{
    free(ptr);
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
