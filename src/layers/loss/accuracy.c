/* accuracy.c - Accuracy: the fraction of items whose true class is among the top_k
 * scores. A class with the same score as the true one counts as better.
 *
 *   bottom 0: (N, C, ...) scores, classes on `axis`
 *   bottom 1: (N, ...) labels: bottom 0 without the axis of classes
 *   top 0:    () accuracy
 *   top 1:    (C) (optional) accuracy of each class */
#include <string.h>

#include "layers/loss/accuracy.h"

typedef fire_accuracy_t accuracy_t;

/* Settings are copied from accuracy_param. */
static fire_status_t accuracy_setup(fire_layer_t *l)
{
    const Caffe__AccuracyParameter *p =
        FIRE_PARAM(l, accuracy_param, CAFFE__ACCURACY_PARAMETER__INIT);
    accuracy_t *s = l->state;

    s->top_k             = (int)p->top_k;
    s->axis              = p->axis;
    s->labels.has_ignore = p->has_ignore_label;
    s->labels.ignore     = p->ignore_label;
    return FIRE_OK;
}

/* Interpret bottom 0 as (outer, classes, inner) and check the labels, (outer,
 * inner). */
static fire_status_t accuracy_reshape(fire_layer_t *l)
{
    accuracy_t        *s      = l->state;
    const fire_blob_t *x      = l->bottom[0];
    int64_t            labels = fire_blob_count(l->bottom[1]);
    int                axis;

    FIRE_TRY(fire_blob_axis(x, s->axis, "accuracy_param", &axis));
    s->outer   = fire_blob_count_range(x, 0, axis);
    s->classes = x->dim[axis];
    s->inner   = fire_blob_count_range(x, axis + 1, x->ndim);
    if (labels != s->outer * s->inner)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld labels for %lld predictions: with classes on axis %d, "
                         "the label has the prediction's shape without that axis",
                         (long long)labels, (long long)(s->outer * s->inner), axis);
    if (s->top_k < 1 || s->top_k > s->classes)
        return FIRE_FAIL(FIRE_ERR_INVALID, "top_k %d of %lld classes", s->top_k,
                         (long long)s->classes);
    fire_free(s->items);
    s->items = NULL;
    FIRE_TRY(FIRE_NEW(&s->items, s->classes));
    FIRE_TRY(fire_blob_reshape(l->top[0], 0, NULL));
    return l->ntop > 1 ? fire_blob_reshape(l->top[1], 1, &s->classes) : FIRE_OK;
}

/* Do fewer than top_k other classes have at least the score of the true class? */
static bool is_hit(const accuracy_t *s, const float *score, int64_t truth)
{
    int better = -1; /* the true class itself */

    for (int64_t c = 0; c < s->classes && better < s->top_k; c++)
        better += score[c * s->inner] >= score[truth * s->inner];
    return better < s->top_k;
}

/* score: (outer, classes, inner). label: (outer, inner). per_class: (classes), hits
 * first, then divided by the items of each class. */
static fire_status_t accuracy_forward(fire_layer_t *l)
{
    accuracy_t  *s = l->state;
    const float *score, *label;
    float       *top, *per_class = NULL;
    int64_t      hits = 0, items = 0, c;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &score);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    if (l->ntop > 1) {
        FIRE_TRY(fire_blob_set(l->top[1], FIRE_DATA, 0.0f));
        FIRE_INOUT(l, l->top[1], FIRE_DATA, &per_class);
    }
    memset(s->items, 0, (size_t)s->classes * sizeof(*s->items));
    for (int64_t i = 0; i < s->outer; i++)
        for (int64_t j = 0; j < s->inner; j++) {
            bool hit;

            FIRE_TRY(fire_loss_label(&s->labels, label[i * s->inner + j], i, s->classes,
                                     &c));
            if (c == FIRE_LABEL_IGNORED) continue;
            hit = is_hit(s, score + i * s->classes * s->inner + j, c);
            s->items[c]++;
            items++;
            hits += hit;
            if (per_class != NULL) per_class[c] += hit;
        }
    top[0] = items == 0 ? 0.0f : (float)hits / (float)items;
    for (c = 0; per_class != NULL && c < s->classes; c++)
        per_class[c] = s->items[c] == 0 ? 0.0f : per_class[c] / (float)s->items[c];
    return FIRE_OK;
}

static void accuracy_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, accuracy_t)->items);
}

const fire_kernel_t fire_accuracy_ref = {
    .name    = "ref",
    .forward = accuracy_forward,
};

extern const fire_kernel_t fire_accuracy_cuda; /* accuracy.cu */

static const fire_kernel_t *const accuracy_kernels[] = {
    FIRE_IF_CUDA(fire_accuracy_cuda) &fire_accuracy_ref, NULL};

const fire_layer_ops_t fire_layer_accuracy = {
    .type        = "Accuracy",
    .bottoms     = {2, 2},
    .tops        = {1, 2},
    .no_gradient = 3,
    .state_size  = sizeof(accuracy_t),
    .setup       = accuracy_setup,
    .reshape     = accuracy_reshape,
    .teardown    = accuracy_teardown,
    .kernels     = accuracy_kernels,
};
