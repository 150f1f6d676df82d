/* softmax_loss.c - SoftmaxWithLoss: loss = -sum(log softmax(x)[label]) / normalizer.
 *
 *   bottom 0: (N, C, ...) scores x, classes on `axis`
 *   bottom 1: (N, ...) labels: bottom 0 without the axis of classes; or like bottom 0,
 *             probabilities of the classes
 *   bottom 2: (N) or (N, ...) (optional) weights of items or of labels
 *   top 0:    () loss
 *   top 1:    (N, C, ...) (optional) softmax(x)
 *   top 2:    (N, ...) (only SoftmaxWithLossOHEM) loss of each label, undivided */

#include <float.h>
#include <math.h>
#include <string.h>

#include "layers/loss/softmax_loss.h"
#include "layers/scalar.h"

typedef fire_softmax_loss_t softmax_loss_t;

fire_status_t fire_softmax_loss_setup(fire_layer_t *l)
{
    softmax_loss_t *s = l->state;

    fire_loss_init(&s->loss, l->param->loss_param,
                   CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID);
    FIRE_TRY(fire_loss_setup_weights(&s->loss, l->param->loss_param, true));
    return fire_blob_create(&s->prob);
}

/* Interpret bottom 0 as (outer, classes, inner) and check the labels. Top 1 shares the
 * memory of the softmax. */
fire_status_t fire_softmax_loss_reshape(fire_layer_t *l)
{
    softmax_loss_t                *s = l->state;
    const Caffe__SoftmaxParameter *p =
        FIRE_PARAM(l, softmax_param, CAFFE__SOFTMAX_PARAMETER__INIT);
    int64_t labels = fire_blob_count(l->bottom[1]), places;

    FIRE_TRY(fire_loss_reshape(l));
    FIRE_TRY(fire_softmax_reshape(&s->softmax, l->bottom[0], p->axis));
    places  = s->softmax.outer * s->softmax.inner;
    s->soft = labels == places * s->softmax.classes && s->softmax.classes > 1;
    s->general =
        s->soft || s->loss.smoothing > 0 || s->loss.of_class != NULL || l->nbottom > 2;
    FIRE_TRY(fire_loss_check_weights(l, &s->loss, 2, places, s->softmax.classes));
    if (labels != places && !s->soft)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld labels for %lld predictions: with classes on axis %d, "
                         "the label has the prediction's shape without that axis, "
                         "or with it if it holds probabilities",
                         (long long)labels, (long long)places, s->softmax.axis);
    FIRE_TRY(fire_blob_reshape_like(s->prob, l->bottom[0]));
    if (l->ntop < 2) return FIRE_OK;
    FIRE_TRY(fire_blob_reshape_like(l->top[1], l->bottom[0]));
    fire_blob_share(l->top[1], s->prob, FIRE_DATA);
    return l->ntop < 3 ? FIRE_OK : fire_blob_reshape_like(l->top[2], l->bottom[1]);
}

/* ---- labels that are soft, smoothed or weighted ---- */

fire_status_t fire_softmax_loss_rule(fire_layer_t *l, fire_softmax_rule_t *rule_p)
{
    const softmax_loss_t *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    fire_softmax_rule_t   r = {.soft      = s->soft,
                               .smoothing = s->loss.smoothing,
                               .classes   = m->classes,
                               .inner     = m->inner};

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &r.label);
    FIRE_TRY(fire_loss_weights(l, &s->loss, 2, m->outer * m->inner, &r.weights));
    *rule_p = r;
    return FIRE_OK;
}

/* The class of a place's label; 0 if labels are probabilities, none of which is
 * ignored. */
static fire_status_t truth_of(const softmax_loss_t *s, const fire_softmax_rule_t *r,
                              int64_t place, int64_t *class_p)
{
    *class_p = 0;
    if (s->soft) return FIRE_OK;
    return fire_loss_label(&s->loss, r->label[place], place / r->inner, r->classes,
                           class_p);
}

