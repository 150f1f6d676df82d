/* order.h - maps a sample number to a record number.
 *
 * A run counts its samples 0, 1, 2, ... over all epochs. With n records, sample p
 * belongs to epoch p / n. Without shuffle it is record p % n, which is Caffe's order.
 * With shuffle each epoch is a random permutation of the n records.
 *
 * The permutation depends on seed, epoch and n only, never on the worker that asks. Two
 * data sets of n records shuffled with the same seed therefore stay aligned (images and
 * their label maps, for example), and a resumed run continues with the record it would
 * have read next. */
#ifndef FIRE_DATA_ORDER_H
#define FIRE_DATA_ORDER_H
#include "base/random/rng.h"

/* Return the record, 0 ... n - 1, of sample number `sample` >= 0. Takes constant time:
 * the permutation is computed for one element and never stored. */
static inline int64_t fire_order_record(uint64_t seed, bool shuffle, int64_t n,
                                        int64_t sample)
{
    uint64_t epoch = (uint64_t)(sample / n), at = (uint64_t)(sample % n);

    if (!shuffle) return (int64_t)at;
    return (int64_t)fire_rng_permute(fire_rng_key(seed, FIRE_RNG_SHUFFLE, 0, epoch),
                                     (uint64_t)n, at);
}
#endif
