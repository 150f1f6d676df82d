/* losses.h - GPU kernels of losses. Forward writes one number. Backward multiplies by
 * *seed / divisor, where *seed is the gradient of the loss itself. Arrays are float32
 * in device memory. A label that is no class makes the loss NaN. */
#ifndef FIRE_LAYERS_LOSS_LOSSES_H
#define FIRE_LAYERS_LOSS_LOSSES_H
#include "layers/loss/loss.h"

FIRE_BEGIN_C
/* Losses of pairs: sum over n elements of f(a - b), and the gradient of a; with a
 * negative divisor, of b. */
typedef enum fire_gpu_pair_kind {
    FIRE_PAIR_SQUARE, /* EuclideanLoss: (a - b)^2 */
    FIRE_PAIR_ABS,    /* L1Loss: |a - b| */
    FIRE_PAIR_SMOOTH, /* SmoothL1Loss: out * f(in * (a - b)) */
} fire_gpu_pair_kind_t;

typedef struct fire_gpu_pair {
    fire_gpu_pair_kind_t kind;
    int64_t              n;
    float                sigma2;   /* SMOOTH */
    const float         *in, *out; /* SMOOTH; NULL: 1 */
    const float         *a, *b;
} fire_gpu_pair_t;

/* loss = scale * sum */
fire_status_t fire_gpu_pair_loss(fire_stream_t *s, const fire_gpu_pair_t *p,
                                 float scale, float *loss);
/* SMOOTH without `out`: row[item, place] = sum over channels. */
fire_status_t fire_gpu_smooth_rows(fire_stream_t *s, const fire_gpu_pair_t *p,
                                   int64_t items, int64_t channels, float *row);
fire_status_t fire_gpu_pair_dx(fire_stream_t *s, const fire_gpu_pair_t *p,
                               const float *seed, float divisor, float *dx);

/* SigmoidCrossEntropyLoss of n elements in `items` items. *normalizer: what the loss
 * was divided by, kept for backward. */
typedef struct fire_gpu_sigmoid {
    fire_loss_t  rule;
    int64_t      items, n;
    const float *x, *target;
    /* weights; an element's class is its index / inner % classes */
    fire_weights_t weights;
    int64_t        inner, classes;
} fire_gpu_sigmoid_t;

fire_status_t fire_gpu_sigmoid_loss(fire_stream_t *s, const fire_gpu_sigmoid_t *g,
                                    float *normalizer, float *top);
fire_status_t fire_gpu_sigmoid_dx(fire_stream_t *s, const fire_gpu_sigmoid_t *g,
                                  const float *seed, const float *normalizer,
                                  float *dx);

/* HingeLoss and MultinomialLogisticLoss: x, p (items, classes), label (items). */
fire_status_t fire_gpu_hinge_loss(fire_stream_t *s, bool squared, int64_t items,
                                  int64_t classes, fire_weights_t weights,
                                  const float *x, const float *label, float *top);
fire_status_t fire_gpu_hinge_dx(fire_stream_t *s, bool squared, int64_t items,
                                int64_t classes, const float *seed, float divisor,
                                fire_weights_t weights, const float *x,
                                const float *label, float *dx);
fire_status_t fire_gpu_multinomial_loss(fire_stream_t *s, int64_t items,
                                        int64_t classes, fire_weights_t weights,
                                        const float *p, const float *label, float *top);
fire_status_t fire_gpu_multinomial_dx(fire_stream_t *s, int64_t items, int64_t classes,
                                      const float *seed, float divisor,
                                      fire_weights_t weights, const float *p,
                                      const float *label, float *dx);

/* InfogainLoss: x, prob (outer, classes, inner), label (outer, inner), h (classes,
 * classes). */
typedef struct fire_gpu_infogain {
    fire_loss_t    rule;
    int64_t        outer, classes, inner;
    const float   *h, *label;
    fire_weights_t weights;
} fire_gpu_infogain_t;

fire_status_t fire_gpu_infogain_loss(fire_stream_t *s, const fire_gpu_infogain_t *g,
                                     const float *x, float *prob, float *normalizer,
                                     float *top);
fire_status_t fire_gpu_infogain_dx(fire_stream_t *s, const fire_gpu_infogain_t *g,
                                   const float *seed, const float *prob,
                                   const float *normalizer, float *dx);

/* ContrastiveLoss: a, b (items, n), same (items). */
typedef struct fire_gpu_contrast {
    float        margin;
    bool         legacy;
    int64_t      items, n;
    const float *a, *b, *same;
} fire_gpu_contrast_t;

fire_status_t fire_gpu_contrast_loss(fire_stream_t *s, const fire_gpu_contrast_t *c,
                                     float *top);
/* Gradient of a; with a negative divisor, of b. */
fire_status_t fire_gpu_contrast_dx(fire_stream_t *s, const fire_gpu_contrast_t *c,
                                   const float *seed, float divisor, float *dx);
FIRE_END_C
#endif
