/* detection_output.c - DetectionOutput: decodes predictions, suppresses duplicates
 * class by class, keeps the best detections of each image.
 *
 *   bottom 0: (N, priors * 4) locations; (N, priors * classes * 4) if not shared
 *   bottom 1: (N, priors * classes) scores
 *   bottom 2: (1, 2, priors * 4) prior boxes and variances
 *   top 0:    (1, 1, detections, 7): image, label, score, xmin, ymin, xmax, ymax;
 *             without any detection one row of -1 (but the image) for each image */
#include <math.h>

#include "layers/detection/predictions.h"

enum { ROW = 7 };

/* A detection of an image. */
typedef struct found {
    int         label;
    float       score;
    fire_bbox_t box;
    bool        keep;
} found_t;

/* The state of the layer; nX and cX are capacities, except nfound. */
typedef struct detection_output {
    fire_predictions_t p;
    int                background;
    /* per class before, per image after suppression; -1: all */
    int64_t top_k, keep_top_k;
    float   least;          /* lowest score of a detection */
    float   threshold, eta; /* of fire_bbox_suppress() */

    fire_bbox_t   *box;  /* [prior] decoded boxes of one class */
    fire_ranked_t *list; /* [prior], or [found] of one image */
    int64_t        nbox, nlist;
    found_t       *found; /* detections of all images so far */
    int64_t       *first; /* [images + 1] index of an image's first detection */
    int64_t        nfound, cfound, nfirst;
} detection_output_t;

static fire_status_t detection_output_setup(fire_layer_t *l)
{
    static const Caffe__NonMaximumSuppressionParameter nms =
        CAFFE__NON_MAXIMUM_SUPPRESSION_PARAMETER__INIT;
    const Caffe__DetectionOutputParameter       *p = l->param->detection_output_param;
    const Caffe__NonMaximumSuppressionParameter *n;
    detection_output_t                          *s = FIRE_STATE(l, detection_output_t);

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "detection_output_param { num_classes } is missing");
    n                  = p->nms_param != NULL ? p->nms_param : &nms;
    s->p.code          = p->code_type;
    s->p.variance_done = p->variance_encoded_in_target;
    s->background      = p->background_label_id;
    s->top_k           = n->has_top_k ? n->top_k : -1;
    s->keep_top_k      = p->keep_top_k;
    s->threshold       = n->nms_threshold;
    s->eta             = n->eta;
    s->least = p->has_confidence_threshold ? p->confidence_threshold : -INFINITY;
    if (!(s->threshold >= 0.0f) || !(s->eta > 0.0f && s->eta <= 1.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "nms_threshold must not be negative, eta from above 0 to 1");
    if (p->save_output_param != NULL && p->save_output_param->output_directory != NULL)
        FIRE_LOG(WARNING, "layer \"%s\": save_output_param is ignored", l->param->name);
    return FIRE_OK;
}

static fire_status_t detection_output_reshape(fire_layer_t *l)
{
    const Caffe__DetectionOutputParameter *p = l->param->detection_output_param;
    detection_output_t                    *s = FIRE_STATE(l, detection_output_t);

    FIRE_TRY(fire_predictions_shape(l, p->num_classes, p->share_location, &s->p));
    FIRE_TRY(fire_grow(&s->box, &s->nbox, s->p.priors, sizeof(*s->box)));
    FIRE_TRY(fire_grow(&s->list, &s->nlist, s->p.priors, sizeof(*s->list)));
    FIRE_TRY(fire_grow(&s->first, &s->nfirst, s->p.images + 1, sizeof(*s->first)));
    /* The number of rows is known only after forward. */
    return fire_blob_reshape(l->top[0], 4, (int64_t[]){1, 1, 1, ROW});
}

static void detection_output_teardown(fire_layer_t *l)
{
    detection_output_t *s = FIRE_STATE(l, detection_output_t);

    fire_free(s->box);
    fire_free(s->list);
    fire_free(s->found);
    fire_free(s->first);
}

/* Append the detections of one class in one image: the top_k best scores above `least`,
 * without duplicates. */
