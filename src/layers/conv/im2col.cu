/* im2col.cu - the kernels of im2col.h. A thread makes one element of the result per
 * turn, so that col2im needs no atomic additions: it sums in the order of the taps. */
#include "layers/conv/im2col.h"

#include "device/cuda/kernel/divide.h"

/* Cut a number into an index for each axis, the last axis fastest. */
__device__ static void unravel(int64_t i, int axes, const int64_t *dim, int64_t *index)
{
    for (int a = axes - 1; a >= 0; a--) {
        index[a] = i % dim[a];
        i /= dim[a];
    }
}

/* places, taps, plane: products of out, kernel, in. n: elements of the columns */
__global__ static void im2col(int64_t n, int64_t places, int64_t taps, int64_t plane,
                              const fire_gpu_im2col_t c, const float *image,
                              float *columns)
{
    FIRE_GRID_STRIDE (i, n) {
        int64_t place[FIRE_MAX_SPATIAL], tap[FIRE_MAX_SPATIAL], at = 0;
        bool    inside = true;

        unravel(i % places, c.window.axes, c.out, place);
        unravel(i / places % taps, c.window.axes, c.window.kernel, tap);
        for (int a = 0; a < c.window.axes; a++) {
            int64_t x = place[a] * c.window.stride[a] - c.window.pad[a] +
                        tap[a] * c.window.dilation[a];

            inside = inside && x >= 0 && x < c.in[a];
            at     = at * c.in[a] + x;
        }
        columns[i] = inside ? image[i / (places * taps) * plane + at] : 0.0f;
    }
}

/* n: elements of the images. For each, adds the taps that cover it, in order. */
__global__ static void col2im(int64_t n, int64_t places, int64_t taps, int64_t plane,
                              const fire_gpu_im2col_t c, const float *columns,
                              float *image)
{
    FIRE_GRID_STRIDE (i, n) {
        int64_t at[FIRE_MAX_SPATIAL], tap[FIRE_MAX_SPATIAL];
        float   sum = 0;

        unravel(i % plane, c.window.axes, c.in, at);
        for (int64_t t = 0; t < taps; t++) {
            int64_t place = 0;
            bool    fits  = true;

            unravel(t, c.window.axes, c.window.kernel, tap);
            for (int a = 0; a < c.window.axes; a++) {
                int64_t x = at[a] + c.window.pad[a] - tap[a] * c.window.dilation[a];

                fits = fits && x >= 0 && x % c.window.stride[a] == 0 &&
                       x / c.window.stride[a] < c.out[a];
                place = place * c.out[a] + x / c.window.stride[a];
            }
            if (fits) sum += columns[(i / plane * taps + t) * places + place];
        }
        image[i] = sum;
    }
}

/* ---- the same for two axes and 32-bit indices: nearly always, and much faster ---- */

typedef struct flat {
    int            in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
    fire_divisor_t by_in[2], by_out[2], by_kernel[2], by_stride[2];
} flat_t;

__global__ static void im2col_flat(unsigned n, const flat_t c, const float *image,
                                   float *columns)
{
    FIRE_GRID_STRIDE (k, n) {
        uint64_t i      = (uint64_t)k; /* becomes the plane */
        int      left   = (int)fire_divmod(&i, c.by_out[1]);
        int      top    = (int)fire_divmod(&i, c.by_out[0]);
        int      q      = (int)fire_divmod(&i, c.by_kernel[1]);
        int      r      = (int)fire_divmod(&i, c.by_kernel[0]);
        int      y      = top * c.stride[0] - c.pad[0] + r * c.dilation[0];
        int      x      = left * c.stride[1] - c.pad[1] + q * c.dilation[1];
        bool     inside = y >= 0 && y < c.in[0] && x >= 0 && x < c.in[1];

        columns[k] = inside ? image[((int)i * c.in[0] + y) * c.in[1] + x] : 0.0f;
    }
}

