/* resize.cu - GPU kernels of resize.h. Backward kernels have a thread per input element
 * that sums over the outputs it contributed to, in a fixed order: no atomic additions,
 * so results are the same in every run. */
#include "layers/vision/resize.h"

#include <float.h>
#include <limits.h>

#include "device/cuda/kernel/each.h"

/* ---- bilinear ---- */

/* A thread per output element. */
fire_status_t fire_gpu_interp(fire_stream_t *s, const fire_interp_t *interp,
                              int64_t planes, const int64_t *in, const float *x,
                              float *y)
{
    fire_interp_t p     = *interp;
    int64_t       plane = in[0] * in[1], width = in[1], out = p.out[0] * p.out[1];

    return fire_each(s, planes * out, [=] __device__(int64_t i) {
        fire_mix_t   h    = fire_interp_mix(&p, 0, i % out / p.out[1]);
        fire_mix_t   w    = fire_interp_mix(&p, 1, i % p.out[1]);
        const float *low  = x + i / out * plane + h.low * width;
        const float *high = x + i / out * plane + h.high * width;

        y[i] = h.w_low * (w.w_low * low[w.low] + w.w_high * low[w.high]) +
               h.w_high * (w.w_low * high[w.low] + w.w_high * high[w.high]);
    });
}

/* A range of results along one axis that includes all which used place `at`; their mix
 * tells which did. */
struct users {
    int64_t first, end;
};

__device__ static users users_of(const fire_interp_t &p, int axis, int64_t at)
{
    float ratio = fire_interp_ratio(&p, axis);
    float place = (float)(at - p.skip);
    users u     = {0, p.out[axis]};

    if (ratio == 0.0f) return u;
    u.first = max(u.first, (int64_t)((place - 1.0f) / ratio) - 1);
    u.end   = min(u.end, (int64_t)((place + 1.0f) / ratio) + 2);
    return u;
}

/* The weight of place `at` in a mix. */
__device__ static float share_of(const fire_mix_t &m, int64_t at)
{
    return (m.low == at ? m.w_low : 0.0f) + (m.high == at ? m.w_high : 0.0f);
}

/* A thread per input element sums over the outputs that used it. */
fire_status_t fire_gpu_interp_back(fire_stream_t *s, const fire_interp_t *interp,
                                   int64_t planes, const int64_t *in, const float *dy,
                                   float *dx)
{
    fire_interp_t p     = *interp;
    int64_t       plane = in[0] * in[1], width = in[1], out = p.out[0] * p.out[1];

    return fire_each(s, planes * plane, [=] __device__(int64_t i) {
        int64_t      h = i % plane / width, w = i % width;
        users        rows = users_of(p, 0, h), columns = users_of(p, 1, w);
        const float *from = dy + i / plane * out;
        float        sum  = 0;

        for (int64_t r = rows.first; r < rows.end; r++) {
            float share = share_of(fire_interp_mix(&p, 0, r), h);

            for (int64_t c = columns.first; c < columns.end && share > 0; c++)
                sum += share * share_of(fire_interp_mix(&p, 1, c), w) *
                       from[r * p.out[1] + c];
        }
        dx[i] = sum;
    });
}

/* ---- repeating ---- */

/* A thread per output element. */
fire_status_t fire_gpu_repeat(fire_stream_t *s, const fire_gpu_zoom_t *zoom,
                              const float *x, float *y)
{
    fire_gpu_zoom_t z   = *zoom;
    int64_t         out = z.out[0] * z.out[1];

    return fire_each(s, z.planes * out, [=] __device__(int64_t i) {
        int64_t row    = i % out / z.out[1] / z.scale[0],
                column = i % z.out[1] / z.scale[1];

        y[i] = x[(i / out * z.in[0] + row) * z.in[1] + column];
    });
}

/* A thread per input element sums over its copies. */
fire_status_t fire_gpu_repeat_back(fire_stream_t *s, const fire_gpu_zoom_t *zoom,
                                   const float *dy, float *dx)
{
    fire_gpu_zoom_t z     = *zoom;
    int64_t         plane = z.in[0] * z.in[1];

    return fire_each(s, z.planes * plane, [=] __device__(int64_t i) {
        int64_t top  = i % plane / z.in[1] * z.scale[0];
        int64_t left = i % z.in[1] * z.scale[1];
        float   sum  = 0;

        for (int64_t h = top; h < min(top + z.scale[0], z.out[0]); h++)
            for (int64_t w = left; w < min(left + z.scale[1], z.out[1]); w++)
                sum += dy[(i / plane * z.out[0] + h) * z.out[1] + w];
        dx[i] = sum;
    });
}

/* ---- unpooling ---- */

/* The input of each output is chosen first, by the largest index, so that the order of
 * threads does not matter. */
