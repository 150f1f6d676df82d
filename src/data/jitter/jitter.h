/* jitter.h - random changes of images before transform_param crops, mirrors and scales
 * them: augment_param, SSD's distort_param, expand_param, resize_param and noise_param,
 * and the augmentation of other forks (cut.h). Done on the CPU, on bytes.
 *
 * All that is random is a function of seed, layer and sample number, so it is the same
 * for any number of workers and threads, and after a restart. */
#ifndef FIRE_DATA_JITTER_JITTER_H
#define FIRE_DATA_JITTER_JITTER_H
#include "data/decode.h"
#include "data/transform/mix.h"
#include "data/jitter/cut.h"
#include "data/transform/draw.h"
#include "data/transform/transform.h"

/* Settings of one data layer; read-only once fire_jitter_init() is done. */
typedef struct fire_jitter {
    bool                    active;          /* false: images are left as they are */
    fire_cut_rule_t         region;          /* which part of an image, and its size */
    fire_mix_rule_t         mix;             /* mixup; done by the layer (feed.h) */
    Caffe__AugmentParameter augment;         /* all 0 in the TEST phase */
    const Caffe__TransformationParameter *p; /* NULL: none */
    const fire_transform_t *transform;       /* the crop, and what fills holes */
} fire_jitter_t;

/* Check p (NULL: nothing to do) and fill *j. p and t must outlive j. */
fire_status_t fire_jitter_init(fire_jitter_t *j, const fire_transform_t *t,
                               const Caffe__TransformationParameter *p,
                               Caffe__Phase                          phase);

/* Does any setting move pixels, resize_param aside? Names it, or NULL. For layers whose
 * boxes or windows cannot follow. */
const char *fire_jitter_moves(const fire_jitter_t *j);

/* Change the image of a sample: *pixels then points into scratch, interleaved. */
fire_status_t fire_jitter_apply(const fire_jitter_t *j, uint64_t seed, int64_t sample,
                                fire_workspace_t *scratch, fire_pixels_t *pixels);

/* The part of it that changes values only: colours, blur, noise, holes. bytes:
 * interleaved pixels, written to; draw: the sample's random numbers. */
fire_status_t fire_jitter_values(const fire_jitter_t *j, uint64_t seed, int64_t sample,
                                 fire_draw_t *draw, fire_workspace_t *scratch,
                                 const fire_pixels_t *pixels);
#endif