/* Along one axis, the place whose tap `tap` covers image element `at`; -1: none. */
template <bool UNIT>
__device__ static int place_of(const flat_t &c, int axis, int at, int tap)
{
    int far = at + c.pad[axis] - tap * c.dilation[axis];
    int place =
        UNIT || far < 0 ? far : (int)fire_divide((uint64_t)far, c.by_stride[axis]);

    if (!UNIT && place * c.stride[axis] != far) return -1;
    return place < c.out[axis] ? place : -1;
}

/* UNIT: strides are 1, which saves the divisions. */
template <bool UNIT>
__global__ static void col2im_flat(unsigned n, const flat_t c, const float *columns,
                                   float *image)
{
    FIRE_GRID_STRIDE (k, n) {
        uint64_t plane = (uint64_t)k;
        int      w     = (int)fire_divmod(&plane, c.by_in[1]);
        int      h     = (int)fire_divmod(&plane, c.by_in[0]);
        float    sum   = 0;

        for (int r = 0; r < c.kernel[0]; r++) {
            int          y   = place_of<UNIT>(c, 0, h, r);
            unsigned     tap = ((unsigned)plane * c.kernel[0] + r) * c.kernel[1];
            const float *row = columns + (tap * c.out[0] + y) * c.out[1];

            if (y < 0) continue;
#pragma unroll 5
            for (int q = 0; q < c.kernel[1]; q++) {
                int x = place_of<UNIT>(c, 1, w, q);

                if (x >= 0) sum += row[q * c.out[0] * c.out[1] + x];
            }
        }
        image[k] = sum;
    }
}

/* Sizes of two axes in 32 bits. */
static flat_t flat_of(const fire_gpu_im2col_t *c)
{
    flat_t f;

    for (int i = 0; i < 2; i++) {
        f.in[i]        = (int)c->in[i];
        f.out[i]       = (int)c->out[i];
        f.kernel[i]    = (int)c->window.kernel[i];
        f.stride[i]    = (int)c->window.stride[i];
        f.pad[i]       = (int)c->window.pad[i];
        f.dilation[i]  = (int)c->window.dilation[i];
        f.by_in[i]     = fire_divisor(c->in[i]);
        f.by_out[i]    = fire_divisor(c->out[i]);
        f.by_kernel[i] = fire_divisor(c->window.kernel[i]);
        f.by_stride[i] = fire_divisor(c->window.stride[i]);
    }
    return f;
}

/* columns, image: elements of both arrays */
static bool is_flat(const fire_gpu_im2col_t *c, int64_t columns, int64_t image)
{
    return c->window.axes == 2 && columns <= INT32_MAX && image <= INT32_MAX;
}

static int64_t product(int n, const int64_t *dim)
{
    int64_t p = 1;

    for (int i = 0; i < n; i++)
        p *= dim[i];
    return p;
}

fire_status_t fire_gpu_im2col(fire_stream_t *s, const fire_gpu_im2col_t *c,
                              const float *image, float *columns)
{
    int64_t places = product(c->window.axes, c->out),
            taps   = product(c->window.axes, c->window.kernel);
    int64_t n      = c->images * c->channels * taps * places;
    int64_t plane  = product(c->window.axes, c->in);

    if (is_flat(c, n, c->images * c->channels * plane))
        return FIRE_LAUNCH(s, n, im2col_flat, (unsigned)n, flat_of(c), image, columns);
    return FIRE_LAUNCH(s, n, im2col, n, places, taps, plane, *c, image, columns);
}

fire_status_t fire_gpu_col2im(fire_stream_t *s, const fire_gpu_im2col_t *c,
                              const float *columns, float *image)
{
    int64_t plane = product(c->window.axes, c->in), n = c->images * c->channels * plane;
    int64_t places = product(c->window.axes, c->out),
            taps   = product(c->window.axes, c->window.kernel);

    if (is_flat(c, c->images * c->channels * taps * places, n))
        return c->window.stride[0] == 1 && c->window.stride[1] == 1
                   ? FIRE_LAUNCH(s, n, col2im_flat<true>, (unsigned)n, flat_of(c),
                                 columns, image)
                   : FIRE_LAUNCH(s, n, col2im_flat<false>, (unsigned)n, flat_of(c),
                                 columns, image);
    return FIRE_LAUNCH(s, n, col2im, n, places, taps, plane, *c, columns, image);
}
