/* caffe_draws.h - what Caffe's data layers draw from generators of their own, by sample
 * number: decode threads ask for neighbouring samples in any order, while the numbers
 * themselves come from a stream. All functions may be called by several threads. */
#ifndef FIRE_DATA_TRANSFORM_CAFFE_DRAWS_H
#define FIRE_DATA_TRANSFORM_CAFFE_DRAWS_H
#include "base/random/mt.h"

typedef struct fire_caffe_draws fire_caffe_draws_t;

fire_status_t fire_caffe_draws_create(uint32_t seed, fire_caffe_draws_t **draws_p);
void          fire_caffe_draws_destroy(fire_caffe_draws_t *d); /* NULL is allowed */

/* The index-th number of the stream. Quick where it is not far behind the furthest. */
uint32_t fire_caffe_draws_at(fire_caffe_draws_t *d, int64_t index);

/* Which of n records is sample number `sample`: the list is shuffled once for every
 * epoch, each time as the last epoch left it. For this use, all numbers of the stream
 * go into it; the caller must always give the same n. */
fire_status_t fire_caffe_draws_record(fire_caffe_draws_t *d, int64_t n, int64_t sample,
                                      int64_t *record_p);
#endif
