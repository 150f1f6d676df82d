/* augment.c - draws windows for SSD: expansion, batch samplers, emit constraint. */
#include "data/transform/augment.h"

#include <math.h>

static const float MOST_RATIO = 1e6f;

/* ---- settings ---- */

/* least < low <= high <= most? False if any is NaN. */
static bool is_between(float least, float low, float high, float most)
{
    return low > least && high >= low && high <= most;
}

static fire_status_t check_sampler(const Caffe__Sampler *s)
{
    if (!is_between(0.0f, s->min_scale, s->max_scale, 1.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a sampler's min_scale and max_scale must be above 0 and up "
                         "to 1, in this order; they are %g and %g",
                         (double)s->min_scale, (double)s->max_scale);
    if (!is_between(0.0f, s->min_aspect_ratio, s->max_aspect_ratio, MOST_RATIO))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a sampler's min_aspect_ratio and max_aspect_ratio must be "
                         "above 0, in this order; they are %g and %g",
                         (double)s->min_aspect_ratio, (double)s->max_aspect_ratio);
    return FIRE_OK;
}

fire_status_t fire_augment_check(const Caffe__ExpansionParameter     *expand,
                                 const Caffe__AnnotatedDataParameter *sampling)
{
    if (expand != NULL && !(expand->max_expand_ratio <= MOST_RATIO))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "max_expand_ratio %g is too large, at most %g",
                         (double)expand->max_expand_ratio, (double)MOST_RATIO);
    for (size_t i = 0; sampling != NULL && i < sampling->n_batch_sampler; i++)
        if (sampling->batch_sampler[i]->sampler != NULL)
            FIRE_TRY(check_sampler(sampling->batch_sampler[i]->sampler));
    return FIRE_OK;
}

/* ---- drawing windows ---- */

/* The canvas around the image: the image is 0 ... 1, the canvas larger, at random. */
static fire_bbox_t choose_canvas(const Caffe__ExpansionParameter *p, fire_draw_t *d)
{
    float       ratio = 1.0f, x, y;
    fire_bbox_t b     = {0, 0, 1, 1};

    if (p == NULL || !(p->max_expand_ratio > 1.0f) || !fire_draw_chance(d, p->prob))
        return b;
    ratio = fire_draw_uniform(d, 1.0f, p->max_expand_ratio);
    x     = fire_draw_uniform(d, 0.0f, ratio - 1.0f);
    y     = fire_draw_uniform(d, 0.0f, ratio - 1.0f);
    return (fire_bbox_t){-x, -y, ratio - x, ratio - y};
}

/* Draw a box by scale and aspect ratio; NULL: the whole canvas. */
static fire_bbox_t draw_box(const Caffe__Sampler *s, fire_draw_t *d)
{
    static const Caffe__Sampler whole = CAFFE__SAMPLER__INIT;
    const Caffe__Sampler       *p     = s != NULL ? s : &whole;
    float scale = fire_draw_uniform(d, p->min_scale, p->max_scale);
    float low   = fmaxf(p->min_aspect_ratio, scale * scale);
    float high  = fminf(p->max_aspect_ratio, 1.0f / (scale * scale));
    float ratio = fire_draw_uniform(d, low, high);
    float w = scale * sqrtf(ratio), h = scale / sqrtf(ratio);
    float x = fire_draw_uniform(d, 0.0f, 1.0f - w),
          y = fire_draw_uniform(d, 0.0f, 1.0f - h);

    return (fire_bbox_t){x, y, x + w, y + h};
}

static bool in_range(float x, bool has_min, float min, bool has_max, float max)
{
    return !(has_min && x < min) && !(has_max && x > max);
}

/* Does the box satisfy all parts of the constraint for this object? Overlap is
 * intersection over union (Jaccard), coverage the covered fraction. */
static bool meets_constraint(const Caffe__SampleConstraint *c, fire_bbox_t box,
                             fire_bbox_t object)
{
    bool overlap = c->has_min_jaccard_overlap || c->has_max_jaccard_overlap;
    bool sample  = c->has_min_sample_coverage || c->has_max_sample_coverage;
    bool covered = c->has_min_object_coverage || c->has_max_object_coverage;

    if (overlap && !in_range(fire_bbox_overlap(box, object), c->has_min_jaccard_overlap,
                             c->min_jaccard_overlap, c->has_max_jaccard_overlap,
                             c->max_jaccard_overlap))
        return false;
    if (sample && !in_range(fire_bbox_coverage(box, object), c->has_min_sample_coverage,
                            c->min_sample_coverage, c->has_max_sample_coverage,
                            c->max_sample_coverage))
        return false;
    if (covered && !in_range(fire_bbox_coverage(object, box),
                             c->has_min_object_coverage, c->min_object_coverage,
                             c->has_max_object_coverage, c->max_object_coverage))
        return false;
    return overlap || sample || covered;
}

/* A box is accepted if one object satisfies the constraint, or if there is no
 * constraint. */
