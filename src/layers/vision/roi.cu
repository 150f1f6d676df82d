/* roi.cu - GPU kernels of ROIPooling and PSROIPooling. Backward has a thread per
 * element of the map that sums over all bins in a fixed order, so no atomic additions
 * are needed. */
#include "layers/vision/roi_cuda.h"

#include <float.h>

#include "device/cuda/kernel/each.h"

/* The image of region n; -1: there is none. */
__device__ static int64_t image_of(const fire_gpu_roi_t &r, int64_t n)
{
    float image = r.roi[n * FIRE_ROI_ROW];

    return image >= 0.0f && image < (float)r.in[0] ? (int64_t)image : -1;
}

__device__ static bool is_empty(const fire_roi_box_t &b)
{
    return b.end[0] <= b.begin[0] || b.end[1] <= b.begin[1];
}

/* Is place `at` inside of the bin, along one axis? */
__device__ static bool holds(const fire_roi_box_t &b, int axis, int64_t at)
{
    return at >= b.begin[axis] && at < b.end[axis];
}

/* The places of a bin of region n, for ROIPooling; mean_box() for PSROIPooling. */
__device__ static fire_roi_box_t max_box(const fire_gpu_roi_t &r, int64_t n,
                                         int64_t row, int64_t column)
{
    fire_roi_t region =
        fire_roi_max_region(r.scale, r.pad, r.out + 2, r.roi + n * FIRE_ROI_ROW);

    return fire_roi_box(&region, false, row, column, r.in + 2);
}

__device__ static fire_roi_box_t mean_box(const fire_gpu_roi_t &r, int64_t n,
                                          int64_t row, int64_t column)
{
    fire_roi_t region =
        fire_roi_mean_region(r.scale, r.out[2], r.roi + n * FIRE_ROI_ROW);

    return fire_roi_box(&region, true, row, column, r.in + 2);
}

/* The indices of an output element. */
struct bin {
    int64_t region, channel, row, column;
};

__device__ static bin bin_of(const fire_gpu_roi_t &r, int64_t i)
{
    return {i / (r.out[1] * r.out[2] * r.out[3]), i / (r.out[2] * r.out[3]) % r.out[1],
            i / r.out[3] % r.out[2], i % r.out[3]};
}

/* A thread per bin. */
fire_status_t fire_gpu_roi_max(fire_stream_t *s, const fire_gpu_roi_t *roi,
                               const float *x, float *y, int32_t *index)
{
    fire_gpu_roi_t r = *roi;

    return fire_each(
        s, r.out[0] * r.out[1] * r.out[2] * r.out[3], [=] __device__(int64_t i) {
            bin            o     = bin_of(r, i);
            int64_t        image = image_of(r, o.region);
            fire_roi_box_t b     = max_box(r, o.region, o.row, o.column);
            const float *plane = x + (image * r.in[1] + o.channel) * r.in[2] * r.in[3];
            float        best  = is_empty(b) ? 0.0f : -FLT_MAX;
            int32_t      from  = -1;

            for (int64_t h = b.begin[0]; h < b.end[0] && image >= 0; h++)
                for (int64_t w = b.begin[1]; w < b.end[1]; w++)
                    if (plane[h * r.in[3] + w] > best) {
                        best = plane[h * r.in[3] + w];
                        from = (int32_t)(h * r.in[3] + w);
                    }
            y[i]     = image < 0 ? nanf("") : best;
            index[i] = from;
        });
}

/* dx of a place is the sum over all bins whose maximum was there, in order. */
fire_status_t fire_gpu_roi_max_back(fire_stream_t *s, const fire_gpu_roi_t *roi,
                                    const int32_t *index, const float *dy, float *dx)
{
    fire_gpu_roi_t r     = *roi;
    int64_t        plane = r.in[2] * r.in[3], bins = r.out[2] * r.out[3];

    return fire_each(s, r.in[0] * r.in[1] * plane, [=] __device__(int64_t i) {
        int64_t image = i / plane / r.in[1], channel = i / plane % r.in[1];
        int64_t at  = i % plane;
        float   sum = 0;

        for (int64_t n = 0; n < r.out[0]; n++) {
            int64_t first = (n * r.out[1] + channel) * bins;

            if (image_of(r, n) != image) continue;
            for (int64_t k = 0; k < bins; k++)
                if (index[first + k] == at) sum += dy[first + k];
        }
        dx[i] = sum;
    });
}

/* A thread per bin. */
fire_status_t fire_gpu_roi_mean(fire_stream_t *s, const fire_gpu_roi_t *roi,
                                const float *x, float *y)
{
    fire_gpu_roi_t r    = *roi;
    int64_t        bins = r.out[2] * r.out[3];

    return fire_each(s, r.out[0] * r.out[1] * bins, [=] __device__(int64_t i) {
        bin            o     = bin_of(r, i);
        int64_t        image = image_of(r, o.region), channel = i % (r.out[1] * bins);
        fire_roi_box_t b     = mean_box(r, o.region, o.row, o.column);
        int64_t        area  = (b.end[0] - b.begin[0]) * (b.end[1] - b.begin[1]);
        const float   *plane = x + (image * r.in[1] + channel) * r.in[2] * r.in[3];
        float          sum   = 0;

        for (int64_t h = b.begin[0]; h < b.end[0] && image >= 0; h++)
            for (int64_t w = b.begin[1]; w < b.end[1]; w++)
                sum += plane[h * r.in[3] + w];
        y[i] = image < 0 ? nanf("") : is_empty(b) ? 0.0f : sum / (float)area;
    });
}

/* A channel of the map belongs to exactly one bin of every region. */
fire_status_t fire_gpu_roi_mean_back(fire_stream_t *s, const fire_gpu_roi_t *roi,
                                     const float *dy, float *dx)
{
    fire_gpu_roi_t r     = *roi;
    int64_t        plane = r.in[2] * r.in[3], bins = r.out[2] * r.out[3];

    return fire_each(s, r.in[0] * r.in[1] * plane, [=] __device__(int64_t i) {
        int64_t image = i / plane / r.in[1], channel = i / plane % r.in[1];
        int64_t h = i % plane / r.in[3], w = i % r.in[3];
        float   sum = 0;

        for (int64_t n = 0; n < r.out[0]; n++) {
            fire_roi_box_t b =
                mean_box(r, n, channel % bins / r.out[3], channel % r.out[3]);
            int64_t area = (b.end[0] - b.begin[0]) * (b.end[1] - b.begin[1]);

            if (image_of(r, n) == image && holds(b, 0, h) && holds(b, 1, w))
                sum += dy[n * r.out[1] * bins + channel] / (float)area;
        }
        dx[i] = sum;
    });
}
