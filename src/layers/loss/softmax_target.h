/* softmax_target.h - SoftmaxWithLoss with a weight t[k] for every class k of a label:
 *
 *   loss = -sum t[k] log p[k]        d loss / d x[k] = p[k] * (sum of t) - t[k]
 *
 * t is the label, as one class or as probabilities of all, smoothed, times the weights
 * of the classes and of the item. */
#ifndef FIRE_LAYERS_LOSS_SOFTMAX_TARGET_H
#define FIRE_LAYERS_LOSS_SOFTMAX_TARGET_H
#include "layers/loss/loss.h"

/* What t is computed from; inline for CPU and GPU. */
typedef struct fire_softmax_rule {
    bool           soft;
    float          smoothing;
    int64_t        classes, inner;
    const float   *label; /* (outer, inner), or if soft (outer, classes, inner) */
    fire_weights_t weights;
} fire_softmax_rule_t;

/* t[k] of a place, truth being the class of its label (not used if soft). */
FIRE_EVERYWHERE float fire_softmax_target(const fire_softmax_rule_t *r, int64_t place,
                                          int64_t truth, int64_t k)
{
    int64_t at = (place / r->inner * r->classes + k) * r->inner + place % r->inner;
    float   t  = r->soft ? r->label[at] : k == truth ? 1.0f : 0.0f;

    t = t * (1.0f - r->smoothing) + r->smoothing / (float)r->classes;
    return t * fire_weight_of(r->weights, place, k);
}
#endif
