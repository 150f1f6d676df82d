/* transform.h - Caffe's transform_param: crop, mirror, subtract the mean and scale, out
 * = (in - mean) * scale, in one pass from the pixels of an image to the floats of a
 * row.
 *
 * Random crops and mirrors are a function of seed, layer and sample number (philox.h),
 * so they are the same for any number of workers and threads. */
#ifndef FIRE_DATA_TRANSFORM_TRANSFORM_H
#define FIRE_DATA_TRANSFORM_TRANSFORM_H
#include "base/random/moment.h"
#include "base/random/philox.h"
#include "caffe.pb-c.h"
#include "data/transform/caffe_draws.h"
#include "data/image/image.h"
#include "data/transform/mix.h"
#include "device/device.h"

FIRE_BEGIN_C

/* Settings of one data layer; read-only once fire_transform_init() is done. */
typedef struct fire_transform {
    float         scale;
    bool          mirror;                  /* mirror with probability 1/2 */
    bool          random_crop;             /* in TRAIN; otherwise the centre */
    bool          force_color, force_gray; /* decode to BGR, to grey */
    int           crop;                    /* crop_size; 0: do not crop */
    int           nvalue;                  /* number of mean_value */
    float        *value;                   /* [nvalue], the prototxt's; or */
    float        *mean; /* (channels, height, width) of mean_file, owned; NULL: none */
    fire_extent_t mean_extent;
    float        *average; /* (channels) of `mean`; owned */
    const char   *mean_file;
    uint64_t      stream; /* of the random numbers: the layer's name, hashed */

    fire_caffe_draws_t *draws; /* Caffe's random numbers; NULL: philox */
} fire_transform_t;

/* Check p (NULL: defaults) and load its mean file. p must outlive t. `layer` is the
 * layer's name. After a failure, fire_transform_fini() is allowed too. */
fire_status_t fire_transform_init(fire_transform_t                     *t,
                                  const Caffe__TransformationParameter *p,
                                  Caffe__Phase phase, const char *layer);
void          fire_transform_fini(fire_transform_t *t);

/* Draw crops and mirrors as Caffe does: from a generator whose seed is the next number
 * of mt. Does nothing if mt is NULL or nothing is random. Each call seeds anew. */
fire_status_t fire_transform_seed(fire_transform_t *t, fire_mt_t *mt);

/* Fail unless there are as many mean_values as channels, or one, or none. */
fire_status_t fire_transform_check_channels(const fire_transform_t *t, int channels);

/* Set *out_p to the extent of the result for images of extent `in`. Fails if crop or
 * mean do not fit. */
fire_status_t fire_transform_extent(const fire_transform_t *t, fire_extent_t in,
                                    fire_extent_t *out_p);

/* The part of an image that becomes the row. */
typedef struct fire_window {
    int  top, left, height, width;
    bool mirror;
} fire_window_t;

/* Random or centred crop, and mirror, of this sample. */
fire_window_t fire_transform_window(const fire_transform_t *t, fire_extent_t in,
                                    uint64_t seed, int64_t sample);

/* What is shown in places without an image: the mean of channel c, which becomes 0 or
 * almost so; 0 if there is no mean. */
uint8_t fire_transform_fill(const fire_transform_t *t, int c);

/* Transform one image to out: (channels, height, width) floats of the extent that
 * fire_transform_extent() gave for it. */
void fire_transform_apply(const fire_transform_t *t, const fire_pixels_t *in,
                          uint64_t seed, int64_t sample, float *out);

/* ---- in two halves: crop on the CPU, the rest on the GPU ---- */

/* First half: copy the crop of an image of bytes to out, as bytes, so that less is
 * copied to the GPU. interleaved: out is (height, width, channels), else planes. */
void fire_transform_pack(const fire_transform_t *t, const fire_pixels_t *in,
                         uint64_t seed, int64_t sample, bool interleaved, uint8_t *out);

/* The random numbers of a sample, by use. */
typedef enum fire_transform_draw {
    FIRE_DRAW_TOP,
    FIRE_DRAW_LEFT,
    FIRE_DRAW_MIRROR,
    FIRE_NDRAW,
} fire_transform_draw_t;

/* The sample's random number below n for this use; the same on CPU and GPU. */
FIRE_EVERYWHERE int fire_transform_drawn(fire_rng_key_t key, int64_t sample,
                                         fire_transform_draw_t which, int n)
{
    return (int)fire_philox_below(key, FIRE_NDRAW * (uint64_t)sample + (uint64_t)which,
                                  (uint64_t)n);
}

/* Cropped images in GPU memory, made by fire_transform_pack(). */
typedef struct fire_packed {
    const uint8_t    *bytes; /* on the GPU: slice.n images */
    fire_extent_t     extent;
    fire_slice_t      slice; /* their sample numbers */
    bool              interleaved;
    uint64_t          seed;
    const float      *mean;      /* on the GPU: mean image or mean_values */
    const float      *label;     /* on the GPU: label_width per image; NULL: none */
    float            *label_out; /* on the GPU: labels are copied here */
    int               label_width;
    const fire_mix_t *mix; /* on the GPU: one per image; NULL: images are not mixed */
} fire_packed_t;

/* Second half: mean, scale, mirror and mixup to out, slice.n images in this format. Only with
 * philox numbers (draws is NULL). */
fire_status_t fire_transform_finish(const fire_transform_t *t, fire_stream_t *stream,
                                    const fire_packed_t *in,
                                    const fire_format_t *format, void *out);
FIRE_END_C
#endif
