/* multibox_loss.c - SSD's loss: prior boxes are matched with objects; matched ones shall
 * predict the object's box (smooth L1 or L2) and label, and of the others the most
 * mistaken shall predict background (softmax or logistic).
 *
 * Bottoms: locations, scores, priors, objects (rows of 8, see bbox.h). */
#include <math.h>

#include "layers/detection/match.h"
#include "layers/detection/predictions.h"
#include "layers/loss/loss.h"

enum { OBJECTS = 3 };

#define SETTING(name) CAFFE__MULTI_BOX_LOSS_PARAMETER__##name

typedef struct multibox {
    fire_predictions_t p;
    fire_match_rule_t  rule;
    fire_loss_t        loss;
    bool               mine, hard; /* hard: matches compete as well */

    fire_object_t *object; /* of all images, image by image */
    int64_t        nobject, cobject;
    int32_t       *index;   /* [image][prior] of the object, from the image's first */
    bool          *counts;  /* [image][prior] has a part in the confidence loss */
    float         *overlap; /* [prior] of one image */
    fire_bbox_t   *box;     /* [prior] of one image */
    fire_ranked_t *list;    /* [prior] of one image */
    int64_t        cindex, ccounts, coverlap, cbox, clist;
    int64_t        matches;
    fire_scratch_t work;
} multibox_t;

static fire_status_t multibox_setup(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    multibox_t                         *s = FIRE_STATE(l, multibox_t);

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "multibox_loss_param { num_classes } is missing");
    s->p.code           = p->code_type;
    s->p.variance_done  = p->encode_variance_in_target;
    s->rule.one_each    = p->match_type == SETTING(MATCH_TYPE__BIPARTITE);
    s->rule.least       = p->overlap_threshold;
    s->rule.inside_only = p->ignore_cross_boundary_bbox;
    s->mine             = p->has_do_neg_mining ? p->do_neg_mining
                                               : p->mining_type != SETTING(MINING_TYPE__NONE);
    fire_loss_init(&s->loss, l->param->loss_param,
                   CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID);
    s->hard = s->mine && !p->has_do_neg_mining &&
              p->mining_type == SETTING(MINING_TYPE__HARD_EXAMPLE);
    if (s->hard && p->sample_size <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "sample_size must be positive");
    if (!p->use_prior_for_matching && !p->share_location)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "use_prior_for_matching: false needs share_location: true");
    if (s->mine && !(p->neg_pos_ratio > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "neg_pos_ratio must be positive");
    return FIRE_OK;
}

static fire_status_t multibox_reshape(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    multibox_t                         *s = FIRE_STATE(l, multibox_t);
    int64_t                             n;

    FIRE_TRY(fire_predictions_shape(l, p->num_classes, p->share_location, &s->p));
    if (p->background_label_id >= p->num_classes)
        return FIRE_FAIL(FIRE_ERR_INVALID, "background_label_id %u is no class",
                         p->background_label_id);
    if (l->bottom[OBJECTS]->count % FIRE_OBJECT_ROW != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "bottom 3 must have rows of %d numbers",
                         FIRE_OBJECT_ROW);
    n = s->p.images * s->p.priors;
    FIRE_TRY(fire_grow(&s->index, &s->cindex, n, sizeof(*s->index)));
    FIRE_TRY(fire_grow(&s->counts, &s->ccounts, n, sizeof(*s->counts)));
    FIRE_TRY(fire_grow(&s->overlap, &s->coverlap, s->p.priors, sizeof(*s->overlap)));
    FIRE_TRY(fire_grow(&s->box, &s->cbox, s->p.priors, sizeof(*s->box)));
    FIRE_TRY(fire_grow(&s->list, &s->clist, s->p.priors, sizeof(*s->list)));
    return fire_blob_reshape(l->top[0], 0, NULL);
}

static void multibox_teardown(fire_layer_t *l)
{
    multibox_t *s = FIRE_STATE(l, multibox_t);

    fire_free(s->object);
    fire_free(s->index);
    fire_free(s->counts);
    fire_free(s->overlap);
    fire_free(s->box);
    fire_free(s->list);
    fire_scratch_free(&s->work);
}

/* ---- who predicts what ---- */

