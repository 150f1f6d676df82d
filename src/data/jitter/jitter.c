/* jitter.c - the order of the changes: SSD's colours, the canvas, a region of it,
 * resizing, a border, colours, noise, a hole. */
#include "data/jitter/jitter.h"

#include "data/jitter/color.h"
#include "data/jitter/noise.h"
#include "data/transform/augment.h"
#include "data/transform/distort.h"

/* ---- settings ---- */

static fire_status_t check_values(const Caffe__AugmentParameter *a)
{
    FIRE_TRY(fire_color_check(a));
    if (!(a->noise >= 0 && a->noise <= 255) || !(a->blur >= 0 && a->blur <= 10))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: noise must be 0 to 255 and blur 0 to 10; they "
                         "are %g and %g",
                         (double)a->noise, (double)a->blur);
    if (a->cutout > INT16_MAX || !(a->cutout_prob >= 0 && a->cutout_prob <= 1))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "augment_param: cutout must be at most 32767 and cutout_prob 0 "
            "to 1; they are %u and %g",
            a->cutout, (double)a->cutout_prob);
    return FIRE_OK;
}

static bool changes_values(const fire_jitter_t *j)
{
    const Caffe__AugmentParameter *a = &j->augment;

    return a->brightness > 0 || a->contrast > 0 || a->saturation > 0 || a->hue > 0 ||
           a->lighting > 0 || a->gray > 0 || a->noise > 0 || a->blur > 0 ||
           a->cutout > 0 || j->p->noise_param != NULL;
}

const char *fire_jitter_moves(const fire_jitter_t *j)
{
    if (j->p == NULL) return NULL;
    if (j->region.field != NULL) return j->region.field;
    if (j->region.pad > 0) return "augment_param's pad";
    return j->region.rotate > 0 ? "augment_param's rotate" : NULL;
}

fire_status_t fire_jitter_init(fire_jitter_t *j, const fire_transform_t *t,
                               const Caffe__TransformationParameter *p,
                               Caffe__Phase                          phase)
{
    static const Caffe__AugmentParameter none = CAFFE__AUGMENT_PARAMETER__INIT;

    *j = (fire_jitter_t){.p = p, .transform = t, .augment = none};
    if (p == NULL) return FIRE_OK;
    FIRE_TRY(fire_cut_rule_init(&j->region, p, phase));
    FIRE_TRY(fire_mix_rule_init(&j->mix, p->augment_param, phase, t->stream));
    FIRE_TRY(fire_noise_check(p->noise_param));
    FIRE_TRY(fire_augment_check(p->expand_param, NULL));
    if (p->resize_param != NULL) FIRE_TRY(fire_fit_check(p->resize_param));
    if (p->augment_param != NULL) {
        FIRE_TRY(check_values(p->augment_param));
        if (phase == CAFFE__PHASE__TRAIN) j->augment = *p->augment_param;
    }
    j->active = fire_jitter_moves(j) != NULL || changes_values(j) ||
                p->resize_param != NULL || p->distort_param != NULL ||
                p->expand_param != NULL;
    return FIRE_OK;
}

/* ---- one image ---- */

/* The image with SSD's canvas around it. */
static fire_cut_t choose_canvas(const fire_jitter_t *j, fire_extent_t e,
                                fire_draw_t *draw)
{
    fire_bbox_t box = fire_augment_window(j->p->expand_param, NULL, draw, NULL, 0);
    fire_cut_t  r   = {.left   = (int)(box.xmin * (float)e.width),
                       .top    = (int)(box.ymin * (float)e.height),
                       .width  = (int)((box.xmax - box.xmin) * (float)e.width),
                       .height = (int)((box.ymax - box.ymin) * (float)e.height)};

    r.out_width  = r.width;
    r.out_height = r.height;
    return r;
}

/* The border of `pad`, and room to the right and below for DeepLab's images that are
 * smaller than the crop. */
static fire_status_t enlarge(const fire_jitter_t *j, fire_workspace_t *scratch,
                             fire_pixels_t *pixels)
{
    fire_extent_t e    = pixels->extent;
    int           pad  = j->region.pad;
    int           crop = j->region.kind == FIRE_CUT_FACTOR ? j->region.crop : 0;
    fire_cut_t    r    = {.left   = -pad,
                          .top    = -pad,
                          .width  = (e.width < crop ? crop : e.width) + 2 * pad,
                          .height = (e.height < crop ? crop : e.height) + 2 * pad};

    if (r.width == e.width && r.height == e.height) return FIRE_OK;
    return fire_cut_extend(&r, j->transform,
                           pixels->bytes == scratch->padded.bytes ? &scratch->cropped
                                                                  : &scratch->padded,
                           pixels);
}

fire_status_t fire_jitter_values(const fire_jitter_t *j, uint64_t seed, int64_t sample,
                                 fire_draw_t *draw, fire_workspace_t *scratch,
                                 const fire_pixels_t *pixels)
{
    const Caffe__AugmentParameter *a = &j->augment;
    fire_rng_key_t key   = fire_rng_key(seed, FIRE_RNG_CROP, j->transform->stream, 2);
    uint64_t       count = (uint64_t)fire_extent_count(pixels->extent);

    FIRE_TRY(fire_color_change(a, draw, pixels));
    if (j->p->noise_param != NULL)
        FIRE_TRY(fire_noise_add(j->p->noise_param, draw, &scratch->spare, pixels));
    if (a->blur > 0)
        FIRE_TRY(fire_noise_blur(fire_draw_uniform(draw, 0, a->blur), &scratch->spare,
                                 pixels));
    if (a->noise > 0)
        fire_noise_gaussian(fire_draw_uniform(draw, 0, a->noise), key,
                            (uint64_t)sample * count, pixels);
    if (a->cutout > 0 && fire_draw_chance(draw, a->cutout_prob))
        fire_noise_cutout(
            (int)a->cutout, j->transform,
            fire_transform_window(j->transform, pixels->extent, seed, sample), draw,
            pixels);
    return FIRE_OK;
}

fire_status_t fire_jitter_apply(const fire_jitter_t *j, uint64_t seed, int64_t sample,
                                fire_workspace_t *scratch, fire_pixels_t *pixels)
{
    fire_draw_t draw = fire_draw(seed, j->transform->stream, sample);
    fire_cut_t  r;

    if (!j->active) return FIRE_OK;
    FIRE_TRY(fire_pixels_own(scratch, pixels));
    if (j->p->distort_param != NULL && pixels->extent.channels == 3)
        fire_distort(j->p->distort_param, &draw, (uint8_t *)pixels->bytes,
                     fire_extent_count(pixels->extent) / 3);
    r = fire_cut_choose(&j->region, choose_canvas(j, pixels->extent, &draw), &draw);
    FIRE_TRY(fire_cut_out(&r, j->transform, scratch, pixels));
    if (j->p->resize_param != NULL)
        FIRE_TRY(fire_fit_image(j->p->resize_param, &draw, scratch, pixels));
    FIRE_TRY(enlarge(j, scratch, pixels));
    if (pixels->extent.height < j->region.crop || pixels->extent.width < j->region.crop)
        return FIRE_OK; /* fire_transform_extent() refuses it */
    return fire_jitter_values(j, seed, sample, &draw, scratch, pixels);
}
