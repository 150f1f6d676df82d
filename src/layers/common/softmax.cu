/* softmax.cu - Softmax and SoftmaxWithLoss on the GPU. Scores come in the net's precision;
 * probabilities, losses and sums are float32. A label that is no class makes the loss
 * NaN, and is an error where the host waits next. */
#include <float.h>

#include "device/cuda/kernel/block.h"
#include "layers/kernels.h"
#include "layers/loss/labels.h"
#include "layers/layer_cuda.h"
#include "layers/loss/softmax_loss.h"

enum { WIDE = 256 }; /* classes from which on a row takes a whole block */

typedef struct view {
    int64_t outer, inner;
    int     classes;
} view_t;

/* Losses at all places, if `label` is there. */
typedef struct targets {
    const float  *label;
    fire_labels_t labels;
    float        *loss, *valid; /* [outer * inner] */
} targets_t;

__device__ static void judge(const targets_t &t, int64_t place, int classes,
                             const float *prob, int64_t step)
{
    int c = fire_label_class(t.labels, t.label[place], classes);

    t.valid[place] = c == FIRE_LABEL_IGNORED ? 0.0f : 1.0f;
    t.loss[place]  = c == FIRE_LABEL_IGNORED ? 0.0f
                     : c == FIRE_LABEL_WRONG ? NAN
                                             : -logf(fmaxf(prob[c * step], FLT_MIN));
}

/* inner is 1: THREADS neighbours share a row. */
template <int THREADS, typename T, typename P>
__global__ static void rows(view_t v, const T *x, P *y, targets_t t)
{
    int64_t row  = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / THREADS;
    int     me   = threadIdx.x % THREADS;
    bool    mine = row < v.outer; /* all threads of a block take part in sums */
    float   most = -FLT_MAX, sum = 0;

    x += row * v.classes;
    y += row * v.classes;
    for (int c = me; mine && c < v.classes; c += THREADS)
        most = fmaxf(most, (float)x[c]);
    most = fire_reduce<THREADS, fire_greatest>(most);
    for (int c = me; mine && c < v.classes; c += THREADS)
        sum += expf((float)x[c] - most);
    sum = fire_reduce<THREADS, fire_plus>(sum);
    for (int c = me; mine && c < v.classes; c += THREADS)
        y[c] = (P)(expf((float)x[c] - most) / sum);
    if (!mine || t.label == NULL) return;
    int truth = fire_label_class(t.labels, t.label[row], v.classes);

    if (truth >= 0 ? truth % THREADS == me : me == 0)
        judge(t, row, v.classes, (const float *)(const void *)y, 1);
}

/* A thread for each place. */
template <typename T, typename P>
__global__ static void places(view_t v, const T *x, P *y, targets_t t)
{
    FIRE_GRID_STRIDE (i, v.outer * v.inner) {
        int64_t at   = i / v.inner * v.classes * v.inner + i % v.inner;
        float   most = -FLT_MAX, sum = 0;

        for (int c = 0; c < v.classes; c++)
            most = fmaxf(most, (float)x[at + c * v.inner]);
        for (int c = 0; c < v.classes; c++)
            sum += expf((float)x[at + c * v.inner] - most);
        for (int c = 0; c < v.classes; c++)
            y[at + c * v.inner] = (P)(expf((float)x[at + c * v.inner] - most) / sum);
        if (t.label != NULL)
            judge(t, i, v.classes, (const float *)(const void *)(y + at), v.inner);
    }
}

template <typename T, typename P>
static fire_status_t softmax(fire_stream_t *s, view_t v, const T *x, P *y, targets_t t)
{
    int64_t  per_block = v.classes >= WIDE ? 1 : FIRE_CUDA_BLOCK / 32;
    unsigned blocks    = (unsigned)((v.outer + per_block - 1) / per_block);

    if (v.outer * v.inner * v.classes == 0) return FIRE_OK;
    if (v.inner > 1)
        return FIRE_LAUNCH(s, v.outer * v.inner, (places<T, P>), v, x, y, t);
    if (v.classes >= WIDE)
        return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK,
                                (rows<FIRE_CUDA_BLOCK, T, P>), v, x, y, t);
    return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK, (rows<32, T, P>), v, x, y, t);
}

/* A single pixel lies the same in all layouts. */
static fire_format_t format_of(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];
    fire_format_t      f = fire_gpu_format(l, x);

    if (f.layout == FIRE_NHWC && x->dim[2] * x->dim[3] > 1) f.layout = FIRE_PLAIN;
    return f;
}

static view_t view_of(const fire_softmax_t *m)
{
    return view_t{m->outer, m->inner, (int)m->classes};
}

/* ---- Softmax ---- */

fire_status_t fire_softmax_cuda_forward(fire_layer_t *l)
{
    const fire_softmax_t *m = (const fire_softmax_t *)l->state;
    fire_format_t         f = format_of(l);
    void                 *x, *y;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_OUT_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_WITH_TYPE(
        f.dtype, T,
        return softmax(l->ctx->stream, view_of(m), (const T *)x, (T *)y, targets_t{}))
    return FIRE_OK;
}

