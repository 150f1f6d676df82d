/* transform.h - transform_param: from the pixels of one image to the floats of one
 * row, (x - mean) * scale, cropped and mirrored, in one pass.
 *
 * What is random depends on seed, layer and sample number alone, so that it is the
 * same whatever the number of workers and threads. */
#ifndef FIRE_DATA_TRANSFORM_TRANSFORM_H
#define FIRE_DATA_TRANSFORM_TRANSFORM_H
#include "base/random/moment.h"
#include "base/random/philox.h"
#include "caffe.pb-c.h"
#include "data/transform/caffe_draws.h"
#include "data/image/image.h"
#include "device/device.h"

FIRE_BEGIN_C

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

/* Are there mean_values for so many channels? */
fire_status_t fire_transform_check_channels(const fire_transform_t *t, int channels);

/* What an image of extent `in` becomes; says so if it cannot. */
fire_status_t fire_transform_extent(const fire_transform_t *t, fire_extent_t in,
                                    fire_extent_t *out_p);

/* `in` must have passed fire_transform_extent(); out has room for what it said. */
void fire_transform_apply(const fire_transform_t *t, const fire_pixels_t *in,
                          uint64_t seed, int64_t sample, float *out);

/* ---- in two halves: cropped here, the rest on a GPU ---- */

/* The crop of an image of bytes, as bytes: what a crop leaves out need not travel.
 * `interleaved` is how `out` shall lie. */
void fire_transform_pack(const fire_transform_t *t, const fire_pixels_t *in,
                         uint64_t seed, int64_t sample, bool interleaved, uint8_t *out);

/* Which of a sample's random numbers is for what. */
typedef enum fire_transform_draw {
    FIRE_DRAW_TOP,
    FIRE_DRAW_LEFT,
    FIRE_DRAW_MIRROR,
    FIRE_NDRAW,
} fire_transform_draw_t;

FIRE_EVERYWHERE int fire_transform_drawn(fire_rng_key_t key, int64_t sample,
                                         fire_transform_draw_t which, int n)
{
    return (int)fire_philox_below(key, FIRE_NDRAW * (uint64_t)sample + (uint64_t)which,
                                  (uint64_t)n);
}

/* Packed images as they lie on a GPU. */
typedef struct fire_packed {
    const uint8_t *bytes; /* on the GPU */
    fire_extent_t  extent;
    fire_slice_t   slice; /* samples */
    bool           interleaved;
    uint64_t       seed;
    const float   *mean;  /* on the GPU: the mean image, or the mean_values */
    const float   *label; /* one each, on the GPU, to be copied along; NULL: none */
    float         *label_out;
} fire_packed_t;

/* Mean, scale and mirror, into `out` in this format. Not for Caffe's random numbers. */
fire_status_t fire_transform_finish(const fire_transform_t *t, fire_stream_t *stream,
                                    const fire_packed_t *in,
                                    const fire_format_t *format, void *out);
FIRE_END_C
#endif
