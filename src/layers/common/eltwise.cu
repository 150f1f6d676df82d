/* eltwise.cu - Eltwise and the backward pass of Split on the GPU. Element by element,
 * so it takes the format of the first array and nothing is converted but the others. */
#include "layers/common/eltwise.h"

#include "layers/layer_cuda.h"
#include "device/cuda/kernel/map.h"
#include "layers/activation/relu.h"

enum { MOST = FIRE_ELTWISE_MOST };

template <typename T> struct inputs {
    int      n;
    const T *x[MOST];
    float    c[MOST];
};

template <bool RELU> struct add_up {
    template <typename T>
    __device__ static float of(const inputs<T> &in, const float *x)
    {
        float sum = in.c[0] * x[0];

        for (int b = 1; b < in.n; b++)
            sum += in.c[b] * x[b];
        return RELU && !(sum > 0) ? 0.0f : sum;
    }
};

struct multiply {
    template <typename T>
    __device__ static float of(const inputs<T> &in, const float *x)
    {
        float product = x[0];

        for (int b = 1; b < in.n; b++)
            product *= x[b];
        return product;
    }
};

/* The bottom with the maximum. Ties are broken as in Caffe: of the first two bottoms
 * the second wins, a later one loses. */
template <typename T> __device__ static int winner(const inputs<T> &in, const float *x)
{
    int best = 0;

    for (int b = 1; b < in.n; b++)
        if (x[b] > x[best] || (b == 1 && !(x[0] > x[1]))) best = b;
    return best;
}

struct maximize {
    template <typename T>
    __device__ static float of(const inputs<T> &in, const float *x)
    {
        return x[winner(in, x)];
    }
};

template <typename OP, typename T>
__global__ static void combine(int64_t n, const inputs<T> in, T *y)
{
    FIRE_GRID_STRIDE (i, n) {
        float x[MOST];

        for (int b = 0; b < in.n; b++)
            x[b] = (float)in.x[b][i];
        y[i] = (T)OP::of(in, x);
    }
}

/* The sum of residual nets, 16 bytes per thread and array at a time. */
template <bool RELU, typename T>
__global__ static void add_vectors(int64_t n, const inputs<T> in, T *y)
{
    FIRE_GRID_STRIDE (i, n) {
        fire_vector<T> v = fire_load(in.x[0], i);
        float          sum[fire_vector<T>::N];

#pragma unroll
        for (int k = 0; k < fire_vector<T>::N; k++)
            sum[k] = in.c[0] * (float)v.v[k];
        for (int b = 1; b < in.n; b++) {
            v = fire_load(in.x[b], i);
#pragma unroll
            for (int k = 0; k < fire_vector<T>::N; k++)
                sum[k] += in.c[b] * (float)v.v[k];
        }
#pragma unroll
        for (int k = 0; k < fire_vector<T>::N; k++)
            v.v[k] = (T)(RELU && !(sum[k] > 0) ? 0.0f : sum[k]);
        reinterpret_cast<fire_vector<T> *>(y)[i] = v;
    }
}

template <bool RELU, typename T>
static fire_status_t add(fire_stream_t *s, int64_t n, const inputs<T> &in, T *y)
{
    bool aligned = fire_is_aligned(y) && n % fire_vector<T>::N == 0;

    for (int b = 0; b < in.n; b++)
        aligned = aligned && fire_is_aligned(in.x[b]);
    if (!aligned) return FIRE_LAUNCH(s, n, (combine<add_up<RELU>, T>), n, in, y);
    n /= fire_vector<T>::N;
    return FIRE_LAUNCH(s, n, (add_vectors<RELU, T>), n, in, y);
}

template <typename T>
static fire_status_t run(fire_stream_t *s, fire_eltwise_op_t op, bool relu, int64_t n,
                         const inputs<T> &in, T *y)
{
    if (op == FIRE_ELTWISE(PROD))
        return FIRE_LAUNCH(s, n, (combine<multiply, T>), n, in, y);
    if (op == FIRE_ELTWISE(MAX))
        return FIRE_LAUNCH(s, n, (combine<maximize, T>), n, in, y);
    return relu ? add<true>(s, n, in, y) : add<false>(s, n, in, y);
}

