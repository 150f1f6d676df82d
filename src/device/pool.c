/* pool.c - a first-fit allocator in one range of virtual addresses per pool.
 *
 *     | taken | gap | taken | gap ...                   ... gap | lasting | lasting |
 *       fire_pool_take() ->                           <- fire_pool_take_lasting()
 *
 * On the CPU the system backs a page with memory when it is first touched; on a GPU we
 * commit memory when the part in use grows beyond what it has ever been. Requests get
 * the lowest gap that holds them, and neighbouring gaps are merged, so the part in use
 * stays dense: a net allocates in forward and frees in backward, much like a stack. */
#include "device/pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"

enum { ALIGN = 256 }; /* as cudaMalloc aligns */

/* Spans cover the range without holes, in order of address. */
typedef struct span {
    size_t first, bytes; /* offset in the range; length */
    bool   taken;        /* else a gap */
} span_t;

struct fire_pool {
    _Atomic int          refs;
    const fire_device_t *gpu;    /* NULL: memory of the CPU */
    fire_pool_t         *on_gpu; /* a CPU pool's companion on the GPU, owned; or NULL */
    char                *memory; /* the range */
    size_t               bytes;  /* its length */
    size_t               peak, lasting; /* most bytes in use, counted from each end */
    size_t               committed; /* GPU: so many bytes of the range have memory */
    span_t              *span;
    int64_t              n, cap;
};

static fire_status_t create(const fire_device_t *gpu, fire_pool_t **pool_p)
{
    fire_pool_t  *p;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&p, 1));
    FIRE_TRY_GOTO(st, fire_grow(&p->span, &p->cap, 1, sizeof(*p->span)), err_pool);
    p->gpu = gpu;
    FIRE_TRY_GOTO(
        st, (gpu != NULL ? gpu->reserve : fire_reserve)((void **)&p->memory, &p->bytes),
        err_span);
    p->span[p->n++] = (span_t){.bytes = p->bytes};
    atomic_init(&p->refs, 1);
    *pool_p = p;
    return FIRE_OK;

err_span:
    fire_free(p->span);
err_pool:
    fire_free(p);
    return st;
}

fire_status_t fire_pool_create(fire_pool_t **pool_p)
{
    return create(NULL, pool_p);
}

void fire_pool_add_gpu(fire_pool_t *p)
{
    const fire_device_t *gpu = fire_device_find(FIRE_GPU);

    if (gpu == NULL || create(gpu, &p->on_gpu) < 0) p->on_gpu = NULL;
}

fire_pool_t *fire_pool_on(fire_pool_t *p, fire_place_t place)
{
    return place == FIRE_CPU || p == NULL ? p : p->on_gpu;
}

fire_pool_t *fire_pool_retain(fire_pool_t *p)
{
    if (p != NULL) atomic_fetch_add(&p->refs, 1);
    return p;
}

void fire_pool_release(fire_pool_t *p)
{
    if (p == NULL || atomic_fetch_sub(&p->refs, 1) > 1) return;
    if (p->gpu != NULL)
        p->gpu->release(p->memory, p->bytes, p->committed);
    else
        fire_unreserve(p->memory, p->bytes);
    fire_pool_release(p->on_gpu);
    fire_free(p->span);
    fire_free(p);
}

/* Insert a span at i; its contents are left to the caller. */
static fire_status_t insert(fire_pool_t *p, int64_t i)
{
    FIRE_TRY(fire_grow(&p->span, &p->cap, p->n + 1, sizeof(*p->span)));
    memmove(p->span + i + 1, p->span + i, (size_t)(p->n - i) * sizeof(*p->span));
    p->n++;
    return FIRE_OK;
}

static void erase(fire_pool_t *p, int64_t i)
{
    p->n--;
    memmove(p->span + i, p->span + i + 1, (size_t)(p->n - i) * sizeof(*p->span));
}

static bool has_room(const span_t *s, size_t bytes)
{
    return !s->taken && s->bytes >= bytes;
}

static fire_status_t out_of_memory(size_t bytes, const char *what)
{
    return FIRE_FAIL(FIRE_ERR_NOMEM, "out of memory: %zu bytes for %s", bytes, what);
}

size_t fire_pool_round(size_t bytes)
{
    return (bytes / ALIGN + 1) * ALIGN;
}

fire_status_t fire_pool_take(fire_pool_t *p, size_t bytes, void **ptr_p)
{
    int64_t i = 0;

    bytes = fire_pool_round(bytes);
    while (i < p->n && !has_room(&p->span[i], bytes))
        i++;
    if (i == p->n) return out_of_memory(bytes, "activations");
    if (p->gpu != NULL && p->span[i].first + bytes > p->committed)
        FIRE_TRY(p->gpu->commit(p->memory, p->span[i].first + bytes, &p->committed));
    if (p->span[i].bytes > bytes) {
        FIRE_TRY(insert(p, i));
        p->span[i + 1].first += bytes;
        p->span[i + 1].bytes -= bytes;
    }
    p->span[i] = (span_t){p->span[i].first, bytes, true};
    if (p->span[i].first + bytes > p->peak) p->peak = p->span[i].first + bytes;
    *ptr_p = p->memory + p->span[i].first;
    return FIRE_OK;
}

fire_status_t fire_pool_take_lasting(fire_pool_t *p, size_t bytes, void **ptr_p)
{
    int64_t i = p->n - 1;

    if (p->gpu != NULL) return fire_pool_take(p, bytes, ptr_p);
    bytes = fire_pool_round(bytes);
    while (i >= 0 && !has_room(&p->span[i], bytes))
        i--;
    if (i < 0) return out_of_memory(bytes, "parameters");
    if (p->span[i].bytes > bytes) {
        FIRE_TRY(insert(p, i));
        p->span[i].bytes -= bytes;
        p->span[i + 1].first += p->span[i].bytes;
        i++;
    }
    p->span[i] = (span_t){p->span[i].first, bytes, true};
    if (p->bytes - p->span[i].first > p->lasting)
        p->lasting = p->bytes - p->span[i].first;
    *ptr_p = p->memory + p->span[i].first;
    return FIRE_OK;
}

/* Index of the span that begins at this offset, by bisection. */
static int64_t find(const fire_pool_t *p, size_t first)
{
    int64_t low = 0, high = p->n - 1;

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (p->span[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void fire_pool_give(fire_pool_t *p, void *ptr)
{
    int64_t i;

    if (ptr == NULL) return;
    i                = find(p, (size_t)((char *)ptr - p->memory));
    p->span[i].taken = false;
    if (i + 1 < p->n && !p->span[i + 1].taken) {
        p->span[i].bytes += p->span[i + 1].bytes;
        erase(p, i + 1);
    }
    if (i > 0 && !p->span[i - 1].taken) {
        p->span[i - 1].bytes += p->span[i].bytes;
        erase(p, i);
    }
}

size_t fire_pool_peak(const fire_pool_t *p)
{
    return p != NULL ? p->peak + p->lasting : 0;
}
