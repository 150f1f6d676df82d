/* softmax.cu - Softmax on the GPU. */
#include "layers/common/softmax_cuda.h"

static fire_status_t softmax_cuda_forward(fire_layer_t *l)
{
    const fire_softmax_t *m = (const fire_softmax_t *)l->state;
    fire_format_t         f = fire_softmax_format(l);
    void                 *x, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_WITH_TYPE(f.dtype, T,
                   return fire_softmax_run(l->ctx->stream, fire_softmax_view(m),
                                           (const T *)x, (T *)y,
                                           fire_softmax_targets_t{}))
    return FIRE_OK;
}

/* dx = (dy - sum(dy * y)) * y */
template <typename T>
__global__ static void softmax_back(fire_softmax_view_t v, const T *y, const T *dy,
                                    T *dx)
{
    FIRE_GRID_STRIDE (warp, v.outer * v.inner * 32) {
        int64_t i = warp / 32, at = i / v.inner * v.classes * v.inner + i % v.inner;
        float   dot = 0;

        for (int c = (int)(warp % 32); c < v.classes; c += 32)
            dot += (float)dy[at + c * v.inner] * (float)y[at + c * v.inner];
        dot = fire_reduce<32, fire_plus>(dot);
        for (int c = (int)(warp % 32); c < v.classes; c += 32) {
            int64_t k = at + c * v.inner;

            dx[k] = (T)(((float)dy[k] - dot) * (float)y[k]);
        }
    }
}

static fire_status_t softmax_cuda_backward(fire_layer_t *l)
{
    const fire_softmax_t *m = (const fire_softmax_t *)l->state;
    fire_format_t         f = fire_softmax_format(l);
    int64_t               n = m->outer * m->inner * 32;
    void                 *y, *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_WITH_TYPE(f.dtype, T,
                   return FIRE_LAUNCH(l->ctx->stream, n, softmax_back<T>,
                                      fire_softmax_view(m), (const T *)y, (const T *)dy,
                                      (T *)dx))
    return FIRE_OK;
}

extern "C" const fire_kernel_t fire_softmax_cuda = {
    "cuda", FIRE_GPU, softmax_cuda_forward,  softmax_cuda_backward, NULL,
    NULL,   NULL,     &fire_fusion_reads_top};
