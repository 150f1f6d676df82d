#include "layers/cuda/columns.h"

#include "device/cuda/launch.h"

/* Cut a number into an index for each axis, the last axis fastest. */
__device__ static void unravel(int64_t i, int axes, const int64_t *dim, int64_t *index)
{
    for (int a = axes - 1; a >= 0; a--) {
        index[a] = i % dim[a];
        i /= dim[a];
    }
}

/* One element of the columns per turn. */
__global__ static void im2col(int64_t n, int64_t places, int64_t taps, int64_t plane,
                              const fire_gpu_columns_t c, const float *image,
                              float *columns)
{
    FIRE_GRID_STRIDE (i, n) {
        int64_t place[FIRE_GPU_SPATIAL], tap[FIRE_GPU_SPATIAL], at = 0;
        bool    inside = true;

        unravel(i % places, c.axes, c.out, place);
        unravel(i / places % taps, c.axes, c.kernel, tap);
        for (int a = 0; a < c.axes; a++) {
            int64_t x = place[a] * c.stride[a] - c.pad[a] + tap[a] * c.dilation[a];

            inside = inside && x >= 0 && x < c.in[a];
            at     = at * c.in[a] + x;
        }
        columns[i] = inside ? image[i / (places * taps) * plane + at] : 0.0f;
    }
}

/* One element of the images per turn: all taps that have seen it, in their order. */
__global__ static void col2im(int64_t n, int64_t places, int64_t taps, int64_t plane,
                              const fire_gpu_columns_t c, const float *columns,
                              float *image)
{
    FIRE_GRID_STRIDE (i, n) {
        int64_t at[FIRE_GPU_SPATIAL], tap[FIRE_GPU_SPATIAL];
        float   sum = 0;

        unravel(i % plane, c.axes, c.in, at);
        for (int64_t t = 0; t < taps; t++) {
            int64_t place = 0;
            bool    fits  = true;

            unravel(t, c.axes, c.kernel, tap);
            for (int a = 0; a < c.axes; a++) {
                int64_t x = at[a] + c.pad[a] - tap[a] * c.dilation[a];

                fits = fits && x >= 0 && x % c.stride[a] == 0 &&
                       x / c.stride[a] < c.out[a];
                place = place * c.out[a] + x / c.stride[a];
            }
            if (fits) sum += columns[(i / plane * taps + t) * places + place];
        }
        image[i] = sum;
    }
}

/* ---- the same for two axes and sizes that 32 bits hold: most of the time by far ---- */

typedef struct flat {
    int in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
} flat_t;

__global__ static void im2col_flat(unsigned n, const flat_t c, const float *image,
                                   float *columns)
{
    FIRE_GRID_STRIDE (k, n) {
        unsigned i = (unsigned)k, left = i % c.out[1], top = i / c.out[1] % c.out[0];
        unsigned above  = i / c.out[1] / c.out[0];
        int      q      = (int)(above % c.kernel[1]),
            r           = (int)(above / c.kernel[1]) % c.kernel[0];
        unsigned plane  = above / c.kernel[1] / c.kernel[0];
        int      y      = (int)top * c.stride[0] - c.pad[0] + r * c.dilation[0];
        int      x      = (int)left * c.stride[1] - c.pad[1] + q * c.dilation[1];
        bool     inside = y >= 0 && y < c.in[0] && x >= 0 && x < c.in[1];

        columns[i] = inside ? image[(plane * c.in[0] + y) * c.in[1] + x] : 0.0f;
    }
}

__global__ static void col2im_flat(unsigned n, const flat_t c, const float *columns,
                                   float *image)
{
    FIRE_GRID_STRIDE (k, n) {
        unsigned i = (unsigned)k, plane = i / c.in[1] / c.in[0];
        int      w = (int)(i % c.in[1]), h = (int)(i / c.in[1] % c.in[0]);
        float    sum = 0;

        for (int r = 0; r < c.kernel[0]; r++) {
            int y = h + c.pad[0] - r * c.dilation[0];

            if (y < 0 || y % c.stride[0] != 0 || y / c.stride[0] >= c.out[0]) continue;
            for (int q = 0; q < c.kernel[1]; q++) {
                int      x   = w + c.pad[1] - q * c.dilation[1];
                unsigned tap = (plane * c.kernel[0] + r) * c.kernel[1] + q;

                if (x >= 0 && x % c.stride[1] == 0 && x / c.stride[1] < c.out[1])
                    sum += columns[(tap * c.out[0] + y / c.stride[0]) * c.out[1] +
                                   x / c.stride[1]];
            }
        }
        image[i] = sum;
    }
}

static flat_t flat_of(const fire_gpu_columns_t *c)
{
    flat_t f;

    for (int i = 0; i < 2; i++) {
        f.in[i]       = (int)c->in[i];
        f.out[i]      = (int)c->out[i];
        f.kernel[i]   = (int)c->kernel[i];
        f.stride[i]   = (int)c->stride[i];
        f.pad[i]      = (int)c->pad[i];
        f.dilation[i] = (int)c->dilation[i];
    }
    return f;
}

static bool is_flat(const fire_gpu_columns_t *c, int64_t columns, int64_t image)
{
    return c->axes == 2 && columns <= INT32_MAX && image <= INT32_MAX;
}

static int64_t product(int n, const int64_t *dim)
{
    int64_t p = 1;

    for (int i = 0; i < n; i++)
        p *= dim[i];
    return p;
}

fire_status_t fire_gpu_im2col(fire_stream_t *s, const fire_gpu_columns_t *c,
                              const float *image, float *columns)
{
    int64_t places = product(c->axes, c->out), taps = product(c->axes, c->kernel);
    int64_t n     = c->images * c->channels * taps * places;
    int64_t plane = product(c->axes, c->in);

    if (is_flat(c, n, c->images * c->channels * plane))
        return FIRE_LAUNCH(s, n, im2col_flat, (unsigned)n, flat_of(c), image, columns);
    return FIRE_LAUNCH(s, n, im2col, n, places, taps, plane, *c, image, columns);
}

fire_status_t fire_gpu_col2im(fire_stream_t *s, const fire_gpu_columns_t *c,
                              const float *columns, float *image)
{
    int64_t plane = product(c->axes, c->in), n = c->images * c->channels * plane;
    int64_t places = product(c->axes, c->out), taps = product(c->axes, c->kernel);

    if (is_flat(c, c->images * c->channels * taps * places, n))
        return FIRE_LAUNCH(s, n, col2im_flat, (unsigned)n, flat_of(c), columns, image);
    return FIRE_LAUNCH(s, n, col2im, n, places, taps, plane, *c, columns, image);
}

__global__ static void add_rows_to(int64_t rows, int64_t n, const float *x, float *sum)
{
    FIRE_GRID_STRIDE (i, n) {
        float total = 0;

#pragma unroll 8
        for (int64_t r = 0; r < rows; r++)
            total += x[r * n + i];
        sum[i] += total;
    }
}

fire_status_t fire_gpu_add_rows_to(fire_stream_t *s, int64_t rows, int64_t n,
                                   const float *x, float *sum)
{
    return FIRE_LAUNCH(s, n, add_rows_to, rows, n, x, sum);
}
