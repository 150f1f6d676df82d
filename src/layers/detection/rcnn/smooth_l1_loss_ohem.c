/* smooth_l1_loss_ohem.c - SmoothL1LossOHEM of R-FCN (Dai and others, 2016): SmoothL1Loss
 * with sigma 1 that also says what each region adds, for the choice of hard examples.
 *
 *   bottom 0, 1: (N, C, H, W) a and b, of the same shape; both have a gradient
 *   bottom 2:    (N, C, H, W) weights (optional, else 1): f(w (a - b))
 *   top 0:       () loss, divided as loss_param says; by default by N H W
 *   top 1:       (N, 1, H, W) (optional) sums over the channels, undivided */
#include "layers/loss/pair_loss.h"

static fire_status_t ohem_setup(fire_layer_t *l)
{
    fire_pair_loss_t *s = l->state;

    s->rule   = &fire_smooth_l1_rule;
    s->sigma2 = 1.0f;
    return FIRE_OK;
}

static fire_status_t ohem_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];
    fire_pair_loss_t  *s = l->state;
    int64_t            outer, inner;
    fire_loss_t        loss = {0};

    FIRE_TRY(fire_smooth_l1_reshape(l));
    if (x->ndim < 2 || x->ndim > 4)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the first bottom must have 2 to 4 axes (num, channels, height, "
            "width), it has %d",
            x->ndim);
    outer = x->dim[0];
    inner = fire_blob_count_range(x, 2, x->ndim);
    fire_loss_init(&loss, l->param->loss_param,
                   CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID);
    s->divisor = fire_loss_normalizer(&loss, outer, inner, outer * inner);
    if (l->ntop < 2) return FIRE_OK;
    return fire_blob_reshape(l->top[1], 4,
                             (int64_t[]){outer, 1, x->ndim > 2 ? x->dim[2] : 1,
                                         x->ndim > 3 ? x->dim[3] : 1});
}

const fire_layer_ops_t fire_layer_smooth_l1_loss_ohem = {
    .type        = "SmoothL1LossOHEM",
    .bottoms     = {2, 3},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 1 << 2,
    .state_size  = sizeof(fire_pair_loss_t),
    .setup       = ohem_setup,
    .reshape     = ohem_reshape,
    .teardown    = fire_pair_loss_teardown,
    .kernels     = fire_pair_loss_kernels,
};
