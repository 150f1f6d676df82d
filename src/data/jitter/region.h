/* region.h - which part of an image becomes the sample, in which size, turned by which
 * angle. One of several rules, by the fields of transform_param:
 *
 *   augment_param             random area and aspect ratio, resized to crop_size
 *   random_aspect_ratio_param Intel's way to do so
 *   random_resize_param       Intel's: the shorter side gets a random length
 *   img_rand_resize_*, rand_resize_ratio_*, *_stretch_*   NVIDIA's: the same, stretched
 *   scale_factors             DeepLab's: the whole image by one of these factors
 *   multi_scale, fix_crop     of video nets (TSN): one of a few sizes at one of a few
 *                             places, resized to crop_size
 *
 * augment_param and the video nets' rules hold in the TRAIN phase only, the others in
 * both, as in their forks. */
#ifndef FIRE_DATA_JITTER_REGION_H
#define FIRE_DATA_JITTER_REGION_H
#include "caffe.pb-c.h"
#include "data/decode.h"
#include "data/transform/fit.h"
#include "data/transform/transform.h"

typedef enum fire_region_kind {
    FIRE_REGION_WHOLE,
    FIRE_REGION_AREA,
    FIRE_REGION_INTEL_AREA,
    FIRE_REGION_INTEL_SIZE,
    FIRE_REGION_NVIDIA,
    FIRE_REGION_FACTOR,
    FIRE_REGION_VIDEO,
} fire_region_kind_t;

/* The rule of a layer. */
typedef struct fire_region_rule {
    fire_region_kind_t                    kind;
    const Caffe__TransformationParameter *p;
    const char                           *field;  /* that chose the rule; NULL: none */
    int                                   crop;   /* crop_size; 0: none */
    int                                   pad;    /* border around the image */
    float                                 rotate; /* degrees, at most */
} fire_region_rule_t;

/* Part of an image, in its pixels; it may extend beyond the image. */
typedef struct fire_region {
    int           left, top, width, height;
    int           out_width, out_height; /* its size afterwards */
    float         angle;                 /* in radians, around its centre */
    fire_filter_t filter;                /* that resizes it */
} fire_region_t;

/* Find the rule of p (not NULL) and check it. */
fire_status_t fire_region_rule_init(fire_region_rule_t                   *rule,
                                    const Caffe__TransformationParameter *p,
                                    Caffe__Phase                          phase);

/* Draw a region of `whole`, a part of the image or a canvas around it. */
fire_region_t fire_region_choose(const fire_region_rule_t *rule, fire_region_t whole,
                                 fire_draw_t *draw);

/* Copy the region, not resized, to b, which must not hold the image. */
fire_status_t fire_region_extend(const fire_region_t *r, const fire_transform_t *t,
                                 fire_buffer_t *b, fire_pixels_t *pixels);

/* Cut the region out of interleaved bytes; *pixels then points to it, in scratch. t
 * says what is shown outside of the image. */
fire_status_t fire_region_cut(const fire_region_t *r, const fire_transform_t *t,
                              fire_workspace_t *scratch, fire_pixels_t *pixels);
#endif
