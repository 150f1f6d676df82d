/* half_codec.h - the functions of the codecs with 16 bits per value. fp16.c and bf16.c
 * define, then include it, and then define their record with its members:
 *
 *   CODEC   the codec's record, such as fire_codec_fp16
 *   PACK    float to 16 bits
 *   UNPACK  16 bits to float */
#include "base/half.h"
#include "base/vector.h"
#include "comm/codec/codec.h"

extern const fire_codec_t CODEC;

static size_t bound(size_t n)
{
    return n * sizeof(uint16_t);
}

FIRE_VECTOR static void quantize(float arg, float *x, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        x[i] = UNPACK(PACK(x[i]));
}

FIRE_VECTOR static void pack(const float *x, uint16_t *restrict h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h[i] = PACK(x[i]);
}

FIRE_VECTOR static void unpack(const uint16_t *restrict h, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = UNPACK(h[i]);
}

FIRE_VECTOR static void unpack_add(const uint16_t *restrict h, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += UNPACK(h[i]);
}

static size_t encode(const float *x, size_t n, void *wire)
{
    pack(x, wire, n);
    return bound(n);
}

static fire_status_t decode(const void *wire, size_t len, float *x, size_t n)
{
    FIRE_TRY(fire_codec_check(&CODEC, len, bound(n)));
    unpack(wire, x, n);
    return FIRE_OK;
}

static fire_status_t decode_add(const void *wire, size_t len, float *x, size_t n)
{
    FIRE_TRY(fire_codec_check(&CODEC, len, bound(n)));
    unpack_add(wire, x, n);
    return FIRE_OK;
}

/* Members of the record that both codecs share. */
#define FIRE_HALF_CODEC                                                  \
    .grain = 32, .bound = bound, .quantize = quantize, .encode = encode, \
    .decode = decode, .decode_add = decode_add
