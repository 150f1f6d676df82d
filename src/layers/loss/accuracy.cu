/* accuracy.cu - Accuracy on the GPU: scores are judged in parallel, then one block
 * averages. */
#include "layers/loss/accuracy.h"

#include "device/cuda/kernel/block.h"
#include "layers/loss/labels.h"
#include "layers/layer_cuda.h"

/* The argument of the kernel. */
typedef struct scores {
    int64_t       outer, inner;
    int           classes, top_k;
    fire_labels_t labels;
} scores_t;

/* hit[i] = 1 (right), 0 (wrong) or -1 (ignored). A warp of 32 threads per item. */
template <typename T>
__global__ static void judge(scores_t s, const T *score, const float *label, float *hit)
{
    FIRE_GRID_STRIDE (warp, s.outer * s.inner * 32) {
        int64_t  i      = warp / 32;
        const T *x      = score + i / s.inner * s.classes * s.inner + i % s.inner;
        int      truth  = fire_label_class(s.labels, label[i], s.classes);
        float    better = 0, own;

        own = truth >= 0 ? (float)x[truth * s.inner] : 0.0f;
        for (int c = (int)(warp % 32); c < s.classes; c += 32)
            better += (float)x[c * s.inner] >= own ? 1.0f : 0.0f;
        better = fire_reduce<32, fire_plus>(better) - 1.0f; /* the true class itself */
        if (warp % 32 == 0)
            hit[i] = truth < 0 ? -1.0f : better < (float)s.top_k ? 1.0f : 0.0f;
    }
}

/* One block: the mean over all items that count. */
__global__ static void mean_hit(int64_t n, const float *hit, float *top)
{
    float hits = 0, items = 0;

    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        if (hit[i] >= 0) {
            hits += hit[i];
            items += 1.0f;
        }
    hits  = fire_block_sum(hits);
    items = fire_block_sum(items);
    if (threadIdx.x == 0) *top = items == 0 ? 0.0f : hits / items;
}

/* One thread per class. */
__global__ static void mean_per_class(int64_t n, int classes, const float *hit,
                                      const float *label, float *top)
{
    FIRE_GRID_STRIDE (c, classes) {
        float hits = 0, items = 0;

        for (int64_t i = 0; i < n; i++)
            if (hit[i] >= 0 && (int64_t)label[i] == c) {
                hits += hit[i];
                items += 1.0f;
            }
        top[c] = items == 0 ? 0.0f : hits / items;
    }
}

static fire_status_t accuracy_cuda_forward(fire_layer_t *l)
{
    const fire_accuracy_t *s = (const fire_accuracy_t *)l->state;
    fire_stream_t         *q = l->ctx->stream;
    int64_t                n = s->outer * s->inner;
    scores_t               v = {s->outer, s->inner, (int)s->classes, s->top_k,
                                fire_labels_t{s->labels.has_ignore, s->labels.ignore,
                                fire_cuda_make_reporter(q)}};
    fire_format_t          f = {FIRE_GPU, l->ctx->precision, FIRE_PLAIN, NULL};
    const float           *label;
    float                 *top;
    void                  *score, *hit;

    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &score);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_TRY(fire_cuda_scratch(q, (size_t)(n + 1) * sizeof(float), &hit));
    FIRE_WITH_TYPE(f.dtype, T,
                   FIRE_TRY(FIRE_LAUNCH(q, n * 32, judge<T>, v, (const T *)score, label,
                                        (float *)hit)))
    FIRE_TRY(
        FIRE_LAUNCH_GRID(q, 1, FIRE_CUDA_BLOCK, mean_hit, n, (const float *)hit, top));
    if (l->ntop < 2) return FIRE_OK;
    FIRE_OUT(l, l->top[1], FIRE_DATA, &top);
    return FIRE_LAUNCH(q, s->classes, mean_per_class, n, (int)s->classes,
                       (const float *)hit, label, top);
}

extern "C" const fire_kernel_t fire_accuracy_cuda = {"cuda", FIRE_GPU,
                                                     accuracy_cuda_forward};
