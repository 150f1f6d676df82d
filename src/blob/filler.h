/* filler.h - initial values of parameters: Caffe's seven fillers (constant, gaussian,
 * positive_unitball, uniform, xavier, msra, bilinear). */
#ifndef FIRE_BLOB_FILLER_H
#define FIRE_BLOB_FILLER_H
#include "base/random/mt.h"
#include "base/random/rng.h"
#include "blob/blob.h"
#include "caffe.pb-c.h"

FIRE_BEGIN_C
/* Fill the data of a blob. Element i is a function of `key` and i, so it is the same
 * for any number of threads; with `mt` (or NULL) elements are the next numbers of that
 * stream, as Caffe draws them. Unknown filler types are an error. */
fire_status_t fire_filler_fill(const Caffe__FillerParameter *filler, fire_blob_t *blob,
                               fire_rng_key_t key, fire_mt_t *mt);
/* Is the type known? */
fire_status_t fire_filler_check(const Caffe__FillerParameter *filler);
FIRE_END_C
#endif
