/* rms_norm.cu - RMSNorm on GPUs. Pointers are in GPU memory, kernels go to the library's
 * stream, and nothing here waits for them. */
#include <cuda_runtime_api.h>

#include "rms_norm.h"

/* clang-format off */
#ifdef RMS_NORM_EMULATED /* by a test of firecaffe's sources, without a GPU */
#    define LAUNCH(kernel, blocks, threads, stream, ...) \
        (void)FIRE_LAUNCH_ON(stream, blocks, threads, kernel, __VA_ARGS__)
#else
#    define LAUNCH(kernel, blocks, threads, stream, ...) \
        kernel<<<(blocks), (threads), 0, (stream)>>>(__VA_ARGS__)
#endif
/* clang-format on */

enum { THREADS = 128 };

/* The sum over the threads of a block, for all of them. The order is fixed, and so are
 * the bits. `part` has THREADS elements. */
static __device__ double block_sum(double *part, double mine)
{
    double sum;

    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    sum = part[0];
    __syncthreads(); /* `part` may be used again */
    return sum;
}

/* A block per row; n = channels * inner. */
static __global__ void forward_row(const float *x, const float *gamma, float *y,
                                   float *scale, int64_t n, int64_t inner, double eps)
{
    __shared__ double part[THREADS];
    int64_t           row = blockIdx.x;
    double            sum = 0;
    float             s;

    for (int64_t k = threadIdx.x; k < n; k += THREADS)
        sum += (double)x[row * n + k] * x[row * n + k];
    s = (float)(1 / sqrt(block_sum(part, sum) / (double)n + eps));
    if (threadIdx.x == 0) scale[row] = s;
    for (int64_t k = threadIdx.x; k < n; k += THREADS)
        y[row * n + k] =
            (gamma != NULL ? gamma[k / inner] : 1.0f) * (x[row * n + k] * s);
}

/* A block per row. */
static __global__ void backward_row(const float *x, const float *gamma,
                                    const float *scale, const float *dy, float *dx,
                                    int64_t n, int64_t inner)
{
    __shared__ double part[THREADS];
    int64_t           row = blockIdx.x;
    double            s = scale[row], sum = 0, pull;

    for (int64_t k = threadIdx.x; k < n; k += THREADS)
        sum += (double)(gamma != NULL ? gamma[k / inner] : 1.0f) * dy[row * n + k] *
               x[row * n + k];
    pull = s * s * block_sum(part, sum) / (double)n;
    for (int64_t k = threadIdx.x; k < n; k += THREADS) {
        double g = (double)(gamma != NULL ? gamma[k / inner] : 1.0f) * dy[row * n + k];

        dx[row * n + k] = (float)(s * (g - x[row * n + k] * pull));
    }
}

/* A block per channel. */
static __global__ void backward_channel(const float *x, const float *scale,
                                        const float *dy, float *dgamma, int64_t rows,
                                        int64_t channels, int64_t inner)
{
    __shared__ double part[THREADS];
    double            sum = 0;

    for (int64_t i = threadIdx.x; i < rows * inner; i += THREADS) {
        int64_t row = i / inner;
        int64_t at  = (row * channels + blockIdx.x) * inner + i % inner;

        sum += (double)dy[at] * x[at] * scale[row];
    }
    sum = block_sum(part, sum);
    if (threadIdx.x == 0) dgamma[blockIdx.x] += (float)sum;
}

/* A launch that was refused. Faults of a kernel that runs are found by the library. */
static fire_status_t launched(void)
{
    cudaError_t error = cudaGetLastError();

    if (error == cudaSuccess) return FIRE_OK;
    return fire_fail(FIRE_ERR_DEVICE, "CUDA: %s", cudaGetErrorString(error));
}

static fire_status_t read_gamma(fire_layer_t *l, const float **gamma_p)
{
    const rms_norm_t *s = (const rms_norm_t *)fire_layer_state(l);

    *gamma_p = NULL;
    return s->learns
               ? fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_GPU, gamma_p)
               : FIRE_OK;
}

static fire_status_t forward(fire_layer_t *l)
{
    const rms_norm_t *s      = (const rms_norm_t *)fire_layer_state(l);
    cudaStream_t      stream = (cudaStream_t)fire_layer_stream(l);
    const float      *x, *gamma;
    float            *y, *scale;

    TRY(read_gamma(l, &gamma));
    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_GPU, &x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_GPU, &y));
    TRY(fire_blob_write(s->scale, FIRE_DATA, FIRE_GPU, &scale));
    if (s->rows > 0)
        LAUNCH(forward_row, (unsigned)s->rows, THREADS, stream, x, gamma, y, scale,
               s->channels * s->inner, s->inner, s->eps);
    return launched();
}

static fire_status_t backward(fire_layer_t *l)
{
    const rms_norm_t *s      = (const rms_norm_t *)fire_layer_state(l);
    cudaStream_t      stream = (cudaStream_t)fire_layer_stream(l);
    const float      *x, *dy, *gamma, *scale;
    float            *dx, *dgamma;

    TRY(read_gamma(l, &gamma));
    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_GPU, &x));
    TRY(fire_blob_read(fire_layer_top(l, 0), FIRE_DIFF, FIRE_GPU, &dy));
    TRY(fire_blob_read(s->scale, FIRE_DATA, FIRE_GPU, &scale));
    if (fire_layer_wants_bottom(l, 0) && s->rows > 0) {
        TRY(fire_blob_write(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_GPU, &dx));
        LAUNCH(backward_row, (unsigned)s->rows, THREADS, stream, x, gamma, scale, dy,
               dx, s->channels * s->inner, s->inner);
    }
    if (s->learns && fire_layer_wants_param(l, 0) && s->channels > 0) {
        TRY(fire_blob_update(fire_layer_param(l, 0), FIRE_DIFF, FIRE_GPU, &dgamma));
        LAUNCH(backward_channel, (unsigned)s->channels, THREADS, stream, x, scale, dy,
               dgamma, s->rows, s->channels, s->inner);
    }
    return launched();
}

/* C++ gives the members in order. */
extern "C" const fire_plugin_kernel_t rms_norm_cuda = {sizeof(rms_norm_cuda),
                                                       "cuda",
                                                       FIRE_GPU,
                                                       FIRE_READS_BOTTOM,
                                                       forward,
                                                       backward,
                                                       NULL,
                                                       NULL};
