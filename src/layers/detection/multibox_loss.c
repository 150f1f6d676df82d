/* multibox_loss.c - MultiBoxLoss: SSD's loss (Liu and others, "SSD: Single Shot
 * MultiBox Detector", 2016). A prior box that is matched with an object shall predict
 * the object's box and label; of the others, those with the worst scores shall predict
 * background.
 *
 *   bottom 0: (N, priors * loc_classes * 4) locations
 *   bottom 1: (N, priors * classes) scores
 *   bottom 2: (1, 2, priors * 4) prior boxes and variances
 *   bottom 3: (1, 1, G, 8) objects, rows as in bbox.h, in the order of images
 *   top 0:    () loss = (loc_weight * sum of location losses over matched priors
 *                        + sum of confidence losses over counted priors) / normalizer
 *
 * The location loss is smooth L1 or L2 of the encoded box, the confidence loss softmax
 * or logistic cross entropy. */
#include <math.h>

#include "layers/detection/multibox.h"

/* Copy the settings; do_neg_mining is the older form of mining_type. */
static fire_status_t multibox_setup(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    fire_multibox_t                    *s = FIRE_STATE(l, fire_multibox_t);

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "multibox_loss_param { num_classes } is missing");
    s->p.code           = p->code_type;
    s->p.variance_done  = p->encode_variance_in_target;
    s->rule.one_each    = p->match_type == FIRE_MULTIBOX_SETTING(MATCH_TYPE__BIPARTITE);
    s->rule.least       = p->overlap_threshold;
    s->rule.inside_only = p->ignore_cross_boundary_bbox;
    s->mining           = p->has_do_neg_mining
                              ? p->do_neg_mining
                              : p->mining_type != FIRE_MULTIBOX_SETTING(MINING_TYPE__NONE);
    fire_loss_init(&s->loss, l->param->loss_param,
                   CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID);
    s->hard = s->mining && !p->has_do_neg_mining &&
              p->mining_type == FIRE_MULTIBOX_SETTING(MINING_TYPE__HARD_EXAMPLE);
    if (s->hard && p->sample_size <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "sample_size must be positive");
    if (!p->use_prior_for_matching && !p->share_location)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "use_prior_for_matching: false needs share_location: true");
    if (s->mining && !(p->neg_pos_ratio > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "neg_pos_ratio must be positive");
    return FIRE_OK;
}

/* Check the shapes and make room for all priors of all images. */
static fire_status_t multibox_reshape(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    fire_multibox_t                    *s = FIRE_STATE(l, fire_multibox_t);
    int64_t                             n;

    FIRE_TRY(fire_predictions_shape(l, p->num_classes, p->share_location, &s->p));
    if (p->background_label_id >= p->num_classes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "background_label_id %u is out of range of num_classes",
                         p->background_label_id);
    if (l->bottom[FIRE_MULTIBOX_OBJECTS]->count % FIRE_OBJECT_ROW != 0)
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
    fire_multibox_t *s = FIRE_STATE(l, fire_multibox_t);

    fire_free(s->object);
    fire_free(s->index);
    fire_free(s->counts);
    fire_free(s->overlap);
    fire_free(s->box);
    fire_free(s->list);
    fire_scratch_free(&s->work);
}

/* ---- the loss of one prior box ---- */

int fire_multibox_label(const fire_layer_t *l, int64_t row)
{
    const fire_multibox_t *s = FIRE_STATE(l, fire_multibox_t);
    int background           = (int)l->param->multibox_loss_param->background_label_id;

    if (s->index[row] < 0) return background;
    return l->param->multibox_loss_param->map_object_to_agnostic
               ? background + 1
               : s->object[s->index[row]].label;
}

/* error[k] = predicted minus wanted code of row's box; returns the index of its first
 * number in bottom 0. */
static int64_t location_error(const fire_multibox_t *s, int64_t row, float error[4])
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

