/* sums.cu - sums over rows, columns and scalars, for the layers that sums.h names. */
#include "layers/common/sums.h"

#include "device/cuda/kernel/each.h"
#include "layers/scalar.h"

/* ---- biases and Reduction ---- */

fire_status_t fire_gpu_add_rows(fire_stream_t *s, int64_t rows, int64_t width,
                                const float *x, float *sum)
{
    return fire_sum_columns<1>(
        s, width, rows,
        [=] __device__(int64_t c, int64_t row, float *t) { *t += x[row * width + c]; },
        [=] __device__(int64_t c, const float *t) { sum[c] += *t; });
}

#define OP(name) CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__##name

fire_status_t fire_gpu_reduce(fire_stream_t *s, fire_gpu_power_t of, float coeff,
                              int64_t rows, int64_t n, const float *x, float *y)
{
    return fire_sum_rows<1>(
        s, rows, n,
        [=] __device__(int64_t row, int64_t j, float *sum) {
            float v = x[row * n + j];

            *sum += of == OP(ASUM) ? fabsf(v) : of == OP(SUMSQ) ? v * v : v;
        },
        [=] __device__(int64_t row, const float *sum) { y[row] = *sum * coeff; });
}

fire_status_t fire_gpu_reduce_back(fire_stream_t *s, fire_gpu_power_t of, float coeff,
                                   int64_t rows, int64_t n, const float *x,
                                   const float *dy, float *dx)
{
    return fire_each(s, rows * n, [=] __device__(int64_t i) {
        float g = dy[i / n] * coeff;

        dx[i] = of == OP(ASUM)    ? fire_sign(x[i]) * g
                : of == OP(SUMSQ) ? x[i] * (2.0f * g)
                                  : g;
    });
}

/* ---- Axpy and PReLU: a factor per row or channel ---- */

fire_status_t fire_gpu_axpy(fire_stream_t *s, int64_t rows, int64_t n, const float *a,
                            const float *x, const float *b, float *y)
{
    return fire_each(s, rows * n,
                     [=] __device__(int64_t i) { y[i] = a[i / n] * x[i] + b[i]; });
}

fire_status_t fire_gpu_axpy_da(fire_stream_t *s, int64_t rows, int64_t n,
                               const float *x, const float *dy, float *da)
{
    return fire_sum_rows<1>(
        s, rows, n,
        [=] __device__(int64_t row, int64_t j, float *sum) {
            *sum += dy[row * n + j] * x[row * n + j];
        },
        [=] __device__(int64_t row, const float *sum) { da[row] = *sum; });
}

fire_status_t fire_gpu_axpy_dx(fire_stream_t *s, int64_t rows, int64_t n,
                               const float *a, const float *dy, float *dx)
{
    return fire_each(s, rows * n,
                     [=] __device__(int64_t i) { dx[i] = a[i / n] * dy[i]; });
}

fire_status_t fire_gpu_prelu(fire_stream_t *s, const fire_gpu_planes_t *planes,
                             const float *slope, const float *x, float *y)
{
    fire_gpu_planes_t p = *planes;

    return fire_each(s, p.outer * p.channels * p.inner, [=] __device__(int64_t i) {
        float a = slope[i / p.inner % p.slopes];

        y[i] = fire_max(x[i], 0.0f) + a * fire_min(x[i], 0.0f);
    });
}

fire_status_t fire_gpu_prelu_dx(fire_stream_t *s, const fire_gpu_planes_t *planes,
                                const float *slope, const float *x, const float *dy,
                                float *dx)
{
    fire_gpu_planes_t p = *planes;

    return fire_each(s, p.outer * p.channels * p.inner, [=] __device__(int64_t i) {
        float a = slope[i / p.inner % p.slopes];

        dx[i] = dy[i] * ((float)(x[i] > 0) + a * (float)(x[i] <= 0));
    });
}

/* Index of the j-th element that slope k applies to. */
__device__ static int64_t place_of(const fire_gpu_planes_t &p, int64_t k, int64_t j)
{
    return p.slopes == 1 ? j : (j / p.inner * p.channels + k) * p.inner + j % p.inner;
}

fire_status_t fire_gpu_prelu_dslope(fire_stream_t *s, const fire_gpu_planes_t *planes,
                                    const float *x, const float *dy, float *dslope)
{
    fire_gpu_planes_t p = *planes;
    int64_t           n = p.outer * p.channels * p.inner / p.slopes;

    return fire_sum_rows<1>(
        s, p.slopes, n,
        [=] __device__(int64_t k, int64_t j, float *sum) {
            int64_t at = place_of(p, k, j);

            *sum += dy[at] * x[at] * (float)(x[at] <= 0);
        },
        [=] __device__(int64_t k, const float *sum) { dslope[k] += *sum; });
}

/* ---- MVN: one block per row ---- */

/* Mean and standard deviation of a row; all threads of the block get them. */
struct spread {
    float mean, deviation;
};

__device__ static spread measure(int64_t n, bool variance, float eps, const float *x)
{
    spread m   = {0, 1};
    float  sum = 0;

    for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
        sum += x[j];
    m.mean = fire_block_sum(sum) / (float)n;
    if (!variance) return m;
    sum = 0;
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
        sum += (x[j] - m.mean) * (x[j] - m.mean);
    m.deviation = sqrtf(fire_block_sum(sum) / (float)n) + eps;
    return m;
}