/* Device pointers to `part` of n blobs, all in format f. */
template <typename T>
static fire_status_t gather(const fire_format_t *f, fire_part_t part, int n,
                            fire_blob_t *const *blob, const float *coeff, inputs<T> *in)
{
    in->n = n;
    for (int b = 0; b < n; b++) {
        void *x;

        FIRE_IN_AS(blob[b], part, f, &x);
        in->x[b] = (const T *)x;
        in->c[b] = coeff != NULL ? coeff[b] : 1.0f;
    }
    return FIRE_OK;
}

template <typename T>
static fire_status_t combine_blobs(fire_layer_t *l, fire_eltwise_op_t op,
                                   const fire_format_t *f, fire_part_t part, int n,
                                   fire_blob_t *const *from, const float *coeff,
                                   fire_blob_t *to)
{
    inputs<T> in;
    void     *y;

    FIRE_TRY(gather(f, part, n, from, coeff, &in));
    FIRE_OUT_AS(to, part, f, &y);
    return run(l->ctx->stream, op, part == FIRE_DATA && l->fusion.nfollower > 0,
               fire_blob_count(to), in, (T *)y);
}

static fire_status_t eltwise_cuda_forward(fire_layer_t *l)
{
    const fire_eltwise_t *s = (const fire_eltwise_t *)l->state;
    fire_format_t         f = fire_gpu_format_of(l->bottom[0], FIRE_DATA);

    FIRE_WITH_TYPE(f.dtype, T,
                   return combine_blobs<T>(l, s->op, &f, FIRE_DATA, l->nbottom,
                                           l->bottom, fire_eltwise_coeffs(s),
                                           l->top[0]))
    return FIRE_OK;
}

fire_status_t fire_split_cuda_backward(fire_layer_t *l)
{
    fire_format_t f = fire_gpu_format_of(l->top[0], FIRE_DIFF);

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_WITH_TYPE(f.dtype, T,
                   return combine_blobs<T>(l, FIRE_ELTWISE(SUM), &f, FIRE_DIFF, l->ntop,
                                           l->top, NULL, l->bottom[0]))
    return FIRE_OK;
}

/* ---- backward ---- */

static bool eltwise_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return ((const fire_eltwise_t *)l->state)->op == FIRE_ELTWISE(SUM) &&
           l->ctx->lean && l->fusion.nfollower == 0 && fire_is_plain_relu(next);
}

static unsigned eltwise_cuda_backward_reads(const fire_layer_t *l)
{
    if (((const fire_eltwise_t *)l->state)->op != FIRE_ELTWISE(SUM))
        return FIRE_READS_BOTTOM | FIRE_READS_TOP;
    return l->fusion.nfollower > 0 ? FIRE_READS_TOP : 0;
}

template <typename T> struct outputs {
    int   n;
    T    *dx[MOST];
    float c[MOST];
};

/* The gradients of all bottoms of a sum in one pass over dy; y NULL: no ReLU
 * follows. */
template <typename T>
__global__ static void spread(int64_t n, const T *dy, const T *y, const outputs<T> out)
{
    FIRE_GRID_STRIDE (i, n) {
        float d = y == NULL || (float)y[i] > 0 ? (float)dy[i] : 0.0f;

        for (int b = 0; b < out.n; b++)
            out.dx[b][i] = (T)(out.c[b] * d);
    }
}

template <typename T>
__global__ static void spread_vectors(int64_t n, const T *dy, const T *y,
                                      const outputs<T> out)
{
    FIRE_GRID_STRIDE (i, n) {
        fire_vector<T> d = fire_load(dy, i), to;

        if (y != NULL) {
            fire_vector<T> v = fire_load(y, i);

#pragma unroll
            for (int k = 0; k < fire_vector<T>::N; k++)
                if (!((float)v.v[k] > 0)) d.v[k] = (T)0.0f;
        }
        for (int b = 0; b < out.n; b++) {
#pragma unroll
            for (int k = 0; k < fire_vector<T>::N; k++)
                to.v[k] = (T)(out.c[b] * (float)d.v[k]);
            reinterpret_cast<fire_vector<T> *>(out.dx[b])[i] = to;
        }
    }
}

