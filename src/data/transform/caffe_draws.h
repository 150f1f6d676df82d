/* caffe_draws.h - the random numbers of Caffe's data layers, by sample number.
 *
 * Caffe draws crops, mirrors and shuffles from Mersenne Twister streams, one number
 * after the other. Decode threads ask for neighbouring samples in any order, so the
 * last 65536 numbers are kept. All functions may be called by several threads. */
#ifndef FIRE_DATA_TRANSFORM_CAFFE_DRAWS_H
#define FIRE_DATA_TRANSFORM_CAFFE_DRAWS_H
#include "base/random/mt.h"

typedef struct fire_caffe_draws fire_caffe_draws_t;

fire_status_t fire_caffe_draws_create(uint32_t seed, fire_caffe_draws_t **draws_p);
void          fire_caffe_draws_destroy(fire_caffe_draws_t *d); /* NULL is allowed */

/* Number `index` of the stream. Fast if fewer than 65536 have been drawn after it;
 * otherwise the stream is drawn again from its start. */
uint32_t fire_caffe_draws_at(fire_caffe_draws_t *d, int64_t index);

/* Set *record_p to the record (of n) of sample number `sample`. Caffe shuffles its list
 * once per epoch, starting from the last epoch's order. A stream used for this must not
 * be used for fire_caffe_draws_at(), and n must always be the same. */
fire_status_t fire_caffe_draws_record(fire_caffe_draws_t *d, int64_t n, int64_t sample,
                                      int64_t *record_p);
#endif
