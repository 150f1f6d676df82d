/* draw.h - the random numbers of one sample for its augmentation, drawn one after
 * another. They are a function of seed, stream and sample: the same for any worker and
 * thread. */
#ifndef FIRE_DATA_TRANSFORM_DRAW_H
#define FIRE_DATA_TRANSFORM_DRAW_H
#include "base/random/rng.h"

/* A position in the random numbers. */
typedef struct fire_draw {
    fire_rng_key_t key;
    uint64_t       at; /* index of the next number */
} fire_draw_t;

enum { FIRE_DRAWS_PER_SAMPLE = 1 << 16 };

static inline fire_draw_t fire_draw(uint64_t seed, uint64_t stream, int64_t sample)
{
    return (fire_draw_t){fire_rng_key(seed, FIRE_RNG_CROP, stream, 1),
                         (uint64_t)sample * FIRE_DRAWS_PER_SAMPLE};
}

static inline float fire_draw_uniform(fire_draw_t *d, float low, float high)
{
    return low + (high - low) * fire_rng_uniform(d->key, d->at++);
}

static inline float fire_draw_gaussian(fire_draw_t *d) /* mean 0, deviation 1 */
{
    return fire_rng_gaussian(d->key, d->at++);
}

static inline bool fire_draw_chance(fire_draw_t *d, float probability)
{
    return fire_rng_uniform(d->key, d->at++) < probability;
}

static inline int64_t fire_draw_below(fire_draw_t *d, int64_t n)
{
    return (int64_t)fire_rng_below(d->key, d->at++, (uint64_t)n);
}
#endif