double fire_multibox_location_loss(const fire_layer_t *l, int64_t row)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    bool   l2  = p->loc_loss_type == FIRE_MULTIBOX_SETTING(LOC_LOSS_TYPE__L2);
    double sum = 0;
    float  error[4];

    location_error(FIRE_STATE(l, fire_multibox_t), row, error);
    for (int k = 0; k < 4; k++)
        sum += l2 || fabsf(error[k]) < 1.0f ? 0.5 * (double)error[k] * (double)error[k]
                                            : (double)fabsf(error[k]) - 0.5;
    return sum;
}

/* log(1 + exp(x)) without overflow. */
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Loss of one row of scores where `label` is right. */
double fire_multibox_confidence_loss(const fire_layer_t *l, const float *x, int label)
{
    const Caffe__MultiBoxLossParameter *p   = l->param->multibox_loss_param;
    int                                 n   = FIRE_STATE(l, fire_multibox_t)->p.classes;
    double                              max = (double)x[0], sum = 0;

    if (p->conf_loss_type == FIRE_MULTIBOX_SETTING(CONF_LOSS_TYPE__LOGISTIC)) {
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

/* ---- forward and backward ---- */

/* What both losses are divided by; by default the number of matches. */
static float normalizer(const fire_multibox_t *s)
{
    return fire_loss_normalizer(&s->loss, s->p.images, s->p.priors, s->matches);
}

/* Match, then add up both losses. */
static fire_status_t multibox_forward(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p   = l->param->multibox_loss_param;
    fire_multibox_t                    *s   = FIRE_STATE(l, fire_multibox_t);
    double                              loc = 0, conf = 0;
    float                              *top;

    FIRE_TRY(fire_multibox_match(l));
    for (int64_t row = 0; row < s->p.images * s->p.priors; row++) {
        if (s->counts[row])
            conf += fire_multibox_confidence_loss(l, s->p.conf + row * s->p.classes,
                                                  fire_multibox_label(l, row));
        if (s->index[row] >= 0) loc += fire_multibox_location_loss(l, row);
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    top[0] = (float)((double)p->loc_weight * loc + conf) / normalizer(s);
    return FIRE_OK;
}

/* Gradient of the locations: 0 except for matched priors. */
static fire_status_t backward_locations(fire_layer_t *l, float weight)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    const fire_multibox_t              *s = FIRE_STATE(l, fire_multibox_t);
    bool  l2 = p->loc_loss_type == FIRE_MULTIBOX_SETTING(LOC_LOSS_TYPE__L2);
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

/* Gradient of a row of scores: probability minus 1 for the true class, probability for
 * the others, times weight. */
static void row_gradient(const fire_layer_t *l, const float *x, int label, float weight,
                         float *dx)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    int                                 n = FIRE_STATE(l, fire_multibox_t)->p.classes;
    bool                                logistic =
        p->conf_loss_type == FIRE_MULTIBOX_SETTING(CONF_LOSS_TYPE__LOGISTIC);
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

/* Gradients of locations and scores; forward's matches are still valid. */
static fire_status_t multibox_backward(fire_layer_t *l)
{
    const fire_multibox_t *s = FIRE_STATE(l, fire_multibox_t);
    float                  weight, *dx;

    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    weight /= normalizer(s);
    if (l->propagate_down[FIRE_PREDICT_LOC]) FIRE_TRY(backward_locations(l, weight));
    if (!l->propagate_down[FIRE_PREDICT_CONF]) return FIRE_OK;
    FIRE_OUT(l, l->bottom[FIRE_PREDICT_CONF], FIRE_DIFF, &dx);
    fire_fill(fire_blob_count(l->bottom[FIRE_PREDICT_CONF]), 0.0f, dx);
    for (int64_t row = 0; row < s->p.images * s->p.priors; row++)
        if (s->counts[row])
            row_gradient(l, s->p.conf + row * s->p.classes, fire_multibox_label(l, row),
                         weight, dx + row * s->p.classes);
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
    .no_gradient = 1u << FIRE_PREDICT_PRIOR | 1u << FIRE_MULTIBOX_OBJECTS,
    .state_size  = sizeof(fire_multibox_t),
    .setup       = multibox_setup,
    .reshape     = multibox_reshape,
    .teardown    = multibox_teardown,
    .kernels     = multibox_kernels,
};
