/* rules.c - the rules by which regions are drawn. */
#include "data/jitter/cut.h"

#include <math.h>
#include <stdlib.h>

typedef Caffe__TransformationParameter transform_param_t;

/* ---- settings ---- */

/* low <= high, and both in least ... most? False if one is NaN. */
static bool in_order(float least, float low, float high, float most)
{
    return low >= least && high >= low && high <= most;
}

static fire_status_t check_area(const Caffe__AugmentParameter *a)
{
    if (!in_order(1e-4f, a->min_area, a->max_area, 1))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: min_area and max_area must be above 0 and up "
                         "to 1, in this order; they are %g and %g",
                         (double)a->min_area, (double)a->max_area);
    if (!in_order(1e-3f, a->min_aspect, a->max_aspect, 1e3f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: min_aspect and max_aspect must be 0.001 to "
                         "1000, in this order; they are %g and %g",
                         (double)a->min_aspect, (double)a->max_aspect);
    if (!in_order(0, a->rotate, a->rotate, 180))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: rotate must be 0 to 180 degrees, not %g",
                         (double)a->rotate);
    if (a->pad > INT16_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "augment_param: pad %u is too large",
                         a->pad);
    return FIRE_OK;
}

static fire_status_t check_intel(const transform_param_t *p)
{
    const Caffe__RandomAspectRatioParameter *a = p->random_aspect_ratio_param;
    const Caffe__RandomResizeParameter      *r = p->random_resize_param;

    if (a != NULL &&
        (!in_order(1e-4f, a->min_area_ratio, a->max_area_ratio, 1) ||
         !in_order(1e-3f, a->aspect_ratio_change, a->aspect_ratio_change, 1e3f)))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "random_aspect_ratio_param: min_area_ratio %g and "
                         "max_area_ratio %g must be above 0 and up to 1, in this "
                         "order, aspect_ratio_change %g above 0",
                         (double)a->min_area_ratio, (double)a->max_area_ratio,
                         (double)a->aspect_ratio_change);
    if (r != NULL && (r->min_size > INT16_MAX || r->max_size > INT16_MAX ||
                      (r->max_size > 0 && r->min_size > r->max_size)))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "random_resize_param: min_size %u and max_size %u must be at "
                         "most 32767, in this order",
                         r->min_size, r->max_size);
    return FIRE_OK;
}

static fire_status_t check_nvidia(const transform_param_t *p)
{
    uint32_t low = p->img_rand_resize_lower, high = p->img_rand_resize_upper;

    if ((low == 0) != (high == 0) || low > high || high > INT16_MAX)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "img_rand_resize_lower %u and img_rand_resize_upper %u must be "
            "1 to 32767, in this order, or both 0",
            low, high);
    if (!in_order(0, p->rand_resize_ratio_lower, p->rand_resize_ratio_upper, 1e3f) ||
        !in_order(0, p->vertical_stretch_lower, p->vertical_stretch_upper, 1e3f) ||
        !in_order(0, p->horizontal_stretch_lower, p->horizontal_stretch_upper, 1e3f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "rand_resize_ratio_*, vertical_stretch_* and "
                         "horizontal_stretch_* must be 0 to 1000, lower before upper");
    return FIRE_OK;
}

static fire_status_t check_factors(const transform_param_t *p)
{
    for (size_t i = 0; i < p->n_scale_factors; i++)
        if (!in_order(1e-3f, p->scale_factors[i], p->scale_factors[i], 1e3f))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "scale_factors must be 0.001 to 1000, not %g",
                             (double)p->scale_factors[i]);
    for (size_t i = 0; i < p->n_scale_ratios; i++)
        if (!in_order(1e-3f, p->scale_ratios[i], p->scale_ratios[i], 1))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "scale_ratios must be above 0 and up to 1, not %g",
                             (double)p->scale_ratios[i]);
    return FIRE_OK;
}

static bool has_nvidia(const transform_param_t *p)
{
    return p->img_rand_resize_upper > 0 || p->has_rand_resize_ratio_lower ||
           p->has_rand_resize_ratio_upper || p->has_vertical_stretch_lower ||
           p->has_vertical_stretch_upper || p->has_horizontal_stretch_lower ||
           p->has_horizontal_stretch_upper;
}

static bool has_area(const Caffe__AugmentParameter *a)
{
    return a->min_area < 1 || a->max_area < 1 || a->min_aspect != 1 ||
           a->max_aspect != 1;
}

