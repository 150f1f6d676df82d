/* lrn_within.cu - LRN within channels on the GPU, with `ref`'s windows, which count
 * padding as AVE pooling's do. Only float32 and NCHW, one element per thread and turn:
 * no large net uses it. */
#include "layers/layer_cuda.h"
#include "layers/lrn/lrn.h"

#include "device/cuda/launch.h"

/* Planes and window; passed to kernels by value. */
typedef struct region {
    int   height, width, size;
    float alpha, beta;
} region_t;

/* Mean over the window around (h, w) of value(place), which counts padding as zeros. */
template <typename F>
__device__ static inline float mean_around(const region_t &r, int h, int w, F value)
{
    int   pad = (r.size - 1) / 2, top = h - pad, left = w - pad;
    int   bottom = min(top + r.size, r.height + pad);
    int   right  = min(left + r.size, r.width + pad);
    float sum = 0, area = (float)((bottom - top) * (right - left));

    for (int y = max(top, 0); y < min(bottom, r.height); y++)
        for (int x = max(left, 0); x < min(right, r.width); x++)
            sum += value(y * r.width + x);
    return sum / area;
}

/* Number of places that mean_around() divides by. */
__device__ static inline float area_around(const region_t &r, int h, int w)
{
    int pad = (r.size - 1) / 2;

    return (float)((min(h - pad + r.size, r.height + pad) - (h - pad)) *
                   (min(w - pad + r.size, r.width + pad) - (w - pad)));
}

/* dy NULL: out = y. Else out = the gradient of each window's mean of squares. */
__global__ static void forward(int64_t n, region_t r, const float *x, const float *dy,
                               float *out)
{
    FIRE_GRID_STRIDE (i, n) {
        int          plane = r.height * r.width, at = (int)(i % plane);
        const float *p     = x + (i - at);
        float        scale = 1.0f + r.alpha * mean_around(r, at / r.width, at % r.width,
                                                          [=](int k) { return p[k] * p[k]; });
        float        power = powf(scale, -r.beta);

        out[i] = dy == NULL ? x[i] * power
                            : x[i] * dy[i] * (power / scale * -r.beta * r.alpha);
    }
}

__global__ static void backward(int64_t n, region_t r, const float *x, const float *dy,
                                const float *d_mean, float *dx)
{
    FIRE_GRID_STRIDE (i, n) {
        int          plane = r.height * r.width, at = (int)(i % plane);
        int          h = at / r.width, w = at % r.width, pad = (r.size - 1) / 2;
        const float *p = x + (i - at), *d = d_mean + (i - at);
        float        scale =
            1.0f + r.alpha * mean_around(r, h, w, [=](int k) { return p[k] * p[k]; });
        float sum = 0;

        /* The windows that hold this element are those around its neighbours. */
        for (int y = max(h - pad, 0); y <= min(h + pad, r.height - 1); y++)
            for (int v = max(w - pad, 0); v <= min(w + pad, r.width - 1); v++)
                sum += d[y * r.width + v] / area_around(r, y, v);
        dx[i] = powf(scale, -r.beta) * dy[i] + sum * 2.0f * x[i];
    }
}

static region_t region_of(const fire_layer_t *l)
{
    const fire_lrn_t *s = (const fire_lrn_t *)l->state;

    return region_t{(int)l->bottom[0]->dim[2], (int)l->bottom[0]->dim[3], (int)s->size,
                    s->alpha, s->beta};
}

static const char *lrn_within_cuda_declines(const fire_layer_t *l)
{
    return ((const fire_lrn_t *)l->state)->within ? NULL
                                                  : "normalises within channels only";
}

static fire_status_t lrn_within_cuda_forward(fire_layer_t *l)
{
    int64_t      n = fire_blob_count(l->bottom[0]);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    return FIRE_LAUNCH(l->ctx->stream, n, forward, n, region_of(l), x, NULL, y);
}

static fire_status_t lrn_within_cuda_backward(fire_layer_t *l)
{
    int64_t      n = fire_blob_count(l->bottom[0]);
    const float *x, *dy;
    float       *dx;
    void        *d_mean;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_TRY(fire_cuda_scratch(l->ctx->stream, (size_t)n * sizeof(float), &d_mean));
    FIRE_TRY(FIRE_LAUNCH(l->ctx->stream, n, forward, n, region_of(l), x, dy,
                         (float *)d_mean));
    return FIRE_LAUNCH(l->ctx->stream, n, backward, n, region_of(l), x, dy,
                       (const float *)d_mean, dx);
}

extern "C" const fire_kernel_t fire_lrn_within_cuda = {"cuda",
                                                       FIRE_GPU,
                                                       lrn_within_cuda_forward,
                                                       lrn_within_cuda_backward,
                                                       lrn_within_cuda_declines,
                                                       NULL,
                                                       NULL,
                                                       &fire_fusion_reads_bottom};
