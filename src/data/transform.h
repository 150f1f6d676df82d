/* transform.h - transform_param: from the pixels of one image to the floats of one
 * row, (x - mean) * scale, cropped and mirrored, in one pass.
 *
 * What is random depends on seed, layer and sample number alone, so that it is the
 * same whatever the number of workers and threads. */
#ifndef FIRE_DATA_TRANSFORM_H
#define FIRE_DATA_TRANSFORM_H
#include "caffe.pb-c.h"
#include "data/caffe_draws.h"
#include "data/image.h"

typedef struct fire_transform {
    float         scale;
    bool          mirror, random_crop;
    bool          force_color, force_gray; /* of encoded images */
    int           crop;                    /* 0: none */
    int           nvalue;
    float        *value; /* mean_value[nvalue], or */
    float        *mean;  /* the mean image, */
    fire_extent_t mean_extent;
    const char   *mean_file;
    uint64_t      stream;

    fire_caffe_draws_t *draws; /* Caffe's random numbers, or NULL: ours */
} fire_transform_t;

/* `p` (NULL: defaults) must outlive t. After a failure, fini() is allowed too. */
fire_status_t fire_transform_init(fire_transform_t                     *t,
                                  const Caffe__TransformationParameter *p,
                                  Caffe__Phase phase, const char *layer);
void          fire_transform_fini(fire_transform_t *t);

/* Take Caffe's random numbers: a generator whose seed is drawn from `mt` (NULL: does
 * nothing), if anything is random at all. Caffe seeds it again each time. */
fire_status_t fire_transform_seed(fire_transform_t *t, fire_mt_t *mt);

/* What an image of extent `in` becomes; says so if it cannot. */
fire_status_t fire_transform_extent(const fire_transform_t *t, fire_extent_t in,
                                    fire_extent_t *out_p);

/* `in` must have passed fire_transform_extent(); out has room for what it said. */
void fire_transform_apply(const fire_transform_t *t, const fire_pixels_t *in,
                          uint64_t seed, int64_t sample, float *out);
#endif
