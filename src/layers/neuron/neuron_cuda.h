/* neuron_cuda.h - element-wise layers on the GPU: the loop around one function of one
 * element, as neuron.h has it for the CPU. Arrays are in the number format of the blob;
 * the function computes in float32.
 *
 * A layer's .cu file gives its functions as template arguments, so each loop is compiled
 * with the formula inlined: fire_neuron_cuda_forward<fire_relu_t, fire_relu_y>(l). S is
 * the type of the layer's settings, of which every launch gets a copy. */
#ifndef FIRE_LAYERS_NEURON_NEURON_CUDA_H
#define FIRE_LAYERS_NEURON_NEURON_CUDA_H
#include "device/cuda/kernel/map.h"
#include "layers/layer_cuda.h"
#include "layers/neuron/neuron.h"

/* S of a layer without settings. */
struct fire_no_settings {
};

template <typename S, fire_neuron_y_t *formula> struct fire_neuron_y_of {
    S                settings;
    __device__ float operator()(float x) const
    {
        return formula(&settings, x);
    }
};

template <typename S, fire_neuron_dx_t *formula> struct fire_neuron_dx_of {
    S                settings;
    __device__ float operator()(float x, float y, float dy) const
    {
        return formula(&settings, x, y, dy);
    }
};

template <typename S> static S fire_neuron_settings(const fire_layer_t *l)
{
    return l->state != NULL ? *(const S *)l->state : S();
}

template <typename S, fire_neuron_y_t *formula>
static fire_status_t fire_neuron_cuda_forward(fire_layer_t *l)
{
    fire_format_t                f = fire_gpu_format_of(l->bottom[0], FIRE_DATA);
    int64_t                      n = fire_blob_count(l->top[0]);
    fire_neuron_y_of<S, formula> y_of_x{fire_neuron_settings<S>(l)};
    const void                  *x;
    void                        *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_WITH_TYPE(f.dtype, T,
                   return fire_map(l->ctx->stream, n, y_of_x, (T *)y, (const T *)x))
    return FIRE_OK;
}

/* x_blob: the bottom, or the copy that forward kept of it. */
template <typename S, fire_neuron_dx_t *formula>
static fire_status_t fire_neuron_cuda_backward(fire_layer_t *l, fire_blob_t *x_blob)
{
    fire_format_t                 f = fire_gpu_format_of(l->top[0], FIRE_DIFF);
    int64_t                       n = fire_blob_count(l->top[0]);
    fire_neuron_dx_of<S, formula> dx_of_x{fire_neuron_settings<S>(l)};
    const void                   *x, *y, *dy;
    void                         *dx;

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
#endif