/* Take this rule; two rules at once are an error. */
static fire_status_t take(fire_cut_rule_t *rule, bool has, fire_cut_kind_t kind,
                          const char *field)
{
    if (!has) return FIRE_OK;
    if (rule->field != NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "transform_param has both %s and %s, which both choose a part "
                         "of the image; keep one",
                         rule->field, field);
    rule->kind  = kind;
    rule->field = field;
    return FIRE_OK;
}

fire_status_t fire_cut_rule_init(fire_cut_rule_t *rule, const transform_param_t *p,
                                 Caffe__Phase phase)
{
    const Caffe__AugmentParameter *a     = p->augment_param;
    bool                           train = phase == CAFFE__PHASE__TRAIN;

    *rule = (fire_cut_rule_t){.p = p, .crop = (int)p->crop_size};
    if (a != NULL) FIRE_TRY(check_area(a));
    FIRE_TRY(check_intel(p));
    FIRE_TRY(check_nvidia(p));
    FIRE_TRY(check_factors(p));
    if (a != NULL && train) {
        rule->pad    = (int)a->pad;
        rule->rotate = a->rotate;
        FIRE_TRY(take(rule, has_area(a), FIRE_CUT_AREA, "augment_param's min_area"));
    }
    FIRE_TRY(take(rule, p->random_aspect_ratio_param != NULL, FIRE_CUT_INTEL_AREA,
                  "random_aspect_ratio_param"));
    FIRE_TRY(take(rule, p->random_resize_param != NULL, FIRE_CUT_INTEL_SIZE,
                  "random_resize_param"));
    FIRE_TRY(take(rule, has_nvidia(p), FIRE_CUT_NVIDIA, "img_rand_resize_lower"));
    FIRE_TRY(take(rule, p->n_scale_factors > 0, FIRE_CUT_FACTOR, "scale_factors"));
    FIRE_TRY(take(rule, train && (p->multi_scale || p->fix_crop), FIRE_CUT_VIDEO,
                  p->multi_scale ? "multi_scale" : "fix_crop"));
    if (rule->crop == 0 && p->resize_param == NULL &&
        (rule->kind != FIRE_CUT_WHOLE || rule->pad > 0))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s needs a crop_size, so that all images have one size",
                         rule->field != NULL ? rule->field : "augment_param's pad");
    return FIRE_OK;
}

/* ---- drawing ---- */

/* A whole number of low ... high. */
static int draw_int(fire_draw_t *d, int low, int high)
{
    return low + (high > low ? (int)fire_draw_below(d, (int64_t)high - low + 1) : 0);
}

static int at_least_1(double x)
{
    return x < 1 ? 1 : x > INT16_MAX ? INT16_MAX : (int)x;
}

/* This size at a random place of the whole. */
static void place(fire_cut_t *r, fire_cut_t whole, int width, int height,
                  fire_draw_t *d)
{
    r->left   = whole.left + draw_int(d, 0, whole.width - width);
    r->top    = whole.top + draw_int(d, 0, whole.height - height);
    r->width  = width;
    r->height = height;
}

/* Resize to crop_size, unless resize_param gives the size. */
static void fit_crop(const fire_cut_rule_t *rule, fire_cut_t *r)
{
    bool fits = rule->crop > 0 && rule->p->resize_param == NULL;

    r->out_width  = fits ? rule->crop : r->width;
    r->out_height = fits ? rule->crop : r->height;
}

/* A fraction of the area, with an aspect ratio whose logarithm is uniform; if ten tries
 * do not fit, the largest centred part whose ratio is allowed. */
static void choose_area(const fire_cut_rule_t *rule, fire_cut_t whole, fire_draw_t *d,
                        fire_cut_t *r)
{
    const Caffe__AugmentParameter *a    = rule->p->augment_param;
    double                         area = (double)whole.width * whole.height, ratio;

    for (int i = 0; i < 10; i++) {
        double part = area * (double)fire_draw_uniform(d, a->min_area, a->max_area);
        double as =
            exp((double)fire_draw_uniform(d, logf(a->min_aspect), logf(a->max_aspect)));
        int w = at_least_1(sqrt(part * as) + 0.5),
            h = at_least_1(sqrt(part / as) + 0.5);

        if (w > whole.width || h > whole.height) continue;
        place(r, whole, w, h, d);
        return;
    }
    ratio     = (double)whole.width / whole.height;
    r->width  = ratio > a->max_aspect ? at_least_1(whole.height * (double)a->max_aspect)
                                      : whole.width;
    r->height = ratio < a->min_aspect ? at_least_1(whole.width / (double)a->min_aspect)
                                      : whole.height;
    r->left   = whole.left + (whole.width - r->width) / 2;
    r->top    = whole.top + (whole.height - r->height) / 2;
}

