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
    int64_t n = c->images * c->channels * taps * places;

    return FIRE_LAUNCH(s, n, im2col, n, places, taps, product(c->axes, c->in), *c,
                       image, columns);
}

fire_status_t fire_gpu_col2im(fire_stream_t *s, const fire_gpu_columns_t *c,
                              const float *columns, float *image)
{
    int64_t plane = product(c->axes, c->in), n = c->images * c->channels * plane;

    return FIRE_LAUNCH(s, n, col2im, n, product(c->axes, c->out),
                       product(c->axes, c->kernel), plane, *c, columns, image);
}