static fire_status_t read_objects(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    multibox_t                         *s = FIRE_STATE(l, multibox_t);
    int64_t      nrow                     = l->bottom[OBJECTS]->count / FIRE_OBJECT_ROW;
    const float *rows;

    FIRE_IN(l, l->bottom[OBJECTS], FIRE_DATA, &rows);
    FIRE_TRY(fire_grow(&s->object, &s->cobject, nrow, sizeof(*s->object)));
    FIRE_TRY(fire_objects_read(rows, nrow, (int)p->background_label_id,
                               p->use_difficult_gt, s->object, &s->nobject));
    for (int64_t i = 0; i < s->nobject; i++) {
        if (s->object[i].label < 0 || s->object[i].label >= s->p.classes)
            return FIRE_FAIL(FIRE_ERR_INVALID, "an object has label %d of %d classes",
                             s->object[i].label, s->p.classes);
        if (i > 0 && s->object[i].image < s->object[i - 1].image)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the objects must be in the order of their images");
    }
    return FIRE_OK;
}

static int label_of(const fire_layer_t *l, int64_t row)
{
    const multibox_t *s = FIRE_STATE(l, multibox_t);
    int background      = (int)l->param->multibox_loss_param->background_label_id;

    if (s->index[row] < 0) return background;
    return l->param->multibox_loss_param->map_object_to_agnostic
               ? background + 1
               : s->object[s->index[row]].label;
}

/* The four differences between what row's box should be and is, and where it is told. */
static int64_t location_error(const multibox_t *s, int64_t row, float error[4])
{
    int64_t       prior = row % s->p.priors;
    const float  *v     = s->p.variance + 4 * prior;
    fire_object_t o     = s->object[s->index[row]];
    int64_t       at = row * s->p.loc_classes + (s->p.loc_classes == 1 ? 0 : o.label);
    fire_bbox_t   want, got = s->p.loc[at];

    want     = fire_bbox_encode(s->p.code, s->p.prior[prior],
                                fire_predictions_variance(&s->p, prior), o.box);
    error[0] = got.xmin - want.xmin;
    error[1] = got.ymin - want.ymin;
    error[2] = got.xmax - want.xmax;
    error[3] = got.ymax - want.ymax;
    for (int k = 0; k < 4 && s->p.variance_done; k++)
        error[k] /= v[k];
    return 4 * at;
}

static double location_loss(const fire_layer_t *l, int64_t row)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    bool   l2  = p->loc_loss_type == SETTING(LOC_LOSS_TYPE__L2);
    double sum = 0;
    float  error[4];

    location_error(FIRE_STATE(l, multibox_t), row, error);
    for (int k = 0; k < 4; k++)
        sum += l2 || fabsf(error[k]) < 1.0f ? 0.5 * (double)error[k] * (double)error[k]
                                            : (double)fabsf(error[k]) - 0.5;
    return sum;
}

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Loss of one row of scores where `label` is right. */
static double confidence_loss(const fire_layer_t *l, const float *x, int label)
{
    const Caffe__MultiBoxLossParameter *p   = l->param->multibox_loss_param;
    int                                 n   = FIRE_STATE(l, multibox_t)->p.classes;
    double                              max = (double)x[0], sum = 0;

    if (p->conf_loss_type == SETTING(CONF_LOSS_TYPE__LOGISTIC)) {
        for (int c = 0; c < n; c++)
            sum += softplus((double)(c == label ? -x[c] : x[c]));
        return sum;
    }
    for (int c = 1; c < n; c++)
        max = (double)x[c] > max ? (double)x[c] : max;
    for (int c = 0; c < n; c++)
        sum += exp((double)x[c] - max);
    return log(sum) - ((double)x[label] - max);
}

/* The boxes that compete for a part in the loss, and how mistaken they are: with hard
 * examples all of them, otherwise those that saw nothing. */
static int64_t list_candidates(const fire_layer_t *l, int64_t first)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    multibox_t                         *s = FIRE_STATE(l, multibox_t);
    int64_t                             n = 0;

    for (int64_t i = 0; i < s->p.priors; i++) {
        int64_t row  = first + i;
        bool    free = s->index[row] == FIRE_MATCH_NONE;
        double  loss;

        if (!s->hard && !(free && s->overlap[i] < p->neg_overlap)) continue;
        loss = confidence_loss(l, s->p.conf + row * s->p.classes, label_of(l, row));
        if (s->hard && s->index[row] >= 0) loss += location_loss(l, row);
        s->list[n++] = (fire_ranked_t){(float)loss, i};
    }
    fire_rank(s->list, n);
    return n;
}