/* Resize the whole so that its shorter side gets this length. */
static void resize_shorter(fire_cut_t *r, int length)
{
    double scale = (double)length / (r->width < r->height ? r->width : r->height);

    r->out_width  = at_least_1(r->width * scale + 0.5);
    r->out_height = at_least_1(r->height * scale + 0.5);
}

static fire_filter_t filter_of(const Caffe__ResizeParameter *p, fire_draw_t *d)
{
    return p != NULL ? fire_fit_filter(p, d) : FIRE_FILTER_LINEAR;
}

static void choose_intel_area(const fire_cut_rule_t *rule, fire_cut_t whole,
                              fire_draw_t *d, fire_cut_t *r)
{
    const Caffe__RandomAspectRatioParameter *a    = rule->p->random_aspect_ratio_param;
    double                                   area = (double)whole.width * whole.height;
    float low = fminf(a->aspect_ratio_change, 1 / a->aspect_ratio_change);

    r->filter = filter_of(a->resize_param, d);
    for (uint32_t i = 0; i < a->max_attempt && i < 1000; i++) {
        double side = sqrt(
            area * (double)fire_draw_uniform(d, a->min_area_ratio, a->max_area_ratio));
        double change = (double)fire_draw_uniform(d, low, 1 / low);
        bool   swap   = fire_draw_chance(d, 0.5f);
        int    w      = at_least_1(swap ? side * change : side / change);
        int    h      = at_least_1(swap ? side / change : side * change);

        if (w > whole.width || h > whole.height) continue;
        place(r, whole, w, h, d);
        fit_crop(rule, r);
        return;
    }
    if (rule->crop > 0) resize_shorter(r, rule->crop);
}

static void choose_intel_size(const fire_cut_rule_t *rule, fire_draw_t *d,
                              fire_cut_t *r)
{
    const Caffe__RandomResizeParameter *a = rule->p->random_resize_param;
    int shorter                           = r->width < r->height ? r->width : r->height;
    int longer                            = r->width < r->height ? r->height : r->width;
    int low  = a->min_size > 0 ? (int)a->min_size : shorter;
    int high = a->max_size > 0 ? (int)a->max_size : longer;

    r->filter = filter_of(a->resize_param, d);
    resize_shorter(r, draw_int(d, low, high));
}

/* The filter for a picture that becomes smaller, or one that grows. */
static fire_filter_t nvidia_filter(const transform_param_t *p, const fire_cut_t *r)
{
    static const fire_filter_t filter[] = {FIRE_FILTER_NEAREST, FIRE_FILTER_LINEAR,
                                           FIRE_FILTER_CUBIC, FIRE_FILTER_AREA};
    bool smaller = r->out_width <= r->width && r->out_height <= r->height;

    return filter[smaller ? p->interpolation_algo_down : p->interpolation_algo_up];
}

static void choose_nvidia(const fire_cut_rule_t *rule, fire_draw_t *d, fire_cut_t *r)
{
    const transform_param_t *p       = rule->p;
    int                      shorter = r->width < r->height ? r->width : r->height;
    double                   scale   = 1, w, h;

    if (p->img_rand_resize_upper > 0)
        scale = (double)draw_int(d, (int)p->img_rand_resize_lower,
                                 (int)p->img_rand_resize_upper) /
                shorter;
    w = r->width * scale;
    h = r->height * scale;
    if (p->rand_resize_ratio_lower >= 1 && p->rand_resize_ratio_upper > 1) {
        double ratio = (double)fire_draw_uniform(d, p->rand_resize_ratio_lower,
                                                 p->rand_resize_ratio_upper);
        bool   wide  = w > h || (w == h && fire_draw_chance(d, 0.5f));

        w = wide ? h * ratio : w;
        h = wide ? h : w * ratio;
    }
    if (p->vertical_stretch_lower > 0)
        h *= (double)fire_draw_uniform(d, p->vertical_stretch_lower,
                                       p->vertical_stretch_upper);
    if (p->horizontal_stretch_lower > 0)
        w *= (double)fire_draw_uniform(d, p->horizontal_stretch_lower,
                                       p->horizontal_stretch_upper);
    r->out_width  = at_least_1(fmax(w + 0.5, rule->crop));
    r->out_height = at_least_1(fmax(h + 0.5, rule->crop));
    if (!p->allow_upscale && r->out_height > r->height) r->out_height = r->height;
    if (!p->allow_upscale && r->out_width > r->width) r->out_width = r->width;
    r->filter = nvidia_filter(p, r);
}