/* dx = (dy - sum(dy * y)) * y */
template <typename T>
__global__ static void softmax_back(view_t v, const T *y, const T *dy, T *dx)
{
    FIRE_GRID_STRIDE (warp, v.outer * v.inner * 32) {
        int64_t i = warp / 32, at = i / v.inner * v.classes * v.inner + i % v.inner;
        float   dot = 0;

        for (int c = (int)(warp % 32); c < v.classes; c += 32)
            dot += (float)dy[at + c * v.inner] * (float)y[at + c * v.inner];
        dot = fire_reduce<32, fire_plus>(dot);
        for (int c = (int)(warp % 32); c < v.classes; c += 32) {
            int64_t k = at + c * v.inner;

            dx[k] = (T)(((float)dy[k] - dot) * (float)y[k]);
        }
    }
}

fire_status_t fire_softmax_cuda_backward(fire_layer_t *l)
{
    const fire_softmax_t *m = (const fire_softmax_t *)l->state;
    fire_format_t         f = format_of(l);
    int64_t               n = m->outer * m->inner * 32;
    void                 *y, *dy, *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN_AS(l->top[0], FIRE_DATA, &f, &y);
    FIRE_IN_AS(l->top[0], FIRE_DIFF, &f, &dy);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_WITH_TYPE(f.dtype, T,
                   return FIRE_LAUNCH(l->ctx->stream, n, softmax_back<T>, view_of(m),
                                      (const T *)y, (const T *)dy, (T *)dx))
    return FIRE_OK;
}

/* ---- SoftmaxWithLoss ---- */

/* One block adds the losses up; *norm is what they are divided by. */
__global__ static void total(int64_t places, float fixed, const float *loss,
                             const float *valid, float *norm, float *top)
{
    float sum = 0, n = 0;

    for (int64_t i = threadIdx.x; i < places; i += blockDim.x) {
        sum += loss[i];
        n += valid[i];
    }
    sum = fire_block_sum(sum);
    n   = fire_block_sum(n);
    if (fixed > 0) n = fixed;
    if (n < 1) n = 1;
    if (threadIdx.x != 0) return;
    *norm = n;
    *top  = sum / n;
}

/* The normalizer, or 0 where it is the number of valid labels. */
static float fixed_norm(const fire_softmax_loss_t *s)
{
    if (s->loss.mode == CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID) return 0;
    return fire_loss_normalizer(&s->loss, s->softmax.outer, s->softmax.inner, 0);
}

fire_status_t fire_softmax_loss_cuda_forward(fire_layer_t *l)
{
    const fire_softmax_loss_t *s = (const fire_softmax_loss_t *)l->state;
    fire_format_t              f = format_of(l);
    int64_t                    n = s->softmax.outer * s->softmax.inner;
    targets_t                  t = {};
    float                     *prob, *top, *norm;
    void                      *x;

    FIRE_TRY(fire_gpu_keep(l, (size_t)(2 * n + 1) * sizeof(float)));
    norm     = (float *)fire_gpu_kept(l);
    t.loss   = norm + 1;
    t.valid  = t.loss + n;
    t.labels = fire_labels_t{s->loss.has_ignore, s->loss.ignore,
                             fire_cuda_make_reporter(l->ctx->stream)};
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &t.label);
    FIRE_OUT(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_WITH_TYPE(
        f.dtype, T,
        FIRE_TRY(softmax(l->ctx->stream, view_of(&s->softmax), (const T *)x, prob, t)))
    return FIRE_LAUNCH_GRID(l->ctx->stream, 1, FIRE_CUDA_BLOCK, total, n, fixed_norm(s),
                            t.loss, t.valid, norm, top);
}

template <typename T>
__global__ static void loss_back(view_t v, fire_labels_t labels, const float *prob,
                                 const float *label, const float *weight,
                                 const float *norm, T *dx)
{
    float scale = *weight / *norm;

    FIRE_GRID_STRIDE (i, v.outer * v.classes * v.inner) {
        int64_t above = i / v.inner, place = above / v.classes * v.inner + i % v.inner;
        int     c     = (int)(above % v.classes);
        int     truth = fire_label_class(labels, label[place], v.classes);
        float   d     = prob[i] - (c == truth ? 1.0f : 0.0f);

        dx[i] = (T)(truth == FIRE_LABEL_IGNORED ? 0.0f : d * scale);
    }
}

fire_status_t fire_softmax_loss_cuda_backward(fire_layer_t *l)
{
    const fire_softmax_loss_t *s      = (const fire_softmax_loss_t *)l->state;
    const float               *norm   = (const float *)fire_gpu_kept(l);
    fire_labels_t              labels = {s->loss.has_ignore, s->loss.ignore, {}};
    fire_format_t              f      = format_of(l);
    int64_t                    n      = fire_blob_count(l->bottom[0]);
    const float               *prob, *label, *weight;
    void                      *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, s->prob, FIRE_DATA, &prob);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &weight);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    FIRE_WITH_TYPE(f.dtype, T,
                   return FIRE_LAUNCH(l->ctx->stream, n, loss_back<T>,
                                      view_of(&s->softmax), labels, prob, label, weight,
                                      norm, (T *)dx))
    return FIRE_OK;
}