/* Of candidates that look at the same place, only the most mistaken ones. */
static int64_t suppress(const fire_layer_t *l, int64_t image, int64_t n)
{
    const Caffe__MultiBoxLossParameter *p   = l->param->multibox_loss_param;
    multibox_t                         *s   = FIRE_STATE(l, multibox_t);
    const fire_bbox_t                  *box = s->p.prior;

    if (p->nms_param == NULL || !(p->nms_param->nms_threshold > 0)) return n;
    if (!p->use_prior_for_nms) {
        for (int64_t i = 0; i < s->p.priors; i++)
            s->box[i] = fire_predictions_box(&s->p, image, i, 0);
        box = s->box;
    }
    if (p->nms_param->has_top_k && p->nms_param->top_k >= 0 && n > p->nms_param->top_k)
        n = p->nms_param->top_k;
    return fire_bbox_suppress(box, s->list, n, p->nms_param->nms_threshold,
                              p->nms_param->eta);
}

/* The worst candidates take part: so many for each match or, with hard examples, of all
 * alike, and matches that are not among them take no part any more. */
static void mine(const fire_layer_t *l, int64_t image, int64_t *matches)
{
    const Caffe__MultiBoxLossParameter *p     = l->param->multibox_loss_param;
    multibox_t                         *s     = FIRE_STATE(l, multibox_t);
    int64_t                             first = image * s->p.priors;
    int64_t                             want =
        s->hard ? p->sample_size : (int64_t)((float)*matches * p->neg_pos_ratio);
    int64_t n = suppress(l, image, list_candidates(l, first));

    if (s->hard)
        for (int64_t i = first; i < first + s->p.priors; i++)
            s->counts[i] = false;
    for (int64_t i = 0; i < n && i < want; i++)
        s->counts[first + s->list[i].index] =
            s->index[first + s->list[i].index] != FIRE_MATCH_IGNORED;
    for (int64_t i = first; s->hard && i < first + s->p.priors; i++)
        if (s->index[i] >= 0 && !s->counts[i]) {
            s->index[i] = FIRE_MATCH_NONE;
            --*matches;
        }
}

/* One image's objects are object[begin ... end - 1]. */
static fire_status_t match_image(fire_layer_t *l, int64_t image, int64_t begin,
                                 int64_t end)
{
    const Caffe__MultiBoxLossParameter *p     = l->param->multibox_loss_param;
    multibox_t                         *s     = FIRE_STATE(l, multibox_t);
    int64_t                             first = image * s->p.priors, matches = 0;
    const fire_bbox_t                  *box = s->p.prior;

    if (!p->use_prior_for_matching) {
        for (int64_t i = 0; i < s->p.priors; i++)
            s->box[i] = fire_predictions_box(&s->p, image, i, 0);
        box = s->box;
    }
    FIRE_TRY(fire_match(&s->rule, s->object + begin, end - begin, box, s->p.priors,
                        &s->work, s->index + first, s->overlap));
    for (int64_t i = first; i < first + s->p.priors; i++) {
        bool matched = s->index[i] >= 0;

        if (matched) s->index[i] += (int32_t)begin;
        matches += matched;
        s->counts[i] = matched || !s->mine;
    }
    if (s->mine) mine(l, image, &matches);
    s->matches += matches;
    return FIRE_OK;
}

static fire_status_t match_all(fire_layer_t *l)
{
    multibox_t *s  = FIRE_STATE(l, multibox_t);
    int64_t     at = 0;

    FIRE_TRY(fire_predictions_read(l, &s->p));
    FIRE_TRY(read_objects(l));
    s->matches = 0;
    for (int64_t image = 0; image < s->p.images; image++) {
        int64_t begin = at;

        while (at < s->nobject && s->object[at].image == image)
            at++;
        FIRE_TRY(match_image(l, image, begin, at));
    }
    return FIRE_OK;
}

/* ---- loss ---- */

static float normalizer(const multibox_t *s)
{
    return fire_loss_normalizer(&s->loss, s->p.images, s->p.priors, s->matches);
}

