/* cut.h - which part of an image becomes the sample, in which size, turned by which
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
#ifndef FIRE_DATA_JITTER_CUT_H
#define FIRE_DATA_JITTER_CUT_H
#include "caffe.pb-c.h"
#include "data/decode.h"
#include "data/transform/fit.h"
#include "data/transform/transform.h"

typedef enum fire_cut_kind {
    FIRE_CUT_WHOLE,
    FIRE_CUT_AREA,
    FIRE_CUT_INTEL_AREA,
    FIRE_CUT_INTEL_SIZE,
    FIRE_CUT_NVIDIA,
    FIRE_CUT_FACTOR,
    FIRE_CUT_VIDEO,
} fire_cut_kind_t;

/* The rule of a layer. */
typedef struct fire_cut_rule {
    fire_cut_kind_t                       kind;
    const Caffe__TransformationParameter *p;
    const char                           *field;  /* that chose the rule; NULL: none */
    int                                   crop;   /* crop_size; 0: none */
    int                                   pad;    /* border around the image */
    float                                 rotate; /* degrees, at most */
} fire_cut_rule_t;

/* Part of an image, in its pixels; it may extend beyond the image. */
typedef struct fire_cut {
    int           left, top, width, height;
    int           out_width, out_height; /* its size afterwards */
    float         angle;                 /* in radians, around its centre */
    fire_filter_t filter;                /* that resizes it */
} fire_cut_t;

/* Find the rule of p (not NULL) and check it. */
fire_status_t fire_cut_rule_init(fire_cut_rule_t                      *rule,
                                 const Caffe__TransformationParameter *p,
                                 Caffe__Phase                          phase);

/* Draw a region of `whole`, a part of the image or a canvas around it. */
fire_cut_t fire_cut_choose(const fire_cut_rule_t *rule, fire_cut_t whole,
                           fire_draw_t *draw);

/* Copy the region, not resized, to b, which must not hold the image. */
fire_status_t fire_cut_extend(const fire_cut_t *r, const fire_transform_t *t,
                              fire_buffer_t *b, fire_pixels_t *pixels);

/* Cut the region out of interleaved bytes; *pixels then points to it, in scratch. t
 * says what is shown outside of the image. */
fire_status_t fire_cut_out(const fire_cut_t *r, const fire_transform_t *t,
                           fire_workspace_t *scratch, fire_pixels_t *pixels);
#endif