static bool meets_constraint_for_any(const Caffe__SampleConstraint *c, fire_bbox_t box,
                                     fire_bbox_t              canvas,
                                     const fire_annotation_t *object, int64_t n)
{
    bool constrained =
        c != NULL && (c->has_min_jaccard_overlap || c->has_max_jaccard_overlap ||
                      c->has_min_sample_coverage || c->has_max_sample_coverage ||
                      c->has_min_object_coverage || c->has_max_object_coverage);

    for (int64_t i = 0; i < n && constrained; i++)
        if (meets_constraint(c, box, fire_bbox_project(canvas, object[i].box)))
            return true;
    return !constrained;
}

/* YOLO's window, as MobileNet-YOLO's Caffe draws it: one time in five the whole canvas, one
 * in five with half the jitter; jitter is what width and height lose at most. */
static fire_bbox_t draw_jitter(float jitter, fire_draw_t *d)
{
    float die = fire_draw_uniform(d, 0.0f, 1.0f), w, h, x, y;

    if (die < 0.2f) return (fire_bbox_t){0, 0, 1, 1};
    if (die < 0.4f) jitter /= 2.0f;
    w = fire_draw_uniform(d, 1.0f - jitter, 1.0f);
    h = fire_draw_uniform(d, 1.0f - jitter, 1.0f);
    x = fire_draw_uniform(d, 0.0f, 1.0f - w);
    y = fire_draw_uniform(d, 0.0f, 1.0f - h);
    return (fire_bbox_t){x, y, x + w, y + h};
}

/* yolo_data_jitter; labels for YOLO have one if nothing is said. */
static float jitter_of(const Caffe__AnnotatedDataParameter *p)
{
    return p->has_yolo_data_jitter || p->yolo_data_type != 1 ? p->yolo_data_jitter
                                                             : 0.3f;
}

/* Draw boxes with all samplers and choose one of those accepted, with equal chances:
 * the k-th replaces the choice so far with probability 1/k (reservoir sampling). If
 * none is accepted, the whole canvas. */
static fire_bbox_t choose_box(const Caffe__AnnotatedDataParameter *p,
                              fire_bbox_t canvas, fire_draw_t *d,
                              const fire_annotation_t *object, int64_t n)
{
    fire_bbox_t choice = {0, 0, 1, 1};
    int64_t     found  = 0;

    if (p != NULL && p->n_batch_sampler == 0 && jitter_of(p) > 0.0f)
        return draw_jitter(jitter_of(p), d);
    for (size_t i = 0; p != NULL && i < p->n_batch_sampler; i++) {
        const Caffe__BatchSampler *s        = p->batch_sampler[i];
        uint32_t                   accepted = 0;

        for (uint32_t t = 0; t < s->max_trials && t < 2048; t++) {
            fire_bbox_t box = draw_box(s->sampler, d);

            if (s->has_max_sample && accepted >= s->max_sample) break;
            if (!meets_constraint_for_any(s->sample_constraint, box, canvas, object, n))
                continue;
            accepted++;
            if (fire_draw_below(d, ++found) == 0) choice = box;
        }
    }
    return choice;
}

fire_bbox_t fire_augment_window(const Caffe__ExpansionParameter     *expand,
                                const Caffe__AnnotatedDataParameter *sampling,
                                fire_draw_t *draw, const fire_annotation_t *object,
                                int64_t n)
{
    fire_bbox_t canvas = choose_canvas(expand, draw);
    fire_bbox_t box    = choose_box(sampling, canvas, draw, object, n);
    float       w = canvas.xmax - canvas.xmin, h = canvas.ymax - canvas.ymin;

    return (fire_bbox_t){canvas.xmin + box.xmin * w, canvas.ymin + box.ymin * h,
                         canvas.xmin + box.xmax * w, canvas.ymin + box.ymax * h};
}

/* Does an object stay in the window? */
static bool remains(const Caffe__EmitConstraint *p, fire_bbox_t window, fire_bbox_t box)
{
    float x = (box.xmin + box.xmax) / 2, y = (box.ymin + box.ymax) / 2;

    if (fire_bbox_area(fire_bbox_project(window, box)) <= 0.0f) return false;
    if (p == NULL) return true;
    if (p->emit_type == CAFFE__EMIT_CONSTRAINT__EMIT_TYPE__MIN_OVERLAP)
        return fire_bbox_coverage(box, window) > p->emit_overlap;
    return x >= window.xmin && x <= window.xmax && y >= window.ymin && y <= window.ymax;
}

void fire_augment_objects(const Caffe__EmitConstraint *emit, fire_bbox_t window,
                          fire_annotation_t *object, int64_t *n)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < *n; i++) {
        if (!remains(emit, window, object[i].box)) continue;
        object[kept]     = object[i];
        object[kept].box = fire_bbox_project(window, object[i].box);
        kept++;
    }
    *n = kept;
}
