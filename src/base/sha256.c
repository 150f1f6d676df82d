/* sha256.c - SHA-256 and CRC-32C in plain C, and with the processor's own instructions
 * where it has them. */
#include "base/sha256.h"

#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#    include <cpuid.h>
#    include <immintrin.h>
#endif

/* First 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void expand(const uint8_t *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
        uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;

        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

#ifdef __x86_64__
/* Four words of the schedule from the 16 before them: w[i - 16 ...], w[i - 12 ...] and so
 * on. */
__attribute__((target("sha,ssse3,sse4.1"))) static __m128i
next_words(const __m128i w[4])
{
    __m128i sum =
        _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));

    return _mm_sha256msg2_epu32(sum, w[3]);
}

/* 18 times as fast. The instructions hold the state as (a b e f) and (c d g h), the
 * first letter in the highest word. */
__attribute__((target("sha,ssse3,sse4.1"))) static void
compress_sha(uint32_t state[8], const uint8_t *block, size_t nblock)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i       abef =
        _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh =
        _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    uint32_t out[8];

    for (; nblock > 0; nblock--, block += 64) {
        const __m128i abef0 = abef, cdgh0 = cdgh;
        __m128i       w[4];

        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)),
                                    swap);
        for (int i = 0; i < 64; i += 4) {
            __m128i sum =
                _mm_add_epi32(w[0], _mm_loadu_si128((const __m128i *)(K + i)));
            __m128i next = next_words(w);

            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            w[0] = w[1];
            w[1] = w[2];
            w[2] = w[3];
            w[3] = next;
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    _mm_storeu_si128((__m128i *)out, abef);
    _mm_storeu_si128((__m128i *)(out + 4), cdgh);
    for (int i = 0; i < 2;
         i++) { /* abef, cdgh from the lowest word: f e b a, h g d c */
        state[2 * i]     = out[4 * i + 3];
        state[2 * i + 1] = out[4 * i + 2];
        state[2 * i + 4] = out[4 * i + 1];
        state[2 * i + 5] = out[4 * i];
    }
}

/* __builtin_cpu_supports() does not know these instructions in all compilers that we
 * build with. */
static bool has_sha(void)
{
    unsigned a, b, c, d;

    return __builtin_cpu_supports("sse4.1") &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1) != 0;
}
#else
static bool has_sha(void)
{
    return false;
}
#endif

static void compress_plain(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], v[8];

    expand(block, w);
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t s1     = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t choose = (e & v[5]) ^ (~e & v[6]);
        uint32_t t1     = v[7] + s1 + choose + K[i] + w[i];
        uint32_t s0     = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t major  = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);

        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + s0 + major;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

static void compress(fire_sha256_t *s, const uint8_t *block, size_t nblock)
{
#ifdef __x86_64__
    if (s->fast) {
        compress_sha(s->state, block, nblock);
        return;
    }
#endif
    for (; nblock > 0; nblock--, block += 64)
        compress_plain(s->state, block);
}

void fire_sha256_init(fire_sha256_t *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    s->n    = 0;
    s->fast = has_sha();
    memcpy(s->state, start, sizeof(start));
}

void fire_sha256_add(fire_sha256_t *s, const void *data, size_t n)
{
    const uint8_t *at   = data;
    size_t         held = s->n % 64;

    s->n += n;
    while (n > 0) {
        size_t take = 64 - held < n ? 64 - held : n;

        if (held == 0 && n >= 64) {
            compress(s, at, n / 64);
            take = n / 64 * 64;
        } else {
            memcpy(s->block + held, at, take);
            held += take;
            if (held < 64) return;
            compress(s, s->block, 1);
            held = 0;
        }
        at += take;
        n -= take;
    }
}

void fire_sha256_final(fire_sha256_t *s, uint8_t digest[FIRE_SHA256_SIZE])
{
    static const uint8_t pad[64] = {0x80};
    uint64_t             bits    = s->n * 8;
    uint8_t              length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    fire_sha256_add(s, pad, 1 + (119 - s->n % 64) % 64);
    fire_sha256_add(s, length, 8);
    for (int i = 0; i < FIRE_SHA256_SIZE; i++)
        digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void fire_sha256_hex(const uint8_t digest[FIRE_SHA256_SIZE], char text[65])
{
    static const char hex[] = "0123456789abcdef";

    for (int i = 0; i < FIRE_SHA256_SIZE; i++) {
        text[2 * i]     = hex[digest[i] >> 4];
        text[2 * i + 1] = hex[digest[i] & 15];
    }
    text[64] = '\0';
}

#ifdef __x86_64__
/* The processor's own instruction, about 20 times as fast. */
__attribute__((target("sse4.2"))) static uint32_t
crc32c_sse42(uint32_t crc, const void *data, size_t n)
{
    const uint8_t *at  = data;
    uint64_t       sum = ~crc, word;

    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        sum = __builtin_ia32_crc32di(sum, word);
    }
    for (; n > 0; n--)
        sum = __builtin_ia32_crc32qi((uint32_t)sum, *at++);
    return ~(uint32_t)sum;
}
#endif

/* Four bits at a time: a table of 16 needs no set-up and fits into one cache line. */
static uint32_t crc32c_table(uint32_t crc, const void *data, size_t n)
{
    static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
                                       0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
                                       0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    const uint8_t        *at        = data;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t fire_crc32c(uint32_t crc, const void *data, size_t n)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) return crc32c_sse42(crc, data, n);
#endif
    return crc32c_table(crc, data, n);
}
