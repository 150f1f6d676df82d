/* transform.cu - the second half of transform_param on the GPU, for packed images of
 * bytes: mean, scale, mirror. Same arithmetic and same random numbers as the CPU, hence
 * the same bits. */
#include "data/transform/transform.h"

#include "device/cuda/launch.h"

/* The kernel's argument. */
typedef struct rule {
    fire_packed_t  in;
    fire_rng_key_t key;
    float          scale;
    bool           mirror, random_crop;
    int            nvalue;                  /* number of mean_values; 0: none */
    int            mean_height, mean_width; /* of the mean image; 0: none */
} rule_t;

/* What is random about one image. */
typedef struct place {
    int  top, left; /* of the crop in the mean image */
    bool mirror;
} place_t;

/* The crop's place in the mean image and the mirror, as fire_transform_window() finds them. */
__device__ static place_t find_place(const rule_t &r, int64_t sample)
{
    int     spare_y = r.mean_height - r.in.extent.height;
    int     spare_x = r.mean_width - r.in.extent.width;
    place_t p       = {spare_y / 2, spare_x / 2, false};

    if (r.mean_height > 0 && r.random_crop) {
        p.top  = fire_transform_drawn(r.key, sample, FIRE_DRAW_TOP, spare_y + 1);
        p.left = fire_transform_drawn(r.key, sample, FIRE_DRAW_LEFT, spare_x + 1);
    }
    if (r.mirror)
        p.mirror = fire_transform_drawn(r.key, sample, FIRE_DRAW_MIRROR, 2) == 1;
    return p;
}

__device__ static float mean_at(const rule_t &r, const place_t &p, int c, int y, int x)
{
    if (r.mean_height > 0)
        return r.in
            .mean[((int64_t)c * r.mean_height + p.top + y) * r.mean_width + p.left + x];
    return r.nvalue == 0 ? 0.0f : r.in.mean[r.nvalue == 1 ? 0 : c];
}

/* Image `row`, as transform_param makes it, at (y, x): channel c. */
__device__ static float value_at(const rule_t &r, const place_t &p, int64_t row, int c,
                                 unsigned y, unsigned x)
{
    const int      C = r.in.extent.channels;
    const unsigned W = (unsigned)r.in.extent.width, at = p.mirror ? W - 1 - x : x;
    const unsigned k = y * W + at, pixels = W * (unsigned)r.in.extent.height;
    const uint8_t *from = r.in.bytes + row * C * pixels;
    uint8_t        byte = from[r.in.interleaved ? k * C + c : c * pixels + k];

    return ((float)byte - mean_at(r, p, c, (int)y, (int)at)) * r.scale;
}

/* Grid: x = image, y = part of its pixels. Each thread computes all channels of a
 * pixel. T: type of out; LAST: out is NHWC, else NCHW. */
template <typename T, bool LAST> __global__ static void finish(rule_t r, T *out)
{
    __shared__ place_t p, q; /* of the image, of the one it is mixed with */
    const int          C = r.in.extent.channels, H = r.in.extent.height;
    const unsigned     W = (unsigned)r.in.extent.width, pixels = W * (unsigned)H;
    fire_mix_t         mix =
        r.in.mix != NULL ? r.in.mix[blockIdx.x] : fire_mix_t{1.0f, (float)blockIdx.x};
    int64_t partner = (int64_t)mix.partner;
    bool    mixed   = partner != (int64_t)blockIdx.x;

    if (blockIdx.y == 0 && r.in.label != NULL)
        for (int i = threadIdx.x; i < r.in.label_width; i += blockDim.x)
            r.in.label_out[(int64_t)blockIdx.x * r.in.label_width + i] =
                r.in.label[(int64_t)blockIdx.x * r.in.label_width + i];
    if (threadIdx.x == 0) {
        p = find_place(r, r.in.slice.first + blockIdx.x * r.in.slice.stride);
        q = find_place(r, r.in.slice.first + partner * r.in.slice.stride);
    }
    __syncthreads();
    out += (int64_t)blockIdx.x * C * pixels;
    for (unsigned i = blockIdx.y * blockDim.x + threadIdx.x; i < pixels;
         i += gridDim.y * blockDim.x) {
        unsigned y = i / W, x = i - y * W;

        for (int c = 0; c < C; c++) {
            float value = value_at(r, p, blockIdx.x, c, y, x);

            if (mixed)
                value =
                    fire_mix_value(mix.share, value, value_at(r, q, partner, c, y, x));
            out[LAST ? i * C + c : c * pixels + i] = (T)value;
        }
    }
}

fire_status_t fire_transform_finish(const fire_transform_t *t, fire_stream_t *s,
                                    const fire_packed_t *in,
                                    const fire_format_t *format, void *out)
{
    rule_t   r    = {*in,
                     fire_rng_key(in->seed, FIRE_RNG_CROP, t->stream, 0),
                     t->scale,
                     t->mirror,
                     t->random_crop && t->crop > 0,
                     t->nvalue,
                     t->mean_extent.height,
                     t->mean_extent.width};
    int64_t  n    = (int64_t)in->extent.height * in->extent.width;
    unsigned part = (unsigned)((n + FIRE_CUDA_BLOCK - 1) / FIRE_CUDA_BLOCK);
    dim3     grid((unsigned)in->slice.n, part < 64 ? part : 64);

    if (in->slice.n * fire_extent_count(in->extent) == 0) return FIRE_OK;
    FIRE_WITH_TYPE(format->dtype, T,
                   if (format->layout == FIRE_NHWC) return FIRE_LAUNCH_GRID(
                       s, grid, FIRE_CUDA_BLOCK, (finish<T, true>), r, (T *)out);
                   else return FIRE_LAUNCH_GRID(s, grid, FIRE_CUDA_BLOCK,
                                                (finish<T, false>), r, (T *)out))
    return FIRE_OK;
}