__global__ static void mvn(int64_t n, bool variance, float eps, const float *x,
                           float *y)
{
    spread m;

    x += blockIdx.x * n;
    y += blockIdx.x * n;
    m = measure(n, variance, eps, x);
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
        y[j] = (x[j] - m.mean) / m.deviation;
}

/* dx = (dy - mean(dy) - y mean(dy y)) / deviation */
__global__ static void mvn_back(int64_t n, bool variance, float eps, const float *x,
                                const float *y, const float *dy, float *dx)
{
    int64_t row = blockIdx.x * n;
    spread  m   = measure(n, variance, eps, x + row);
    float   sum = 0, product = 0;

    for (int64_t j = row + threadIdx.x; j < row + n; j += blockDim.x) {
        sum += dy[j];
        product += dy[j] * y[j];
    }
    sum     = fire_block_sum(sum) / (float)n;
    product = variance ? fire_block_sum(product) / (float)n : 0.0f;
    for (int64_t j = row + threadIdx.x; j < row + n; j += blockDim.x)
        dx[j] = (dy[j] - sum - y[j] * product) / m.deviation;
}

fire_status_t fire_gpu_mvn(fire_stream_t *s, int64_t rows, int64_t n, bool variance,
                           float eps, const float *x, float *y)
{
    if (rows * n == 0) return FIRE_OK;
    return FIRE_LAUNCH_GRID(s, (unsigned)rows, FIRE_CUDA_BLOCK, mvn, n, variance, eps,
                            x, y);
}

fire_status_t fire_gpu_mvn_back(fire_stream_t *s, int64_t rows, int64_t n,
                                bool variance, float eps, const float *x,
                                const float *y, const float *dy, float *dx)
{
    if (rows * n == 0) return FIRE_OK;
    return FIRE_LAUNCH_GRID(s, (unsigned)rows, FIRE_CUDA_BLOCK, mvn_back, n, variance,
                            eps, x, y, dy, dx);
}

/* ---- Normalize ---- */

/* Number of the norm, and of the gain, of element i. */
__device__ static int64_t norm_of(const fire_gpu_unit_t &u, int64_t i)
{
    int64_t image = i / (u.channels * u.plane);

    return u.across ? image : image * u.plane + i % u.plane;
}

__device__ static int64_t gain_of(const fire_gpu_unit_t &u, int64_t i)
{
    return u.shared ? 0 : i / u.plane % u.channels;
}

/* done(k, {sum of term(i)}) for each norm k over its elements i. */
template <typename Term, typename Done>
static fire_status_t sum_units(fire_stream_t *s, const fire_gpu_unit_t &u, Term term,
                               Done done)
{
    int64_t image = u.channels * u.plane, plane = u.plane;

    if (u.across)
        return fire_sum_rows<1>(
            s, u.images, image,
            [=] __device__(int64_t k, int64_t j, float *sum) {
                *sum += term(k * image + j);
            },
            done);
    return fire_sum_columns<1>(
        s, u.images * plane, u.channels,
        [=] __device__(int64_t k, int64_t c, float *sum) {
            *sum += term(k / plane * image + c * plane + k % plane);
        },
        done);
}

fire_status_t fire_gpu_unit(fire_stream_t *s, const fire_gpu_unit_t *unit,
                            const float *g, const float *x, float *norm, float *y)
{
    fire_gpu_unit_t u = *unit;

    FIRE_TRY(sum_units(
        s, u, [=] __device__(int64_t i) { return x[i] * x[i]; },
        [=] __device__(int64_t k, const float *sum) {
            norm[k] = sqrtf(*sum + u.eps);
        }));
    return fire_each(s, u.images * u.channels * u.plane, [=] __device__(int64_t i) {
        y[i] = x[i] / norm[norm_of(u, i)] * g[gain_of(u, i)];
    });
}

/* With d = g dy: dx = (d - x sum(d x) / norm^2) / norm */
fire_status_t fire_gpu_unit_dx(fire_stream_t *s, const fire_gpu_unit_t *unit,
                               const float *g, const float *norm, const float *x,
                               const float *dy, float *sum, float *dx)
{
    fire_gpu_unit_t u = *unit;

    FIRE_TRY(sum_units(
        s, u, [=] __device__(int64_t i) { return dy[i] * g[gain_of(u, i)] * x[i]; },
        [=] __device__(int64_t k, const float *total) { sum[k] = *total; }));
    return fire_each(s, u.images * u.channels * u.plane, [=] __device__(int64_t i) {
        int64_t k = norm_of(u, i);

        dx[i] =
            (dy[i] * g[gain_of(u, i)] - x[i] * sum[k] / (norm[k] * norm[k])) / norm[k];
    });
}

fire_status_t fire_gpu_unit_dg(fire_stream_t *s, const fire_gpu_unit_t *unit,
                               const float *norm, const float *x, const float *dy,
                               float *dg)
{
    fire_gpu_unit_t   u = *unit;
    fire_gpu_planes_t p = {u.images, u.channels, u.plane, u.shared ? 1 : u.channels};

    return fire_sum_rows<1>(
        s, p.slopes, p.outer * p.channels * p.inner / p.slopes,
        [=] __device__(int64_t k, int64_t j, float *sum) {
            int64_t i = place_of(p, k, j);

            *sum += dy[i] * x[i] / norm[norm_of(u, i)];
        },
        [=] __device__(int64_t k, const float *sum) { dg[k] += *sum; });
}