static fire_status_t multibox_forward(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p   = l->param->multibox_loss_param;
    multibox_t                         *s   = FIRE_STATE(l, multibox_t);
    double                              loc = 0, conf = 0;
    float                              *top;

    FIRE_TRY(match_all(l));
    for (int64_t row = 0; row < s->p.images * s->p.priors; row++) {
        if (s->counts[row])
            conf +=
                confidence_loss(l, s->p.conf + row * s->p.classes, label_of(l, row));
        if (s->index[row] >= 0) loc += location_loss(l, row);
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    top[0] = (float)((double)p->loc_weight * loc + conf) / normalizer(s);
    return FIRE_OK;
}

static fire_status_t backward_locations(fire_layer_t *l, float weight)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    const multibox_t                   *s = FIRE_STATE(l, multibox_t);
    bool  l2 = p->loc_loss_type == SETTING(LOC_LOSS_TYPE__L2);
    float error[4], *dx;

    FIRE_OUT(l, l->bottom[FIRE_PREDICT_LOC], FIRE_DIFF, &dx);
    fire_fill(fire_blob_count(l->bottom[FIRE_PREDICT_LOC]), 0.0f, dx);
    for (int64_t row = 0; row < s->p.images * s->p.priors; row++) {
        int64_t at;

        if (s->index[row] < 0) continue;
        at = location_error(s, row, error);
        for (int k = 0; k < 4; k++) {
            float slope = l2 ? error[k] : fmaxf(fminf(error[k], 1.0f), -1.0f);
            float scale =
                s->p.variance_done ? s->p.variance[4 * (row % s->p.priors) + k] : 1.0f;

            dx[at + k] = weight * p->loc_weight * slope / scale;
        }
    }
    return FIRE_OK;
}

/* Gradient of one row of scores: probabilities less what they should be. */
static void row_gradient(const fire_layer_t *l, const float *x, int label, float weight,
                         float *dx)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    int                                 n = FIRE_STATE(l, multibox_t)->p.classes;
    bool   logistic = p->conf_loss_type == SETTING(CONF_LOSS_TYPE__LOGISTIC);
    double max = (double)x[0], sum = 0;

    for (int c = 1; c < n; c++)
        max = (double)x[c] > max ? (double)x[c] : max;
    for (int c = 0; c < n; c++)
        sum += exp((double)x[c] - max);
    for (int c = 0; c < n; c++) {
        double prob =
            logistic ? 1 / (1 + exp(-(double)x[c])) : exp((double)x[c] - max) / sum;

        dx[c] = weight * (float)(prob - (c == label));
    }
}

static fire_status_t multibox_backward(fire_layer_t *l)
{
    const multibox_t *s = FIRE_STATE(l, multibox_t);
    float             weight, *dx;

    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    weight /= normalizer(s);
    if (l->propagate_down[FIRE_PREDICT_LOC]) FIRE_TRY(backward_locations(l, weight));
    if (!l->propagate_down[FIRE_PREDICT_CONF]) return FIRE_OK;
    FIRE_OUT(l, l->bottom[FIRE_PREDICT_CONF], FIRE_DIFF, &dx);
    fire_fill(fire_blob_count(l->bottom[FIRE_PREDICT_CONF]), 0.0f, dx);
    for (int64_t row = 0; row < s->p.images * s->p.priors; row++)
        if (s->counts[row])
            row_gradient(l, s->p.conf + row * s->p.classes, label_of(l, row), weight,
                         dx + row * s->p.classes);
    return FIRE_OK;
}

const fire_kernel_t fire_multibox_loss_ref = {
    .name     = "ref",
    .forward  = multibox_forward,
    .backward = multibox_backward,
};

static const fire_kernel_t *const multibox_kernels[] = {&fire_multibox_loss_ref, NULL};

const fire_layer_ops_t fire_layer_multibox_loss = {
    .type        = "MultiBoxLoss",
    .bottoms     = {4, 4},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .no_gradient = 1u << FIRE_PREDICT_PRIOR | 1u << OBJECTS,
    .state_size  = sizeof(multibox_t),
    .setup       = multibox_setup,
    .reshape     = multibox_reshape,
    .teardown    = multibox_teardown,
    .kernels     = multibox_kernels,
};
