/* order.h - which record a sample is. Sample p (counted over all epochs) is record
 * p modulo n in Caffe's order; shuffled, each epoch is a permutation of its own.
 *
 * The permutation depends on seed, epoch and n alone: two data sets whose records
 * belong together (images and label maps) stay together. */
#ifndef FIRE_DATA_ORDER_H
#define FIRE_DATA_ORDER_H
#include "base/random/rng.h"

static inline int64_t fire_order_record(uint64_t seed, bool shuffle, int64_t n,
                                        int64_t sample)
{
    uint64_t epoch = (uint64_t)(sample / n), at = (uint64_t)(sample % n);

    if (!shuffle) return (int64_t)at;
    return (int64_t)fire_rng_permute(fire_rng_key(seed, FIRE_RNG_SHUFFLE, 0, epoch),
                                     (uint64_t)n, at);
}
#endif
