/* align.cu - GPU kernels of align.h. The gradient of the map has a thread per place that
 * sums over all points near it in a fixed order, so no atomic additions are needed. */
#include "layers/vision/align.h"

#include "device/cuda/kernel/each.h"

/* The image of a region; -1: there is none. */
__device__ static int64_t image_of(const fire_align_t &a, int64_t region)
{
    float image;

    if (a.roi == NULL) return region;
    image = a.roi[region * FIRE_ROI_ROW];
    return image >= 0.0f && image < (float)a.in[0] ? (int64_t)image : -1;
}

/* A thread per element of the result. */
fire_status_t fire_gpu_align(fire_stream_t *s, const fire_align_t *align,
                             const float *x, float *y)
{
    fire_align_t a    = *align;
    int64_t      bins = a.out[2] * a.out[3], plane = a.in[2] * a.in[3];

    return fire_each(s, a.out[0] * a.out[1] * bins, [=] __device__(int64_t at) {
        int64_t        region = at / (a.out[1] * bins), channel = at / bins % a.out[1];
        int64_t        image = image_of(a, region);
        fire_lattice_t t     = fire_align_lattice(&a, region);
        const float   *map   = x + (image * a.in[1] + channel) * plane;
        int64_t        count = t.points[0] * t.points[1];
        float          sum   = 0;

        for (int64_t i = 0; i < t.points[0] && image >= 0; i++) {
            fire_mix_t h = fire_align_point(&a, &t, 0, at / a.out[3] % a.out[2], i);

            for (int64_t j = 0; j < t.points[1]; j++) {
                fire_mix_t w = fire_align_point(&a, &t, 1, at % a.out[3], j);

                sum += fire_align_value(&h, &w, a.in[3], map);
            }
        }
        y[at] = image < 0 ? nanf("") : count > 0 ? sum / (float)count : 0.0f;
    });
}

/* What a row of bins gives to place w, each point with its share. */
__device__ static float row_gradient(const fire_align_t &a, const fire_lattice_t &t,
                                     int64_t w, const float *dy)
{
    float sum = 0;

    for (int64_t bin = 0; bin < a.out[3]; bin++)
        for (int64_t j = 0; j < t.points[1]; j++) {
            fire_mix_t m = fire_align_point(&a, &t, 1, bin, j);

            sum += fire_mix_share(&m, w) * dy[bin];
        }
    return sum;
}

fire_status_t fire_gpu_align_back(fire_stream_t *s, const fire_align_t *align,
                                  const float *dy, float *dx)
{
    fire_align_t a    = *align;
    int64_t      bins = a.out[2] * a.out[3], plane = a.in[2] * a.in[3];

    return fire_each(s, a.in[0] * a.in[1] * plane, [=] __device__(int64_t at) {
        int64_t image = at / plane / a.in[1], channel = at / plane % a.in[1];
        int64_t h = at % plane / a.in[3], w = at % a.in[3];
        float   sum = 0;

        for (int64_t r = 0; r < a.out[0]; r++) {
            fire_lattice_t t    = fire_align_lattice(&a, r);
            const float   *from = dy + (r * a.out[1] + channel) * bins;
            float          part = 0;

            if (image_of(a, r) != image) continue;
            for (int64_t bin = 0; bin < a.out[2]; bin++, from += a.out[3])
                for (int64_t i = 0; i < t.points[0]; i++) {
                    fire_mix_t m     = fire_align_point(&a, &t, 0, bin, i);
                    float      share = fire_mix_share(&m, h);

                    if (share != 0.0f) part += share * row_gradient(a, t, w, from);
                }
            if (part != 0.0f) sum += part / (float)(t.points[0] * t.points[1]);
        }
        dx[at] = sum;
    });
}

/* A thread per region and axis; only WARP, which has one point to a bin. */
fire_status_t fire_gpu_align_back_roi(fire_stream_t *s, const fire_align_t *align,
                                      const float *x, const float *dy, float *droi)
{
    fire_align_t a    = *align;
    int64_t      bins = a.out[2] * a.out[3], plane = a.in[2] * a.in[3];

    return fire_each(s, a.out[0] * 2, [=] __device__(int64_t k) {
        int64_t        r = k / 2, axis = k % 2, image = image_of(a, r);
        fire_lattice_t t      = fire_align_lattice(&a, r);
        float         *to     = droi + r * FIRE_ROI_ROW;
        float          end[2] = {0, 0}, slope[2];

        for (int64_t at = 0; at < a.out[1] * bins && image >= 0; at++) {
            int64_t    bin[2] = {at / a.out[3] % a.out[2], at % a.out[3]};
            fire_mix_t h      = fire_align_point(&a, &t, 0, bin[0], 0);
            fire_mix_t w      = fire_align_point(&a, &t, 1, bin[1], 0);
            float      far    = (float)bin[axis] / (float)a.out[2 + axis];
            float      d      = a.scale * dy[r * a.out[1] * bins + at];

            fire_align_slope(&h, &w, a.in[3], x + (image * a.in[1] + at / bins) * plane,
                             slope);
            end[0] += (1.0f - far) * slope[axis] * d;
            end[1] += far * slope[axis] * d;
        }
        if (axis == 0) to[0] = 0;
        to[2 - axis] = end[0];
        to[4 - axis] = end[1];
    });
}
