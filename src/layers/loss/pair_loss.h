/* pair_loss.h - losses that compare two bottoms element by element: sum f(a - b) / N.
 * Both take a gradient. */
#ifndef FIRE_LAYERS_LOSS_PAIR_LOSS_H
#define FIRE_LAYERS_LOSS_PAIR_LOSS_H
#include "device/cpu/blas.h"
#include "layers/loss/losses.h"

/* What tells one from another. */
typedef struct fire_pair_rule {
    fire_gpu_pair_kind_t kind;
    float                scale; /* of the sum, on a GPU */
    /* On a CPU: keep the differences for backward, return the sum, scaled. */
    float (*sum)(const fire_gpu_pair_t *p, float *diff);
    /* dx = weight times the slope of f at each difference. */
    void (*slope)(const fire_gpu_pair_t *p, const float *diff, float weight, float *dx);
} fire_pair_rule_t;

/* State of such a layer; its setup sets the rule. */
typedef struct fire_pair_loss {
    const fire_pair_rule_t *rule;
    float                   sigma2; /* SmoothL1Loss */
    fire_scratch_t          diff;
} fire_pair_loss_t;

fire_status_t fire_pair_loss_reshape(fire_layer_t *l);
void          fire_pair_loss_teardown(fire_layer_t *l);

extern const fire_kernel_t *const fire_pair_loss_kernels[];
#endif
