/* pair_loss.h - what EuclideanLoss, L1Loss and SmoothL1Loss share: loss = sum f(a - b)
 * / N over two bottoms of the same shape. Both bottoms have a gradient.
 * SmoothL1LossOHEM divides by another number. */
#ifndef FIRE_LAYERS_LOSS_PAIR_LOSS_H
#define FIRE_LAYERS_LOSS_PAIR_LOSS_H
#include "device/cpu/blas.h"
#include "layers/loss/losses.h"

/* The function f of a layer. */
typedef struct fire_pair_rule {
    fire_gpu_pair_kind_t kind;
    float                scale; /* factor of the sum, on a GPU */
    /* CPU: store the differences for backward and return the scaled sum. */
    float (*sum)(const fire_gpu_pair_t *p, float *diff);
    /* dx = weight * f'(difference), for each element. */
    void (*slope)(const fire_gpu_pair_t *p, const float *diff, float weight, float *dx);
} fire_pair_rule_t;

/* The state of such a layer; its setup sets `rule`. */
typedef struct fire_pair_loss {
    const fire_pair_rule_t *rule;
    float                   sigma2;  /* sigma^2 of SmoothL1Loss */
    float                   divisor; /* of the sum; reshape sets it to N */
    fire_scratch_t          diff;    /* the differences of the last forward */
} fire_pair_loss_t;

fire_status_t fire_pair_loss_reshape(fire_layer_t *l);
void          fire_pair_loss_teardown(fire_layer_t *l);

extern const fire_kernel_t *const fire_pair_loss_kernels[];
extern const fire_pair_rule_t     fire_smooth_l1_rule;

/* Reshape of a loss with one weight or two for each prediction, in bottoms 2 and 3. */
fire_status_t fire_smooth_l1_reshape(fire_layer_t *l);
#endif
