/* bn.c - BN, the batch normalisation that forks had before BatchNorm, of two kinds.
 *
 *     bottom, top 0: (N, C, ...)
 *     blob 0: (1, C, 1, 1) gain, 1: shift
 *     blob 2: (1, C, 1, 1) running mean, 3: running variance    see bn.h
 *
 * With scale_filler, shift_filler or bn_mode it is that of SegNet and ENet, which has
 * blobs 0 and 1 only: LEARN normalises with the batch's statistics, also in TEST, and
 * gives them as tops 1 and 2 (1, C, 1, 1); INFERENCE is y = gain * x + shift, for gains
 * and shifts into which the statistics were folded. */
#include "layers/norm/bn.h"

#define SEGNET_EPS 1e-9f

static fire_status_t check_bottom(const fire_layer_t *l)
{
    if (l->bottom[0]->ndim < 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have at least 2 axes (num, channels)");
    return FIRE_OK;
}

/* Add a blob (1, C, 1, 1). */
static fire_status_t add_blob(fire_layer_t *l, const Caffe__FillerParameter *filler)
{
    return fire_layer_add_blob(l, 4, (int64_t[]){1, l->bottom[0]->dim[1], 1, 1},
                               filler);
}

/* What both kinds have: gain and shift. */
static fire_status_t begin(fire_layer_t *l, float eps,
                           const Caffe__FillerParameter *gain,
                           const Caffe__FillerParameter *shift)
{
    fire_batch_norm_t *s = FIRE_STATE(l, fire_batch_norm_t);

    FIRE_TRY(check_bottom(l));
    s->eps      = eps;
    s->view.dim = l->bottom[0]->dim[1];
    s->at       = (fire_batch_norm_blobs_t){-1, -1, -1, 0, 1};
    FIRE_TRY(add_blob(l, gain));
    return add_blob(l, shift);
}

fire_status_t fire_bn_setup(fire_layer_t *l, const fire_bn_settings_t *p)
{
    fire_batch_norm_t     *s    = FIRE_STATE(l, fire_batch_norm_t);
    Caffe__FillerParameter ones = CAFFE__FILLER_PARAMETER__INIT;

    if (!(p->momentum >= 0.0f && p->momentum <= 1.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "momentum %g is out of the range 0 to 1",
                         (double)p->momentum);
    FIRE_TRY(begin(l, p->eps, p->gain, p->shift));
    ones.value    = 1.0f;
    s->use_global = p->frozen || l->phase == CAFFE__PHASE__TEST;
    s->share      = 1.0f - p->momentum;
    s->at         = (fire_batch_norm_blobs_t){2, 3, -1, 0, 1};
    l->frozen     = p->frozen;
    l->stat_decay = p->momentum;

    l->first_statistic = 2;
    l->nstatistic      = 2;
    FIRE_TRY(add_blob(l, NULL));
    return add_blob(l, p->frozen ? &ones : NULL);
}

static fire_status_t setup_segnet(fire_layer_t *l, const Caffe__BNParameter *p)
{
    bool inference = p->bn_mode == CAFFE__BNPARAMETER__BNMODE__INFERENCE;

    FIRE_TRY(begin(l, inference ? 0.0f : SEGNET_EPS, p->scale_filler, p->shift_filler));
    FIRE_STATE(l, fire_batch_norm_t)->use_global = inference;
    return FIRE_OK;
}

static bool is_segnet(const Caffe__BNParameter *p)
{
    return p->scale_filler != NULL || p->shift_filler != NULL || p->has_bn_mode;
}

static fire_status_t bn_setup(fire_layer_t *l)
{
    const Caffe__BNParameter *p = FIRE_PARAM(l, bn_param, CAFFE__BNPARAMETER__INIT);
    fire_bn_settings_t settings = {p->slope_filler, p->bias_filler, p->momentum, p->eps,
                                   p->frozen};

    if (!is_segnet(p)) return fire_bn_setup(l, &settings);
    if (p->slope_filler != NULL || p->bias_filler != NULL || p->has_momentum ||
        p->has_frozen)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "bn_param mixes SegNet's fields (scale_filler, shift_filler, "
                         "bn_mode) with PSPNet's (slope_filler, bias_filler, momentum, "
                         "frozen): which BN is meant?");
    return setup_segnet(l, p);
}

static fire_status_t bn_reshape(fire_layer_t *l)
{
    int64_t channels = FIRE_STATE(l, fire_batch_norm_t)->view.dim;

    FIRE_TRY(fire_batch_norm_reshape(l));
    for (int i = 1; i < l->ntop; i++)
        FIRE_TRY(fire_blob_reshape(l->top[i], 4, (int64_t[]){1, channels, 1, 1}));
    return FIRE_OK;
}

const fire_layer_ops_t fire_layer_bn = {
    .type       = "BN",
    .bottoms    = {1, 1},
    .tops       = {1, 3},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_batch_norm_t),
    .setup      = bn_setup,
    .reshape    = bn_reshape,
    .kernels    = fire_batch_norm_kernels,
};
