/* onebit.c - one bit per element, its sign (Seide et al., 2014). In a block of 512,
 * every positive element becomes the mean of the positive ones, every negative element
 * the mean of the negative ones.
 *
 *   wire, per block: 2 means in bf16, then 512 sign bits: 68 bytes for 2048
 *
 * Needs error feedback to train well, and exact sums in the beginning, when gradients
 * change fast. Blocks are about as long as the rows of a matrix: in longer ones a few
 * large elements among many small ones wait for too many iterations before they are
 * sent.
 *
 * Quantizing twice changes nothing: the mean of equal numbers, summed in double, is
 * that number exactly. */
#include <math.h>

#include "base/vector.h"
#include "comm/codec/codec.h"
#include "base/half.h"

/* BLOCK: elements; WORD: bits of a word of signs; STRANDS: partial sums of
 * measure(). */
enum { BLOCK = 512, MEANS = 2, WORD = 32, STRANDS = 8 };

extern const fire_codec_t fire_codec_onebit;

typedef struct means {
    float of[MEANS]; /* of elements without, and with, a sign bit */
} means_t;

/* On the wire, for a block of n elements. */
static size_t block_bytes(size_t n)
{
    return MEANS * sizeof(uint16_t) + (n + WORD - 1) / WORD * sizeof(uint32_t);
}

static size_t bound(size_t n)
{
    return n / BLOCK * block_bytes(BLOCK) + (n % BLOCK ? block_bytes(n % BLOCK) : 0);
}

static float rounded(double mean)
{
    return fire_from_bf16(fire_to_bf16((float)mean));
}

/* The means of n elements. Element i goes into partial sum i % STRANDS, so that the
 * compiler can use vectors and the result is the same on every machine. */
FIRE_VECTOR static means_t measure(const float *x, size_t n)
{
    double   plus[STRANDS] = {0}, minus[STRANDS] = {0};
    uint32_t signs[STRANDS] = {0};
    means_t  m              = {{0, 0}};

    for (size_t i = 0; i < n; i += STRANDS)
        for (size_t k = 0; k < STRANDS && i + k < n; k++) {
            uint32_t sign = fire_float_bits(x[i + k]) >> 31;

            plus[k] += sign ? 0.0 : (double)x[i + k];
            minus[k] += sign ? (double)x[i + k] : 0.0;
            signs[k] += sign;
        }
    for (int k = 1; k < STRANDS; k++) {
        plus[0] += plus[k];
        minus[0] += minus[k];
        signs[0] += signs[k];
    }
    if (signs[0] < n) m.of[0] = rounded(plus[0] / (double)(n - signs[0]));
    if (signs[0] > 0) m.of[1] = copysignf(rounded(minus[0] / signs[0]), -1);
    return m;
}

FIRE_VECTOR static void pack_signs(const float *x, size_t n, uint32_t *restrict word)
{
    for (size_t i = 0; i < n; i += WORD) {
        uint32_t w = 0;

        for (size_t k = 0; k < WORD && i + k < n; k++)
            w |= fire_float_bits(x[i + k]) >> 31 << k;
        word[i / WORD] = w;
    }
}

FIRE_VECTOR static void unpack(means_t m, const uint32_t *restrict word, float *x,
                               size_t n)
{
    for (size_t i = 0; i < n; i += WORD)
        for (size_t k = 0; k < WORD && i + k < n; k++)
            x[i + k] = word[i / WORD] >> k & 1 ? m.of[1] : m.of[0];
}

FIRE_VECTOR static void unpack_add(means_t m, const uint32_t *restrict word, float *x,
                                   size_t n)
{
    for (size_t i = 0; i < n; i += WORD)
        for (size_t k = 0; k < WORD && i + k < n; k++)
            x[i + k] += word[i / WORD] >> k & 1 ? m.of[1] : m.of[0];
}

/* Elements of the block that begins at i. */
static size_t block_at(size_t i, size_t n)
{
    return n - i < BLOCK ? n - i : BLOCK;
}

static void quantize(float arg, float *x, size_t n)
{
    uint32_t word[BLOCK / WORD];

    (void)arg;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t len = block_at(i, n);

        pack_signs(x + i, len, word);
        unpack(measure(x + i, len), word, x + i, len);
    }
}

static size_t encode(const float *x, size_t n, void *wire)
{
    char *at = wire;

    for (size_t i = 0; i < n; i += BLOCK) {
        size_t    len  = block_at(i, n);
        means_t   m    = measure(x + i, len);
        uint16_t *mean = (uint16_t *)at;

        for (int k = 0; k < MEANS; k++)
            mean[k] = fire_to_bf16(m.of[k]);
        pack_signs(x + i, len, (uint32_t *)(mean + MEANS));
        at += block_bytes(len);
    }
    return bound(n);
}

/* put() stores or adds the elements of one block. */
static fire_status_t decode_with(void (*put)(means_t, const uint32_t *, float *,
                                             size_t),
                                 const void *wire, size_t bytes, float *x, size_t n)
{
    const char *at = wire;

    FIRE_TRY(fire_codec_check(&fire_codec_onebit, bytes, bound(n)));
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t          len  = block_at(i, n);
        const uint16_t *mean = (const uint16_t *)at;
        means_t         m    = {{fire_from_bf16(mean[0]), fire_from_bf16(mean[1])}};

        put(m, (const uint32_t *)(mean + MEANS), x + i, len);
        at += block_bytes(len);
    }
    return FIRE_OK;
}

static fire_status_t decode(const void *wire, size_t len, float *x, size_t n)
{
    return decode_with(unpack, wire, len, x, n);
}

static fire_status_t decode_add(const void *wire, size_t len, float *x, size_t n)
{
    return decode_with(unpack_add, wire, len, x, n);
}

const fire_codec_t fire_codec_onebit = {
    .name        = "1bit",
    .grain       = BLOCK,
    .one_hop     = true,
    .exact_first = 500,
    .bound       = bound,
    .quantize    = quantize,
    .encode      = encode,
    .decode      = decode,
    .decode_add  = decode_add,
};
