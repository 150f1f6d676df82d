/* epilogue_cuda.c - bias and ReLU after a matrix product, forward and backward. */
#include "device/cuda/kernel/channel_sum.h"
#include "layers/epilogue.h"
#include "layers/activation/relu.h"

bool fire_gpu_epilogue_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return l->fusion.nfollower == 0 && l->ntop == 1 && fire_is_plain_relu(next);
}

unsigned fire_gpu_epilogue_backward_reads(const fire_layer_t *l)
{
    return FIRE_READS_BOTTOM | (l->fusion.nfollower > 0 ? FIRE_READS_TOP : 0);
}

fire_status_t fire_gpu_epilogue_forward(fire_layer_t *l, fire_gpu_view_t view,
                                        fire_dtype_t dtype, const float *bias, void *y)
{
    if (l->fusion.nfollower > 0)
        return fire_gpu_channel_relu(l->ctx->stream, view, dtype, y, bias, y);
    if (bias == NULL) return FIRE_OK;
    return fire_gpu_channel_add(l->ctx->stream, view, dtype, y, bias, y);
}

fire_status_t fire_gpu_epilogue_backward(fire_layer_t *l, int k, fire_gpu_view_t view,
                                         const fire_format_t *f, bool has_bias,
                                         void **dy_p)
{
    bool   wanted = has_bias && l->param_gradient[1], add = false;
    float *diff = NULL;
    void  *y;

    if (wanted) FIRE_TRY(fire_gpu_gradient(l->blob[1], &add, &diff));
    if (l->fusion.nfollower == 0) {
        FIRE_IN_AS(l->top[k], FIRE_DIFF, f, dy_p);
        return wanted ? fire_gpu_channel_sum(l->ctx->stream, view, f->dtype, *dy_p, add,
                                             diff)
                      : FIRE_OK;
    }
    FIRE_IN_AS(l->top[k], FIRE_DATA, f, &y);
    FIRE_INOUT_AS(l->top[k], FIRE_DIFF, f, dy_p);
    return fire_gpu_channel_relu_back(l->ctx->stream, view, f->dtype, y, *dy_p, add,
                                      diff);
}
