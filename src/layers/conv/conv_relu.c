/* conv_relu.c - the ReLU behind a convolution, for all CPU kernels that absorb it. */
#include "device/cpu/raw.h"
#include "layers/activation/relu.h"
#include "layers/conv/conv.h"

bool fire_conv_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    if (FIRE_STATE(l, fire_conv_t)->reverse || l->ntop != 1 ||
        fire_layer_follower(l, "ReLU") != NULL)
        return false;
    return fire_is_sign_relu(next) || fire_conv_folds_norm(l, next);
}

unsigned fire_conv_relu_backward_reads(const fire_layer_t *l)
{
    return FIRE_READS_BOTTOM | (l->fusion.nfollower > 0 ? FIRE_READS_TOP : 0);
}

bool fire_conv_has_relu(const fire_layer_t *l, float *slope_p)
{
    const fire_layer_t *relu = fire_layer_follower(l, "ReLU");

    if (relu != NULL) *slope_p = FIRE_STATE(relu, fire_relu_t)->slope;
    return relu != NULL;
}

fire_status_t fire_conv_relu_backward(fire_layer_t *l)
{
    fire_format_t f = fire_blob_format(l->top[0], FIRE_DATA);
    float         slope;
    void         *y, *dy;

    if (!fire_conv_has_relu(l, &slope)) return FIRE_OK;
    FIRE_IN_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_INOUT_AS(l->top[0], FIRE_DIFF, &f, &dy);
    fire_raw_relu_back(f.dtype, fire_blob_raw_count(l->top[0], &f), slope, y, dy, dy);
    return FIRE_OK;
}