static fire_status_t sum_general(fire_layer_t *l, const float *prob)
{
    const softmax_loss_t *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    fire_softmax_rule_t   r;
    float                *top, *each = NULL, loss = 0.0f;
    int64_t               valid = 0, c;

    FIRE_TRY(fire_softmax_loss_rule(l, &r));
    if (l->ntop > 2) FIRE_OUT(l, l->top[2], FIRE_DATA, &each);
    for (int64_t i = 0; i < m->outer * m->inner; i++) {
        const float *p = prob + i / m->inner * m->classes * m->inner + i % m->inner;

        float        own = 0.0f;

        FIRE_TRY(truth_of(s, &r, i, &c));
        for (int64_t k = 0; k < m->classes && c != FIRE_LABEL_IGNORED; k++)
            own -= fire_softmax_target(&r, i, c, k) *
                   logf(fire_max(p[k * m->inner], FLT_MIN));
        if (each != NULL) each[i] = own;
        loss += own;
        valid += c != FIRE_LABEL_IGNORED;
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    top[0] = loss / fire_loss_normalizer(&s->loss, m->outer, m->inner, valid);
    return FIRE_OK;
}

/* dx = (prob * sum of t - t) * weight */
static fire_status_t backward_general(fire_layer_t *l)
{
    const softmax_loss_t *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    fire_softmax_rule_t   r;
    const float          *prob;
    float                *dx, weight;
    int64_t               c;

    FIRE_IN(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_TRY(fire_softmax_loss_rule(l, &r));
    FIRE_TRY(fire_softmax_loss_weight(l, &weight));
    for (int64_t i = 0; i < m->outer * m->inner; i++) {
        int64_t at  = i / m->inner * m->classes * m->inner + i % m->inner;
        float   sum = 0;

        FIRE_TRY(truth_of(s, &r, i, &c));
        for (int64_t k = 0; k < m->classes && c != FIRE_LABEL_IGNORED; k++)
            sum += fire_softmax_target(&r, i, c, k);
        for (int64_t k = 0; k < m->classes; k++, at += m->inner)
            dx[at] = c == FIRE_LABEL_IGNORED
                         ? 0.0f
                         : (prob[at] * sum - fire_softmax_target(&r, i, c, k)) * weight;
    }
    return FIRE_OK;
}

/* ---- one class, weight 1 ---- */

/* prob: (outer, classes, inner). label: (outer, inner). */
fire_status_t fire_softmax_loss_sum(fire_layer_t *l, const float *prob)
{
    softmax_loss_t       *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    const float          *label;
    float                *top, *each = NULL, loss = 0.0f;
    int64_t               valid = 0, c;

    if (s->general) return sum_general(l, prob);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    if (l->ntop > 2) FIRE_OUT(l, l->top[2], FIRE_DATA, &each);
    for (int64_t i = 0; i < m->outer; i++)
        for (int64_t j = 0; j < m->inner; j++) {
            int64_t at  = i * m->inner + j;
            float   own = 0.0f;

            FIRE_TRY(fire_loss_label(&s->loss, label[at], i, m->classes, &c));
            if (c != FIRE_LABEL_IGNORED) {
                own =
                    logf(fire_max(prob[(i * m->classes + c) * m->inner + j], FLT_MIN));
                loss -= own;
                valid++;
            }
            if (each != NULL) each[at] = 0.0f - own; /* not -0 */
        }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    top[0] = loss / fire_loss_normalizer(&s->loss, m->outer, m->inner, valid);
    return FIRE_OK;
}

static fire_status_t softmax_loss_forward(fire_layer_t *l)
{
    softmax_loss_t *s = l->state;
    const float    *x;
    float          *prob;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, s->prob, FIRE_DATA, &prob);
    fire_softmax_forward(&s->softmax, x, prob);
    return fire_softmax_loss_sum(l, prob);
}

fire_status_t fire_softmax_loss_weight(fire_layer_t *l, float *weight_p)
{
    softmax_loss_t       *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    const float          *label;
    float                 weight;
    int64_t               valid = 0, c;

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    for (int64_t i = 0; i < m->outer * m->inner && !s->soft; i++) {
        FIRE_TRY(fire_loss_label(&s->loss, label[i], i / m->inner, m->classes, &c));
        valid += c != FIRE_LABEL_IGNORED;
    }
    if (s->soft) valid = m->outer * m->inner;
    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    *weight_p = weight / fire_loss_normalizer(&s->loss, m->outer, m->inner, valid);
    return FIRE_OK;
}

/* dx = (prob - [class is the label]) * weight; 0 where the label is ignored. */
static fire_status_t softmax_loss_backward(fire_layer_t *l)
{
    softmax_loss_t       *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    const float          *prob, *label;
    float                *dx, weight;
    int64_t               c, n = fire_blob_count(l->bottom[0]);

    if (!l->propagate_down[0]) return FIRE_OK;
    if (s->general) return backward_general(l);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_TRY(fire_softmax_loss_weight(l, &weight));
    memcpy(dx, prob, (size_t)n * sizeof(*dx));
    for (int64_t i = 0; i < m->outer; i++)
        for (int64_t j = 0; j < m->inner; j++) {
            float *at = dx + i * m->classes * m->inner + j;

            FIRE_TRY(
                fire_loss_label(&s->loss, label[i * m->inner + j], i, m->classes, &c));
            if (c != FIRE_LABEL_IGNORED)
                at[c * m->inner] -= 1.0f;
            else
                for (c = 0; c < m->classes; c++)
                    at[c * m->inner] = 0.0f;
        }
    for (int64_t i = 0; i < n; i++)
        dx[i] *= weight;
    return FIRE_OK;
}

void fire_softmax_loss_teardown(fire_layer_t *l)
{
    softmax_loss_t *s = l->state;

    fire_softmax_fini(&s->softmax);
    fire_blob_destroy(s->prob);
    fire_loss_fini(&s->loss);
}

const fire_kernel_t fire_softmax_loss_ref = {
    .name     = "ref",
    .forward  = softmax_loss_forward,
    .backward = softmax_loss_backward,
};

extern const fire_kernel_t fire_softmax_loss_cuda; /* softmax_loss.cu */
extern const fire_kernel_t fire_softmax_loss_simd; /* softmax_loss_simd.c */

const fire_kernel_t *const fire_softmax_loss_kernels[] = {
    FIRE_IF_CUDA(fire_softmax_loss_cuda) &fire_softmax_loss_simd,
    &fire_softmax_loss_ref, NULL};

const fire_layer_ops_t fire_layer_softmax_loss = {
    .type        = "SoftmaxWithLoss",
    .bottoms     = {2, 3},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 6,
    .state_size  = sizeof(softmax_loss_t),
    .setup       = fire_softmax_loss_setup,
    .reshape     = fire_softmax_loss_reshape,
    .teardown    = fire_softmax_loss_teardown,
    .kernels     = fire_softmax_loss_kernels,
};
