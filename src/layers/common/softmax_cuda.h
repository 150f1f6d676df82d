/* softmax_cuda.h - the softmax on the GPU, for the layer and for SoftmaxWithLoss.
 * Scores are in the net's precision; sums, and the probabilities and losses of
 * SoftmaxWithLoss, are float32. A label that is no class makes the loss NaN, and is an
 * error where the host waits next. */
#ifndef FIRE_LAYERS_COMMON_SOFTMAX_CUDA_H
#define FIRE_LAYERS_COMMON_SOFTMAX_CUDA_H
#include <float.h>

#include "device/cuda/kernel/block.h"
#include "layers/common/softmax.h"
#include "layers/layer_cuda.h"
#include "layers/loss/labels.h"

enum {
    FIRE_SOFTMAX_WIDE = 256
}; /* with so many classes, a block per row; else a warp */

typedef struct fire_softmax_view {
    int64_t outer, inner;
    int     classes;
} fire_softmax_view_t;

/* For SoftmaxWithLoss: labels in, losses out; label NULL for Softmax. */
typedef struct fire_softmax_targets {
    const float  *label;
    fire_labels_t labels;
    float        *loss, *valid; /* [outer * inner]; valid: 0 where ignored, else 1 */
} fire_softmax_targets_t;

__device__ static void fire_softmax_judge(const fire_softmax_targets_t &t,
                                          int64_t place, int classes, const float *prob,
                                          int64_t step)
{
    int c = fire_label_class(t.labels, t.label[place], classes);

    t.valid[place] = c == FIRE_LABEL_IGNORED ? 0.0f : 1.0f;
    t.loss[place]  = c == FIRE_LABEL_IGNORED ? 0.0f
                     : c == FIRE_LABEL_WRONG ? NAN
                                             : -logf(fmaxf(prob[c * step], FLT_MIN));
}

/* For inner 1: THREADS neighbouring threads compute a row of `classes`. */
template <int THREADS, typename T, typename P>
__global__ static void fire_softmax_rows(fire_softmax_view_t v, const T *x, P *y,
                                         fire_softmax_targets_t t)
{
    int64_t row  = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / THREADS;
    int     me   = threadIdx.x % THREADS;
    bool    mine = row < v.outer; /* the others only take part in sums */
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
        fire_softmax_judge(t, row, v.classes, (const float *)(const void *)y, 1);
}

/* For inner > 1: one thread computes the classes of one place. */
template <typename T, typename P>
__global__ static void fire_softmax_places(fire_softmax_view_t v, const T *x, P *y,
                                           fire_softmax_targets_t t)
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
            fire_softmax_judge(t, i, v.classes, (const float *)(const void *)(y + at),
                               v.inner);
    }
}

template <typename T, typename P>
static fire_status_t fire_softmax_run(fire_stream_t *s, fire_softmax_view_t v,
                                      const T *x, P *y, fire_softmax_targets_t t)
{
    int64_t  per_block = v.classes >= FIRE_SOFTMAX_WIDE ? 1 : FIRE_CUDA_BLOCK / 32;
    unsigned blocks    = (unsigned)((v.outer + per_block - 1) / per_block);

    if (v.outer * v.inner * v.classes == 0) return FIRE_OK;
    if (v.inner > 1)
        return FIRE_LAUNCH(s, v.outer * v.inner, (fire_softmax_places<T, P>), v, x, y,
                           t);
    if (v.classes >= FIRE_SOFTMAX_WIDE)
        return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK,
                                (fire_softmax_rows<FIRE_CUDA_BLOCK, T, P>), v, x, y, t);
    return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK, (fire_softmax_rows<32, T, P>),
                            v, x, y, t);
}

/* The net's format, but channels first unless there is a single pixel, where both are
 * the same. */
static fire_format_t fire_softmax_format(const fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];
    fire_format_t      f = fire_gpu_format(l, x);

    if (f.layout == FIRE_NHWC && x->dim[2] * x->dim[3] > 1) f.layout = FIRE_PLAIN;
    return f;
}

static fire_softmax_view_t fire_softmax_view(const fire_softmax_t *m)
{
    return fire_softmax_view_t{m->outer, m->inner, (int)m->classes};
}
#endif
