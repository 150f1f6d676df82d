/* loss.c - normalization of losses and reading of labels. */
#include "layers/loss/loss.h"

#include <string.h>

#include "layers/scalar.h"

void fire_loss_init(fire_loss_t *s, const Caffe__LossParameter *p,
                    fire_loss_mode_t standard)
{
    s->mode = standard;
    if (p == NULL) return;
    s->has_ignore = p->has_ignore_label;
    s->ignore     = p->ignore_label;
    s->fixed      = p->pre_fixed_normalizer;
    if (p->has_normalization)
        s->mode = p->normalization;
    else if (p->has_normalize)
        s->mode = p->normalize ? CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID
                               : CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__BATCH_SIZE;
}

fire_status_t fire_loss_setup_weights(fire_loss_t *s, const Caffe__LossParameter *p,
                                      bool smooths)
{
    float *to;

    if (p == NULL) return FIRE_OK;
    if (!(p->label_smoothing >= 0 && p->label_smoothing <= 1))
        return FIRE_FAIL(FIRE_ERR_INVALID, "label_smoothing must be 0 to 1, not %g",
                         (double)p->label_smoothing);
    if (p->label_smoothing > 0 && !smooths)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "label_smoothing is for SoftmaxWithLoss and "
                         "SigmoidCrossEntropyLoss");
    s->smoothing = p->label_smoothing;
    if (p->has_weight_by_label_freqs && p->weight_by_label_freqs &&
        p->n_class_weighting == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "weight_by_label_freqs needs a "
                                           "class_weighting for each class");
    if (p->n_class_weighting == 0 ||
        (p->has_weight_by_label_freqs && !p->weight_by_label_freqs))
        return FIRE_OK;
    FIRE_TRY(fire_blob_create(&s->of_class));
    FIRE_TRY(
        fire_blob_reshape(s->of_class, 1, &(int64_t){(int64_t)p->n_class_weighting}));
    FIRE_TRY(fire_blob_write(s->of_class, FIRE_DATA, FIRE_CPU, &to));
    memcpy(to, p->class_weighting, p->n_class_weighting * sizeof(*to));
    return FIRE_OK;
}

void fire_loss_fini(fire_loss_t *s)
{
    fire_blob_destroy(s->of_class);
    s->of_class = NULL;
}

fire_status_t fire_loss_check_weights(const fire_layer_t *l, const fire_loss_t *s,
                                      int which, int64_t labels, int64_t classes)
{
    int64_t items = fire_blob_dim_or_1(l->bottom[0], 0), n;

    if (s->of_class != NULL && fire_blob_count(s->of_class) != classes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld values of class_weighting for %lld "
                         "classes",
                         (long long)fire_blob_count(s->of_class), (long long)classes);
    if (l->nbottom <= which) return FIRE_OK;
    n = fire_blob_count(l->bottom[which]);
    if (n == items || n == labels) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "bottom %d has %lld weights; give one for each of the %lld items, "
                     "or of the %lld labels",
                     which, (long long)n, (long long)items, (long long)labels);
}

fire_status_t fire_loss_weights(fire_layer_t *l, const fire_loss_t *s, int which,
                                int64_t labels, fire_weights_t *weights_p)
{
    fire_weights_t w = {.share = 1};

    if (s->of_class != NULL) FIRE_IN(l, s->of_class, FIRE_DATA, &w.of_class);
    if (l->nbottom > which) {
        FIRE_IN(l, l->bottom[which], FIRE_DATA, &w.of_item);
        if (fire_blob_count(l->bottom[which]) > 0)
            w.share = labels / fire_blob_count(l->bottom[which]);
    }
    *weights_p = w;
    return FIRE_OK;
}

fire_status_t fire_loss_reshape(fire_layer_t *l)
{
    int64_t n = fire_blob_dim_or_1(l->bottom[0], 0);
    int64_t m = fire_blob_dim_or_1(l->bottom[1], 0);

    if (n != m)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld items in the first bottom, %lld in the second: "
                         "the numbers must be equal",
                         (long long)n, (long long)m);
    return fire_blob_reshape(l->top[0], 0, NULL);
}

fire_status_t fire_loss_reshape_pair(fire_layer_t *l)
{
    int64_t n = fire_blob_count(l->bottom[0]), m = fire_blob_count(l->bottom[1]);

    FIRE_TRY(fire_loss_reshape(l));
    if (n != m)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms have %lld and %lld elements: they must agree",
                         (long long)n, (long long)m);
    return FIRE_OK;
}

float fire_loss_normalizer(const fire_loss_t *s, int64_t outer, int64_t inner,
                           int64_t valid)
{
    float n;

    switch (s->mode) {
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__FULL:
        n = (float)(outer * inner);
        break;
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__BATCH_SIZE:
        n = (float)outer;
        break;
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__NONE:
        n = 1.0f;
        break;
    case CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__PRE_FIXED:
        n = s->fixed;
        break;
    default:
        n = (float)valid;
    }
    return fire_max(1.0f, n); /* so a batch without labels has loss 0, not NaN */
}

fire_status_t fire_loss_label(const fire_loss_t *s, float label, int64_t item,
                              int64_t classes, int64_t *class_p)
{
    /* Fractions are truncated, as in Caffe. NaN fails both comparisons. */
    bool is_int = label > -2147483648.0f && label < 2147483648.0f;

    if (is_int && s->has_ignore && (int)label == s->ignore) {
        *class_p = FIRE_LABEL_IGNORED;
        return FIRE_OK;
    }
    if (!is_int || (int)label < 0 || (int)label >= classes)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "label %g of item %lld is none of the %lld classes 0 ... %lld; "
            "check the labels, or the number of outputs below",
            (double)label, (long long)item, (long long)classes, (long long)classes - 1);
    *class_p = (int)label;
    return FIRE_OK;
}
