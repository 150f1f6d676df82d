/* neuron.cu - element-wise layers on the GPU: the formulas of formulas.h, in float32
 * whatever the number format of the blobs. */
#include "layers/kernels.h"
#include "layers/layer_cuda.h"
#include "device/cuda/kernel/map.h"
#include "layers/neuron/formulas.h"

template <typename S, fire_neuron_y_t *formula> struct y_of {
    S                state;
    __device__ float operator()(float x) const
    {
        return formula(&state, x);
    }
};

template <typename S, fire_neuron_dx_t *formula> struct dx_of {
    S                state;
    __device__ float operator()(float x, float y, float dy) const
    {
        return formula(&state, x, y, dy);
    }
};

template <typename S> static S state_of(const fire_layer_t *l)
{
    return l->state != NULL ? *(const S *)l->state : S();
}

template <typename S, fire_neuron_y_t *formula>
static fire_status_t forward(fire_layer_t *l)
{
    fire_format_t    f = fire_gpu_format_of(l->bottom[0], FIRE_DATA);
    int64_t          n = fire_blob_count(l->top[0]);
    y_of<S, formula> y_of_x{state_of<S>(l)};
    const void      *x;
    void            *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_WITH_TYPE(f.dtype, T,
                   return fire_map(l->ctx->stream, n, y_of_x, (T *)y, (const T *)x))
    return FIRE_OK;
}

/* x_blob: the bottom, or what was kept of it. */
template <typename S, fire_neuron_dx_t *formula>
static fire_status_t backward(fire_layer_t *l, fire_blob_t *x_blob)
{
    fire_format_t     f = fire_gpu_format_of(l->top[0], FIRE_DIFF);
    int64_t           n = fire_blob_count(l->top[0]);
    dx_of<S, formula> dx_of_x{state_of<S>(l)};
    const void       *x, *y, *dy;
    void             *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(x_blob, FIRE_DATA, &f, &x);
    FIRE_IN_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_WITH_TYPE(f.dtype, T,
                   return fire_map(l->ctx->stream, n, dx_of_x, (T *)dx, (const T *)x,
                                   (const T *)y, (const T *)dy))
    return FIRE_OK;
}

struct nothing {
};

/* A layer whose gradient finds all it needs in y. */
#define FROM_Y(noun, S)                                        \
    fire_status_t fire_##noun##_cuda_forward(fire_layer_t *l)  \
    {                                                          \
        return forward<S, fire_##noun##_y>(l);                 \
    }                                                          \
    fire_status_t fire_##noun##_cuda_backward(fire_layer_t *l) \
    {                                                          \
        return backward<S, fire_##noun##_dx>(l, l->bottom[0]); \
    }

/* A layer whose gradient needs x itself if `keep` says so. */
#define FROM_X(noun, S, keep)                                                   \
    fire_status_t fire_##noun##_cuda_forward(fire_layer_t *l)                   \
    {                                                                           \
        S *s = (S *)l->state;                                                   \
                                                                                \
        if (keep) FIRE_TRY(fire_kept_save(&s->kept, l));                        \
        return forward<S, fire_##noun##_y>(l);                                  \
    }                                                                           \
    fire_status_t fire_##noun##_cuda_backward(fire_layer_t *l)                  \
    {                                                                           \
        S *s = (S *)l->state;                                                   \
                                                                                \
        return backward<S, fire_##noun##_dx>(l, fire_kept_bottom(&s->kept, l)); \
    }

FROM_Y(relu6, nothing)
FROM_Y(sigmoid, nothing)
FROM_Y(tanh, nothing)
FROM_Y(exp, fire_exp_t)
FROM_X(relu, fire_relu_t, s->slope < 0)
FROM_X(elu, fire_elu_t, s->alpha < 0)
FROM_X(bnll, fire_bnll_t, true)
FROM_X(absval, fire_absval_t, true)
FROM_X(power, fire_power_t, s->power != 1.0f)
FROM_X(log, fire_log_t, true)
FROM_X(clip, fire_clip_t, true)
FROM_X(swish, fire_swish_t, true)

fire_status_t fire_threshold_cuda_forward(fire_layer_t *l)
{
    return forward<fire_threshold_t, fire_threshold_y>(l);
}