static fire_status_t find_class(detection_output_t *s, int64_t image, int label)
{
    const float *conf = s->p.conf + image * s->p.priors * s->p.classes + label;
    int64_t      n    = 0;

    for (int64_t i = 0; i < s->p.priors; i++)
        if (conf[i * s->p.classes] > s->least)
            s->list[n++] = (fire_ranked_t){conf[i * s->p.classes], i};
    fire_rank(s->list, n);
    if (s->top_k > -1 && n > s->top_k) n = s->top_k;
    for (int64_t i = 0; i < n; i++)
        s->box[s->list[i].index] = fire_predictions_box(
            &s->p, image, s->list[i].index, s->p.loc_classes == 1 ? 0 : label);
    n = fire_bbox_suppress(s->box, s->list, n, s->threshold, s->eta);
    FIRE_TRY(fire_grow(&s->found, &s->cfound, s->nfound + n, sizeof(*s->found)));
    for (int64_t i = 0; i < n; i++)
        s->found[s->nfound++] =
            (found_t){label, s->list[i].score, s->box[s->list[i].index], false};
    return FIRE_OK;
}

/* Keep only the keep_top_k best detections of an image, in their order (by class). */
static fire_status_t keep_best(detection_output_t *s, int64_t first)
{
    int64_t n = s->nfound - first, kept = 0;

    if (s->keep_top_k < 0 || n <= s->keep_top_k) return FIRE_OK;
    FIRE_TRY(fire_grow(&s->list, &s->nlist, n, sizeof(*s->list)));
    for (int64_t i = 0; i < n; i++)
        s->list[i] = (fire_ranked_t){s->found[first + i].score, i};
    fire_rank(s->list, n);
    for (int64_t i = 0; i < s->keep_top_k; i++)
        s->found[first + s->list[i].index].keep = true;
    for (int64_t i = 0; i < n; i++)
        if (s->found[first + i].keep) s->found[first + kept++] = s->found[first + i];
    s->nfound = first + kept;
    return FIRE_OK;
}

/* Reshape and write the top. */
static fire_status_t write_rows(fire_layer_t *l)
{
    const detection_output_t *s = FIRE_STATE(l, detection_output_t);
    int64_t                   n = s->nfound > 0 ? s->nfound : s->p.images;
    float                    *y;

    FIRE_TRY(fire_blob_reshape(l->top[0], 4, (int64_t[]){1, 1, n, ROW}));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t image = 0; image < s->p.images; image++) {
        if (s->nfound == 0) {
            *y++ = (float)image;
            for (int k = 1; k < ROW; k++)
                *y++ = -1.0f;
        }
        for (int64_t i = s->first[image]; i < s->first[image + 1]; i++) {
            const found_t *f = &s->found[i];

            *y++ = (float)image;
            *y++ = (float)f->label;
            *y++ = f->score;
            *y++ = f->box.xmin;
            *y++ = f->box.ymin;
            *y++ = f->box.xmax;
            *y++ = f->box.ymax;
        }
    }
    return FIRE_OK;
}

static fire_status_t detection_output_forward(fire_layer_t *l)
{
    detection_output_t *s = FIRE_STATE(l, detection_output_t);

    FIRE_TRY(fire_predictions_read(l, &s->p));
    s->nfound = 0;
    for (int64_t image = 0; image < s->p.images; image++) {
        s->first[image] = s->nfound;
        for (int label = 0; label < s->p.classes; label++)
            if (label != s->background) FIRE_TRY(find_class(s, image, label));
        FIRE_TRY(keep_best(s, s->first[image]));
    }
    s->first[s->p.images] = s->nfound;
    return write_rows(l);
}

const fire_kernel_t fire_detection_output_ref = {
    .name    = "ref",
    .forward = detection_output_forward,
};

static const fire_kernel_t *const detection_output_kernels[] = {
    &fire_detection_output_ref, NULL};

const fire_layer_ops_t fire_layer_detection_output = {
    .type        = "DetectionOutput",
    .bottoms     = {3, 4}, /* some forks add the image size, which is not needed */
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 15,
    .state_size  = sizeof(detection_output_t),
    .setup       = detection_output_setup,
    .reshape     = detection_output_reshape,
    .teardown    = detection_output_teardown,
    .kernels     = detection_output_kernels,
};
