/* threshold.c - sends only elements of at least T (after Strom, 2015), each as its
 * index and its value. What is smaller stays in the caller's error feedback until it
 * has grown.
 *
 *   wire   uint32 count, count x uint32 index, count x float value
 *          or, where that would be longer: uint32 ALL, n x float
 *
 * Sums of such messages are sparse too and are sent on without further loss. */
#include <math.h>

#include "base/vector.h"
#include "comm/codec/codec.h"
#include "base/half.h"

enum { BLOCK = 64 }; /* elements that list_nonzero() skips at a time */
#define ALL UINT32_MAX

extern const fire_codec_t fire_codec_threshold;

static size_t bound(size_t n)
{
    return sizeof(uint32_t) + n * sizeof(float);
}

FIRE_VECTOR static void quantize(float least, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = fabsf(x[i]) < least ? 0.0f : x[i];
}

FIRE_VECTOR static size_t count_nonzero(const float *x, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += x[i] != 0.0f;
    return count;
}

/* Most blocks are all zero: count first, with vectors, and look closer only if
 * needed. */
static void list_nonzero(const float *x, size_t n, uint32_t *index, float *value)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i += BLOCK) {
        size_t end = n - i < BLOCK ? n : i + BLOCK;

        if (count_nonzero(x + i, end - i) == 0) continue;
        for (size_t j = i; j < end; j++) {
            if (x[j] == 0.0f) continue;
            index[k]   = (uint32_t)j;
            value[k++] = x[j];
        }
    }
}

static size_t encode(const float *x, size_t n, void *wire)
{
    uint32_t *head  = wire;
    size_t    count = count_nonzero(x, n);

    if (2 * count >= n) {
        head[0] = ALL;
        memcpy(head + 1, x, n * sizeof(float));
        return bound(n);
    }
    head[0] = (uint32_t)count;
    list_nonzero(x, n, head + 1, (float *)(head + 1 + count));
    return sizeof(*head) + count * (sizeof(uint32_t) + sizeof(float));
}

/* The bytes come from another rank: check every index before it is used. */
static fire_status_t check(const uint32_t *head, size_t len, size_t n)
{
    size_t want = sizeof(*head);

    FIRE_TRY(len < want ? fire_codec_check(&fire_codec_threshold, len, want) : FIRE_OK);
    want += head[0] == ALL ? n * sizeof(float)
                           : head[0] * (sizeof(uint32_t) + sizeof(float));
    FIRE_TRY(fire_codec_check(&fire_codec_threshold, len, want));
    for (uint32_t k = 0; head[0] != ALL && k < head[0]; k++)
        if (head[1 + k] >= n)
            return FIRE_FAIL(FIRE_ERR_COMM,
                             "a threshold message names element %u of %zu", head[1 + k],
                             n);
    return FIRE_OK;
}

static fire_status_t decode_add(const void *wire, size_t len, float *x, size_t n)
{
    const uint32_t *head  = wire;
    const float    *value = (const float *)(head + 1);

    FIRE_TRY(check(head, len, n));
    if (head[0] == ALL) {
        for (size_t i = 0; i < n; i++)
            x[i] += value[i];
        return FIRE_OK;
    }
    for (uint32_t k = 0; k < head[0]; k++)
        x[head[1 + k]] += value[head[0] + k];
    return FIRE_OK;
}

static fire_status_t decode(const void *wire, size_t len, float *x, size_t n)
{
    memset(x, 0, n * sizeof(*x));
    return decode_add(wire, len, x, n);
}

const fire_codec_t fire_codec_threshold = {
    .name       = "threshold",
    .grain      = BLOCK,
    .has_arg    = true,
    .bound      = bound,
    .quantize   = quantize,
    .encode     = encode,
    .decode     = decode,
    .decode_add = decode_add,
};