fire_status_t fire_gpu_unpool(fire_stream_t *s, const fire_gpu_zoom_t *zoom,
                              const float *mask, const float *x, float *y)
{
    fire_gpu_zoom_t z     = *zoom;
    int64_t         plane = z.in[0] * z.in[1], out = z.out[0] * z.out[1];
    size_t          bytes = (size_t)(z.planes * out) * sizeof(int);
    void           *memory;
    int            *source;

    if (bytes == 0) return FIRE_OK;
    FIRE_TRY(fire_cuda_workspace(s, bytes, &memory));
    source = (int *)memory;
    FIRE_TRY(FIRE_CUDA(cudaMemsetAsync(source, 0xff, bytes, s->main.stream))); /* -1 */
    FIRE_TRY(fire_each(s, z.planes * plane, [=] __device__(int64_t i) {
        bool inside = mask[i] >= 0.0f && mask[i] < (float)out;

        atomicMax(source + i / plane * out + (inside ? (int64_t)mask[i] : 0),
                  inside ? (int)(i % plane) : INT_MAX);
    }));
    return fire_each(s, z.planes * out, [=] __device__(int64_t i) {
        y[i] = source[i] < 0          ? 0.0f
               : source[i] == INT_MAX ? nanf("")
                                      : x[i / out * plane + source[i]];
    });
}

/* A thread per input element reads the place that its mask names. */
fire_status_t fire_gpu_unpool_back(fire_stream_t *s, const fire_gpu_zoom_t *zoom,
                                   const float *mask, const float *dy, float *dx)
{
    fire_gpu_zoom_t z     = *zoom;
    int64_t         plane = z.in[0] * z.in[1], out = z.out[0] * z.out[1];

    return fire_each(s, z.planes * plane, [=] __device__(int64_t i) {
        bool inside = mask[i] >= 0.0f && mask[i] < (float)out;

        dx[i] = inside ? dy[i / plane * out + (int64_t)mask[i]] : nanf("");
    });
}

/* ---- a pyramid ---- */

/* A level; the results of successive images begin `step` elements apart. */
struct level_t {
    fire_pool_windows_t pool;
    int64_t             images, channels, step;
};

/* A thread per bin of a level. */
static fire_status_t level_forward(fire_stream_t *s, level_t l, const float *x,
                                   float *y, int32_t *index)
{
    int64_t places = l.pool.out[0] * l.pool.out[1], bins = l.channels * places;

    return fire_each(s, l.images * bins, [=] __device__(int64_t i) {
        int64_t         to    = i / bins * l.step + i % bins;
        int64_t         width = l.pool.in[1];
        fire_pool_box_t b =
            fire_pool_box(&l.pool, i % places / l.pool.out[1], i % l.pool.out[1]);
        const float *plane = x + i / places * l.pool.in[0] * width;
        float        sum = 0, best = -FLT_MAX;
        int32_t      from = -1;

        for (int64_t h = b.begin[0]; h < b.end[0]; h++)
            for (int64_t w = b.begin[1]; w < b.end[1]; w++) {
                float v = plane[h * width + w];

                sum += v;
                if (!(v > best)) continue;
                best = v;
                from = (int32_t)(h * width + w);
            }
        y[to] = index == NULL ? sum / (float)b.area : best;
        if (index != NULL) index[to] = from;
    });
}

/* add: add to dx instead of overwriting it. */
static fire_status_t level_backward(fire_stream_t *s, level_t l, bool add,
                                    const float *dy, const int32_t *index, float *dx)
{
    int64_t places = l.pool.out[0] * l.pool.out[1];
    int64_t plane  = l.pool.in[0] * l.pool.in[1];

    return fire_each(s, l.images * l.channels * plane, [=] __device__(int64_t i) {
        int64_t at = i % plane, width = l.pool.in[1], image = i / plane / l.channels;
        int64_t row    = (at / width + l.pool.pad[0]) / l.pool.kernel[0];
        int64_t column = (at % width + l.pool.pad[1]) / l.pool.kernel[1];
        int64_t from   = image * l.step + i / plane % l.channels * places +
                       row * l.pool.out[1] + column;
        float d = 0;

        if (row < l.pool.out[0] && column < l.pool.out[1]) {
            if (index == NULL)
                d = dy[from] / (float)fire_pool_box(&l.pool, row, column).area;
            else
                d = index[from] == at ? dy[from] : 0.0f;
        }
        dx[i] = add ? dx[i] + d : d;
    });
}

/* One launch per level. */
fire_status_t fire_gpu_pyramid(fire_stream_t *s, const fire_pyramid_t *p,
                               int64_t images, int64_t channels, const float *x,
                               float *y, int32_t *index)
{
    for (int i = 0; i < p->levels; i++)
        FIRE_TRY(level_forward(
            s, level_t{p->level[i], images, channels, p->offset[p->levels]}, x,
            y + p->offset[i], index != NULL ? index + p->offset[i] : NULL));
    return FIRE_OK;
}

/* The first level overwrites dx, the others add. */
fire_status_t fire_gpu_pyramid_back(fire_stream_t *s, const fire_pyramid_t *p,
                                    int64_t images, int64_t channels, const float *dy,
                                    const int32_t *index, float *dx)
{
    for (int i = 0; i < p->levels; i++)
        FIRE_TRY(level_backward(
            s, level_t{p->level[i], images, channels, p->offset[p->levels]}, i > 0,
            dy + p->offset[i], index != NULL ? index + p->offset[i] : NULL, dx));
    return FIRE_OK;
}
