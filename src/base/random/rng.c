/* rng.c - keys, distributions and permutations on top of Philox. */
#include "base/random/rng.h"

#include <math.h>

#include "base/random/philox.h"

uint64_t fire_rng_base(uint64_t seed, fire_rng_use_t use, uint64_t stream)
{
    return fire_philox_mix(fire_philox_mix(fire_philox_mix(seed) + (uint64_t)use) +
                           stream);
}

fire_rng_key_t fire_rng_key(uint64_t seed, fire_rng_use_t use, uint64_t stream,
                            uint64_t step)
{
    return fire_philox_key(fire_rng_base(seed, use, stream), step);
}

uint64_t fire_rng_name(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

void fire_rng_block(fire_rng_key_t key, uint64_t block, uint32_t out[4])
{
    fire_philox_block(key, block, out);
}

uint32_t fire_rng_u32(fire_rng_key_t key, uint64_t index)
{
    uint32_t four[4];

    fire_rng_block(key, index / 4, four);
    return four[index % 4];
}

uint64_t fire_rng_below(fire_rng_key_t key, uint64_t index, uint64_t limit)
{
    return fire_philox_below(key, index, limit);
}

float fire_rng_uniform(fire_rng_key_t key, uint64_t index)
{
    return (float)(fire_rng_u32(key, index) >> 8) * 0x1p-24f;
}

float fire_rng_gaussian(fire_rng_key_t key, uint64_t index)
{
    uint32_t four[4];
    double   radius, angle;

    fire_rng_block(key, index, four);
    radius = sqrt(-2.0 * log(((double)four[0] + 1.0) * 0x1p-32)); /* Box-Muller */
    angle  = 6.283185307179586 * ((double)four[1] * 0x1p-32);
    return (float)(radius * cos(angle));
}

uint64_t fire_rng_permute(fire_rng_key_t key, uint64_t n, uint64_t position)
{
    int      half = 1;
    uint64_t mask, x = position;

    while (half < 31 && (UINT64_C(1) << (2 * half)) < n)
        half++;
    mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = x >> half, right = x & mask;

        for (uint64_t round = 0; round < 6; round++) {
            uint64_t f    = fire_rng_u32(key, (round << 40) + right) & mask;
            uint64_t next = left ^ f;

            left  = right;
            right = next;
        }
        x = (left << half) | right;
    } while (x >= n);
    return x;
}