template <typename T>
static fire_status_t backward_sum(fire_layer_t *l, const fire_format_t *f, const T *dy)
{
    const float *c       = fire_eltwise_coeffs((const fire_eltwise_t *)l->state);
    int64_t      n       = fire_blob_count(l->top[0]);
    bool         aligned = fire_is_aligned(dy) && n % fire_vector<T>::N == 0;
    outputs<T>   out     = {};
    void        *y       = NULL, *dx;

    if (l->fusion.nfollower > 0) FIRE_IN_AS(l->top[0], FIRE_DATA, f, &y);
    for (int b = 0; b < l->nbottom; b++) {
        if (!l->propagate_down[b]) continue;
        FIRE_OUT_AS(l->bottom[b], FIRE_DIFF, f, &dx);
        aligned         = aligned && fire_is_aligned(dx);
        out.c[out.n]    = c != NULL ? c[b] : 1.0f;
        out.dx[out.n++] = (T *)dx;
    }
    if (!aligned || !fire_is_aligned(y))
        return FIRE_LAUNCH(l->ctx->stream, n, spread<T>, n, dy, (const T *)y, out);
    n /= fire_vector<T>::N;
    return FIRE_LAUNCH(l->ctx->stream, n, spread_vectors<T>, n, dy, (const T *)y, out);
}

/* dx of bottom `which`. PROD: dy times the other bottoms; MAX: dy where it won, else
 * 0. */
template <typename T, bool MAX, bool STABLE>
__global__ static void share(int64_t n, const inputs<T> in, int which, const T *y,
                             const T *dy, T *dx)
{
    FIRE_GRID_STRIDE (i, n) {
        float x[MOST], d = (float)dy[i], others = 1.0f;

        for (int b = 0; b < in.n; b++)
            x[b] = (float)in.x[b][i];
        for (int b = 0; STABLE && b < in.n; b++)
            if (b != which) others *= x[b];
        if (MAX)
            dx[i] = (T)(winner(in, x) == which ? d : 0.0f);
        else
            dx[i] = (T)((STABLE ? others : (float)y[i] / x[which]) * d);
    }
}

template <typename T>
static fire_status_t backward_to(fire_layer_t *l, const fire_format_t *f, int b,
                                 const T *dy)
{
    const fire_eltwise_t *s = (const fire_eltwise_t *)l->state;
    int64_t               n = fire_blob_count(l->top[0]);
    inputs<T>             in;
    void                 *y, *dx;

    FIRE_TRY(gather<T>(f, FIRE_DATA, l->nbottom, l->bottom, NULL, &in));
    FIRE_IN_AS(l->top[0], FIRE_DATA, f, &y);
    FIRE_OUT_AS(l->bottom[b], FIRE_DIFF, f, &dx);
    if (s->op == FIRE_ELTWISE(MAX))
        return FIRE_LAUNCH(l->ctx->stream, n, (share<T, true, false>), n, in, b,
                           (const T *)y, dy, (T *)dx);
    if (s->param->stable_prod_grad)
        return FIRE_LAUNCH(l->ctx->stream, n, (share<T, false, true>), n, in, b,
                           (const T *)y, dy, (T *)dx);
    return FIRE_LAUNCH(l->ctx->stream, n, (share<T, false, false>), n, in, b,
                       (const T *)y, dy, (T *)dx);
}

static fire_status_t eltwise_cuda_backward(fire_layer_t *l)
{
    fire_format_t f = fire_gpu_format_of(l->top[0], FIRE_DIFF);
    void         *dy;

    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    if (((const fire_eltwise_t *)l->state)->op == FIRE_ELTWISE(SUM))
        FIRE_WITH_TYPE(f.dtype, T, return backward_sum<T>(l, &f, (const T *)dy))
    for (int b = 0; b < l->nbottom; b++)
        if (l->propagate_down[b])
            FIRE_WITH_TYPE(f.dtype, T,
                           FIRE_TRY(backward_to<T>(l, &f, b, (const T *)dy)))
    return FIRE_OK;
}

static const fire_fusion_ops_t eltwise_cuda_fusion = {eltwise_cuda_absorbs,
                                                      eltwise_cuda_backward_reads};

extern "C" const fire_kernel_t fire_eltwise_cuda = {"cuda",
                                                    FIRE_GPU,
                                                    eltwise_cuda_forward,
                                                    eltwise_cuda_backward,
                                                    fire_eltwise_declines,
                                                    NULL,
                                                    NULL,
                                                    &eltwise_cuda_fusion};
