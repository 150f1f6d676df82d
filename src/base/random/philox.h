/* philox.h - the arithmetic of rng.h, for CPU and GPU code alike: Philox 4x32-10
 * (Salmon et al., 2011). Keys are mixed as SplitMix64 does. */
#ifndef FIRE_BASE_RANDOM_PHILOX_H
#define FIRE_BASE_RANDOM_PHILOX_H
#include "base/everywhere.h"
#include "base/random/rng.h"

/* SplitMix64: spreads every bit of x over the result. */
FIRE_EVERYWHERE uint64_t fire_philox_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The key of a step; base: from fire_rng_base(). */
FIRE_EVERYWHERE fire_rng_key_t fire_philox_key(uint64_t base, uint64_t step)
{
    uint64_t       h   = fire_philox_mix(base + step);
    fire_rng_key_t key = {{(uint32_t)h, (uint32_t)(h >> 32)}};

    return key;
}

/* Ten rounds of Philox: four random words for a block number. */
FIRE_EVERYWHERE void fire_philox_block(fire_rng_key_t key, uint64_t block,
                                       uint32_t out[4])
{
    uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = key.k[0], k1 = key.k[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;

        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The index-th number, scaled to 0 ... limit-1: the upper half of a 128-bit product. */
FIRE_EVERYWHERE uint64_t fire_philox_below(fire_rng_key_t key, uint64_t index,
                                           uint64_t limit)
{
    uint32_t four[4];

    fire_philox_block(key, index, four);
    return (
        uint64_t)(((unsigned __int128)(((uint64_t)four[0] << 32) | four[1]) * limit) >>
                  64);
}
#endif