static void choose_factor(const fire_cut_rule_t *rule, fire_draw_t *d, fire_cut_t *r)
{
    const transform_param_t *p = rule->p;
    double                   f =
        (double)p->scale_factors[fire_draw_below(d, (int64_t)p->n_scale_factors)];

    r->out_width  = at_least_1(r->width * f);
    r->out_height = at_least_1(r->height * f);
}

/* One of the pairs of ratios that differ by at most max_distort places in their list. A
 * length close to crop_size becomes crop_size, so that nothing is resized. */
static void choose_video_size(const fire_cut_rule_t *rule, fire_draw_t *d,
                              fire_cut_t whole, int *width, int *height)
{
    static const float       usual[] = {1, 0.875f, 0.75f, 0.66f};
    const transform_param_t *p       = rule->p;
    const float             *ratio   = p->n_scale_ratios > 0 ? p->scale_ratios : usual;
    int                      n = p->n_scale_ratios > 0 ? (int)p->n_scale_ratios : 4;
    int base = whole.width < whole.height ? whole.width : whole.height, pairs = 0, at;

    for (int i = 0; i < n * n; i++)
        pairs += abs(i / n - i % n) <= p->max_distort;
    at = (int)fire_draw_below(d, pairs > 0 ? pairs : 1);
    for (int i = 0; i < n * n; i++) {
        if (abs(i / n - i % n) > p->max_distort || at-- > 0) continue;
        *height = at_least_1((double)base * (double)ratio[i / n]);
        *width  = at_least_1((double)base * (double)ratio[i % n]);
        break;
    }
    if (abs(*height - rule->crop) < 3) *height = rule->crop;
    if (abs(*width - rule->crop) < 3) *width = rule->crop;
}

/* Corners and centre; with more_fix_crop also the middles of the sides and the points
 * half-way between corners and centre. In quarters of the room that there is. */
static void choose_video(const fire_cut_rule_t *rule, fire_cut_t whole, fire_draw_t *d,
                         fire_cut_t *r)
{
    static const int y[] = {0, 0, 4, 4, 2, 0, 4, 2, 2, 1, 1, 3, 3};
    static const int x[] = {0, 4, 0, 4, 2, 2, 2, 0, 4, 1, 3, 1, 3};
    int              w = rule->crop, h = rule->crop, at;

    if (rule->p->multi_scale) choose_video_size(rule, d, whole, &w, &h);
    if (w > whole.width) w = whole.width;
    if (h > whole.height) h = whole.height;
    if (!rule->p->fix_crop) {
        place(r, whole, w, h, d);
        return;
    }
    at        = draw_int(d, 0, rule->p->more_fix_crop ? 12 : 4);
    r->width  = w;
    r->height = h;
    r->left   = whole.left + (whole.width - w) / 4 * x[at];
    r->top    = whole.top + (whole.height - h) / 4 * y[at];
}

fire_cut_t fire_cut_choose(const fire_cut_rule_t *rule, fire_cut_t whole,
                           fire_draw_t *d)
{
    fire_cut_t r = whole;

    switch (rule->kind) {
    case FIRE_CUT_AREA:
        choose_area(rule, whole, d, &r);
        fit_crop(rule, &r);
        break;
    case FIRE_CUT_INTEL_AREA:
        choose_intel_area(rule, whole, d, &r);
        break;
    case FIRE_CUT_INTEL_SIZE:
        choose_intel_size(rule, d, &r);
        break;
    case FIRE_CUT_NVIDIA:
        choose_nvidia(rule, d, &r);
        break;
    case FIRE_CUT_FACTOR:
        choose_factor(rule, d, &r);
        break;
    case FIRE_CUT_VIDEO:
        choose_video(rule, whole, d, &r);
        fit_crop(rule, &r);
        break;
    default:
        break;
    }
    if (rule->rotate > 0)
        r.angle = fire_draw_uniform(d, -rule->rotate, rule->rotate) * 0.017453293f;
    return r;
}
