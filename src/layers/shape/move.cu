/* move.cu - one thread per element of the output, which finds where its value comes
 * from. */
#include "layers/shape/move.h"

#include "device/cuda/kernel/each.h"
#include "layers/loss/labels.h"

fire_status_t fire_gpu_gather(fire_stream_t *s, int64_t items, int64_t n, int64_t block,
                              const int64_t *from, const float *x, float *y)
{
    return fire_each(s, items * n * block, [=] __device__(int64_t i) {
        int64_t j = i / block % n;

        y[i] = x[i + (from[j] - j) * block];
    });
}

fire_status_t fire_gpu_scatter(fire_stream_t *s, int64_t items, int64_t n,
                               int64_t block, const int64_t *from, const float *y,
                               float *x)
{
    return fire_each(s, items * n * block, [=] __device__(int64_t i) {
        int64_t j = i / block % n;

        x[i + (from[j] - j) * block] = y[i];
    });
}

/* ---- rows by index ---- */

/* -1 where there is no such row. Fractions are cut off. */
__device__ static int64_t row_of(float index, int64_t rows)
{
    return index >= 0.0f && index < (float)rows ? (int64_t)index : -1;
}

fire_status_t fire_gpu_rows(fire_stream_t *s, int64_t rows, int64_t width, int64_t n,
                            const float *index, const float *x, float *y)
{
    return fire_gpu_look_up(s, rows, width, n, index, x, NULL, y);
}

fire_status_t fire_gpu_rows_back(fire_stream_t *s, int64_t rows, int64_t width,
                                 int64_t n, const float *index, const float *dy,
                                 float *dx)
{
    return fire_each(s, rows * width, [=] __device__(int64_t i) {
        float sum = 0;

        for (int64_t j = 0; j < n; j++)
            if (row_of(index[j], rows) == i / width) sum += dy[j * width + i % width];
        dx[i] = sum;
    });
}

fire_status_t fire_gpu_look_up(fire_stream_t *s, int64_t rows, int64_t width, int64_t n,
                               const float *index, const float *x, const float *bias,
                               float *y)
{
    fire_cuda_reporter_t reporter = fire_cuda_make_reporter(s);

    return fire_each(s, n * width, [=] __device__(int64_t i) {
        int64_t row = row_of(index[i / width], rows), c = i % width;
        float   value = row < 0 ? nanf("") : x[row * width + c];

        if (row < 0 && c == 0)
            fire_report_fault(reporter, true, index[i / width], rows);
        y[i] = bias != NULL ? value + bias[c] : value;
    });
}

/* The first place of a row adds for all others of that row, in their order. */
fire_status_t fire_gpu_look_up_back(fire_stream_t *s, int64_t rows, int64_t width,
                                    int64_t n, const float *index, const float *dy,
                                    float *dx)
{
    return fire_each(s, n * width, [=] __device__(int64_t i) {
        int64_t first = i / width, c = i % width, row = row_of(index[first], rows);
        float   sum;

        for (int64_t j = 0; j < first; j++)
            if (row_of(index[j], rows) == row) return;
        if (row < 0) return;
        sum = dx[row * width + c];
        for (int64_t j = first; j < n; j++)
            if (row_of(index[j], rows) == row) sum += dy[j * width + c];
        dx[row * width + c] = sum;
    });
}

/* ---- tiles and crops ---- */

fire_status_t fire_gpu_tile(fire_stream_t *s, int64_t outer, int64_t tiles,
                            int64_t inner, const float *x, float *y)
{
    return fire_each(s, outer * tiles * inner, [=] __device__(int64_t i) {
        y[i] = x[i / (tiles * inner) * inner + i % inner];
    });
}

fire_status_t fire_gpu_tile_back(fire_stream_t *s, int64_t outer, int64_t tiles,
                                 int64_t inner, const float *dy, float *dx)
{
    return fire_each(s, outer * inner, [=] __device__(int64_t i) {
        const float *from = dy + i / inner * tiles * inner + i % inner;
        float        sum  = from[0];

        for (int64_t t = 1; t < tiles; t++)
            sum += from[t * inner];
        dx[i] = sum;
    });
}

struct crop {
    int     ndim;
    int64_t x[FIRE_MAX_DIMS], y[FIRE_MAX_DIMS], offset[FIRE_MAX_DIMS];
};

static crop crop_of(const fire_blob_t *x, const fire_blob_t *y, const int64_t *offset)
{
    crop c;

    c.ndim = x->ndim;
    for (int i = 0; i < c.ndim; i++) {
        c.x[i]      = x->dim[i];
        c.y[i]      = y->dim[i];
        c.offset[i] = offset[i];
    }
    return c;
}

fire_status_t fire_gpu_crop(fire_stream_t *s, const fire_blob_t *shape_x,
                            const fire_blob_t *shape_y, const int64_t *offset,
                            const float *x, float *y)
{
    crop c = crop_of(shape_x, shape_y, offset);

    return fire_each(s, shape_y->count, [=] __device__(int64_t i) {
        int64_t at = 0, step = 1, rest = i;

        for (int a = c.ndim - 1; a >= 0; a--) {
            at += (c.offset[a] + rest % c.y[a]) * step;
            rest /= c.y[a];
            step *= c.x[a];
        }
        y[i] = x[at];
    });
}

fire_status_t fire_gpu_crop_back(fire_stream_t *s, const fire_blob_t *shape_x,
                                 const fire_blob_t *shape_y, const int64_t *offset,
                                 const float *dy, float *dx)
{
    crop c = crop_of(shape_x, shape_y, offset);

    return fire_each(s, shape_x->count, [=] __device__(int64_t i) {
        int64_t at = 0, step = 1, rest = i;
        bool    inside = true;

        for (int a = c.ndim - 1; a >= 0; a--) {
            int64_t k = rest % c.x[a] - c.offset[a];

            inside = inside && k >= 0 && k < c.y[a];
            at += k * step;
            rest /= c.x[a];
            step *= c.y[a];
        }
        dx[i] = inside ? dy[at] : 0.0f;
    });
}

/* ---- the largest ---- */

/* Does (value, place) come behind (than, at) in the order of results? */
__device__ static bool is_behind(float value, int64_t place, float than, int64_t at)
{
    return value < than || (value == than && place < at);
}

/* k passes over the group: k is small, and nothing has to be kept. */
fire_status_t fire_gpu_rank(fire_stream_t *s, const fire_gpu_rank_t *a, const float *x,
                            float *place, float *value)
{
    fire_gpu_rank_t g = *a;

    return fire_each(s, g.groups, [=] __device__(int64_t i) {
        const float *from = x + i / g.step * g.n * g.step + i % g.step;
        int64_t      to = i / g.step * g.out + i % g.step, last = g.n;
        float        before = INFINITY;

        for (int64_t j = 0; j < g.k; j++) {
            float   best = -INFINITY;
            int64_t at   = -1;

            for (int64_t p = 0; p < g.n; p++)
                if (is_behind(from[p * g.step], p, before, last) &&
                    !is_behind(from[p * g.step], p, best, at)) {
                    best = from[p * g.step];
                    at   = p;
                }
            if (place != NULL) place[to + j * g.step] = (float)at;
            if (value != NULL) value[to + j * g.step] = best;
            before = best;
            last   = at;
        }
    });
}
