/* few_outputs.cu - see few_outputs.h. */
#include "layers/common/few_outputs.h"

#include "device/cuda/kernel/block.h"

enum { WARP = 32, SHARE = 4, MOST_OUTPUTS = 32, MOST_ROWS = 512, MOST_WORK = 4 << 20 };

bool fire_gpu_few_outputs_fits(int64_t rows, int64_t inputs, int64_t outputs)
{
    return outputs <= MOST_OUTPUTS && rows <= MOST_ROWS &&
           rows * inputs * outputs <= MOST_WORK;
}

/* A warp makes one element of y: its threads share the inputs, neighbours read
 * neighbours. */
template <typename T>
__global__ static void forward(const fire_gpu_few_outputs_t t, const T *x,
                               const T *weights, const float *bias, bool relu, T *y)
{
    int      i = (int)((blockIdx.x * blockDim.x + threadIdx.x) / WARP), o, me;
    const T *row;
    float    sum = 0;

    if (i >= t.rows * t.outputs) return; /* the whole warp */
    o   = i % t.outputs;
    me  = threadIdx.x % WARP;
    row = x + (int64_t)(i / t.outputs) * t.inputs;
    weights += (int64_t)o * t.inputs;
#pragma unroll 4
    for (int k = me; k < t.inputs; k += WARP)
        sum += (float)row[k] * (float)weights[k];
    sum = fire_reduce<WARP, fire_plus>(sum);
    if (me != 0) return;
    if (bias != NULL) sum += bias[o];
    y[i] = (T)(relu && !(sum > 0) ? 0.0f : sum);
}

/* A thread makes one element of dx per turn. */
template <typename T>
__global__ static void input(const fire_gpu_few_outputs_t t, const T *dy,
                             const T *weights, T *dx)
{
    FIRE_GRID_STRIDE (i, (int64_t)t.rows * t.inputs) {
        int      k   = (int)(i % t.inputs);
        const T *row = dy + i / t.inputs * t.outputs;
        float    sum = 0;

#pragma unroll 8
        for (int o = 0; o < t.outputs; o++)
            sum += (float)row[o] * (float)weights[(int64_t)o * t.inputs + k];
        dx[i] = (T)sum;
    }
}

/* SHARE neighbouring threads make one element of diff: they share the rows. */
template <typename T>
__global__ static void gradients(const fire_gpu_few_outputs_t t, const T *dy,
                                 const T *x, bool add, float *diff)
{
    int   i = (int)((blockIdx.x * blockDim.x + threadIdx.x) / SHARE);
    int   k = i % t.inputs, o = i / t.inputs, me = threadIdx.x % SHARE;
    float sum = 0;

#pragma unroll 8
    for (int r = me; o < t.outputs && r < t.rows; r += SHARE)
        sum += (float)dy[r * t.outputs + o] * (float)x[(int64_t)r * t.inputs + k];
    sum = fire_reduce<SHARE, fire_plus>(sum);
    if (o < t.outputs && me == 0) diff[i] = add ? diff[i] + sum : sum;
}

fire_status_t fire_gpu_few_outputs_forward(fire_stream_t                *s,
                                           const fire_gpu_few_outputs_t *t,
                                           const void *x, const void *weights,
                                           const float *bias, bool relu, void *y)
{
    int      per_block = FIRE_CUDA_BLOCK / WARP;
    unsigned blocks    = (unsigned)((t->rows * t->outputs + per_block - 1) / per_block);

    FIRE_WITH_TYPE(t->dtype, T,
                   return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK, forward<T>, *t,
                                           (const T *)x, (const T *)weights, bias, relu,
                                           (T *)y))
    return FIRE_OK;
}

fire_status_t fire_gpu_few_outputs_backward_data(fire_stream_t                *s,
                                                 const fire_gpu_few_outputs_t *t,
                                                 const void *dy, const void *weights,
                                                 void *dx)
{
    int64_t n = (int64_t)t->rows * t->inputs;

    FIRE_WITH_TYPE(t->dtype, T,
                   return FIRE_LAUNCH(s, n, input<T>, *t, (const T *)dy,
                                      (const T *)weights, (T *)dx))
    return FIRE_OK;
}

fire_status_t fire_gpu_few_outputs_backward_weights(fire_stream_t                *s,
                                                    const fire_gpu_few_outputs_t *t,
                                                    const void *dy, const void *x,
                                                    bool add, float *diff)
{
    unsigned threads = (unsigned)(t->outputs * t->inputs * SHARE);
    unsigned blocks  = (threads + FIRE_CUDA_BLOCK - 1) / FIRE_CUDA_BLOCK;

    FIRE_WITH_TYPE(t->dtype, T,
                   return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK, gradients<T>, *t,
                                           (const T *)dy, (const T *)x, add, diff))
    return FIRE_OK;
}
