/* blocked.c - conversions of blocked arrays, and the list of their formats. */
#include "device/cpu/blocked.h"

#include <pthread.h>

#include "base/alloc.h"
#include "device/cpu/convert.h"

static float load(const void *src, fire_dtype_t t, int64_t i)
{
    return t == FIRE_BF16 ? fire_from_bf16(((const uint16_t *)src)[i])
                          : ((const float *)src)[i];
}

static void store(void *dst, fire_dtype_t t, int64_t i, float x)
{
    if (t == FIRE_BF16)
        ((uint16_t *)dst)[i] = fire_to_bf16(x);
    else
        ((float *)dst)[i] = x;
}

/* The functions below convert block k = image * blocks + block. Places are taken in
 * groups, so that the lines read and the lines written stay in the L1 cache. */
enum { GROUP = 16 };

static void block_to_plain(const fire_blocked_t *b, int64_t k, const void *src,
                           float *dst)
{
    int64_t n = k / b->blocks, c0 = k % b->blocks * b->block;
    int64_t c1 = c0 + b->block < b->channels ? c0 + b->block : b->channels;
    int64_t at = k * b->plane * b->block;

    for (int64_t p0 = 0; p0 < b->plane; p0 += GROUP)
        for (int64_t c = c0; c < c1; c++)
            for (int64_t p = p0; p < b->plane && p < p0 + GROUP; p++)
                dst[(n * b->channels + c) * b->plane + p] =
                    load(src, b->dtype, at + p * b->block + c - c0);
}

static void block_from_plain(const fire_blocked_t *b, int64_t k, const float *src,
                             void *dst)
{
    int64_t n = k / b->blocks, c0 = k % b->blocks * b->block;
    int64_t at = k * b->plane * b->block;

    for (int64_t p0 = 0; p0 < b->plane; p0 += GROUP)
        for (int64_t c = c0; c < c0 + b->block; c++)
            for (int64_t p = p0; p < b->plane && p < p0 + GROUP; p++)
                store(dst, b->dtype, at + p * b->block + c - c0,
                      c < b->channels ? src[(n * b->channels + c) * b->plane + p]
                                      : 0.0f);
}

/* Threads share the blocks of all images. */
static fire_status_t to_plain(const fire_opaque_t *self, const void *src, float *dst)
{
    const fire_blocked_t *b = (const fire_blocked_t *)self;

#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < b->num * b->blocks; k++)
        block_to_plain(b, k, src, dst);
    return FIRE_OK;
}

static fire_status_t from_plain(const fire_opaque_t *self, const float *src, void *dst)
{
    const fire_blocked_t *b = (const fire_blocked_t *)self;

#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < b->num * b->blocks; k++)
        block_from_plain(b, k, src, dst);
    return FIRE_OK;
}

/* All formats ever asked for in this process; never freed. There are few, and equal
 * formats must be equal pointers in all nets. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fire_blocked_t *known;

/* Equal formats; `blocks` and bytes follow from these members. */
static bool same(const fire_blocked_t *a, const fire_blocked_t *b)
{
    return a->dtype == b->dtype && a->block == b->block && a->num == b->num &&
           a->channels == b->channels && a->plane == b->plane;
}

/* The known format that equals *want, or a new copy of it. Called with the lock
 * held. */
static fire_status_t intern(const fire_blocked_t *want, const fire_blocked_t **b_p)
{
    fire_blocked_t *b;

    for (b = known; b != NULL; b = b->next)
        if (same(b, want)) break;
    if (b == NULL) {
        FIRE_TRY(FIRE_NEW(&b, 1));
        *b      = *want;
        b->next = known;
        known   = b;
    }
    *b_p = b;
    return FIRE_OK;
}

fire_status_t fire_blocked_format(fire_dtype_t dtype, int64_t block, int ndim,
                                  const int64_t *dim, fire_format_t *format_p)
{
    fire_blocked_t b = {.opaque   = {.to_plain = to_plain, .from_plain = from_plain},
                        .dtype    = dtype,
                        .block    = block,
                        .num      = dim[0],
                        .channels = dim[1],
                        .plane    = 1};
    const fire_blocked_t *found;
    fire_status_t         st;

    for (int i = 2; i < ndim; i++)
        b.plane *= dim[i];
    b.blocks = (b.channels + block - 1) / block;
    b.opaque.bytes =
        (size_t)(b.num * b.blocks * b.plane * block) * fire_dtype_size(dtype);
    pthread_mutex_lock(&lock);
    st = intern(&b, &found);
    pthread_mutex_unlock(&lock);
    FIRE_TRY(st);
    *format_p = (fire_format_t){FIRE_CPU, dtype, FIRE_OPAQUE, &found->opaque};
    return FIRE_OK;
}

const fire_blocked_t *fire_blocked_of(const fire_format_t *format)
{
    if (format->layout != FIRE_OPAQUE || format->opaque->to_plain != to_plain)
        return NULL;
    return (const fire_blocked_t *)format->opaque;
}

int64_t fire_blocked_preferred(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f") ? 16 : 8;
#else
    return 8;
#endif
}
