/* losses.cu - GPU kernels of losses. Sums are reduced in a fixed
 * order, so results are the same in every run. */
#include "layers/loss/losses.h"

#include "device/cuda/kernel/each.h"
#include "layers/loss/labels.h"
#include "layers/loss/formulas.h"

/* The class of a label, without reporting wrong ones: forward has reported them. */
__device__ static int class_of(float label, int64_t classes)
{
    fire_labels_t any = {};

    return fire_label_class(any, label, (int)classes);
}

/* The rule of a loss for kernels that report wrong labels. */
static fire_labels_t labels_of(fire_stream_t *s, const fire_loss_t &rule)
{
    return fire_labels_t{rule.has_ignore, rule.ignore, fire_cuda_make_reporter(s)};
}

/* fire_loss_normalizer() with `valid` counted on the GPU. */
__device__ static float divisor(const fire_loss_t &loss, int64_t outer, int64_t inner,
                                float valid)
{
    float n = valid;

    if (loss.mode == CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__FULL)
        n = (float)(outer * inner);
    if (loss.mode == CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__BATCH_SIZE)
        n = (float)outer;
    if (loss.mode == CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__NONE) n = 1.0f;
    if (loss.mode == CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__PRE_FIXED)
        n = loss.fixed;
    return fire_max(1.0f, n);
}

/* ---- pairs ---- */

/* The weighted difference of element i. */
__device__ static float difference(const fire_gpu_pair_t &p, int64_t i)
{
    float d = p.a[i] - p.b[i];

    return p.in != NULL ? d * p.in[i] : d;
}

/* The factor of element i in the gradient. */
__device__ static float weight(const fire_gpu_pair_t &p, int64_t i)
{
    float in = p.in != NULL ? p.in[i] : 1.0f;

    return p.out != NULL ? in * p.out[i] : in;
}

fire_status_t fire_gpu_pair_loss(fire_stream_t *s, const fire_gpu_pair_t *pair,
                                 float scale, float *loss)
{
    fire_gpu_pair_t p = *pair;

    return fire_sum_rows<1>(
        s, 1, p.n,
        [=] __device__(int64_t, int64_t i, float *sum) {
            float d = difference(p, i);

            *sum += p.kind == FIRE_PAIR_SQUARE ? d * d
                    : p.kind == FIRE_PAIR_ABS  ? fabsf(d)
                                               : fire_smooth_l1(p.sigma2, d) *
                                                    (p.out != NULL ? p.out[i] : 1.0f);
        },
        [=] __device__(int64_t, const float *sum) { *loss = *sum * scale; });
}

/* A thread per item and place. */
fire_status_t fire_gpu_smooth_rows(fire_stream_t *s, const fire_gpu_pair_t *pair,
                                   int64_t items, int64_t channels, float *row)
{
    fire_gpu_pair_t p     = *pair;
    int64_t         inner = items * channels > 0 ? p.n / (items * channels) : 0;

    return fire_each(s, items * inner, [=] __device__(int64_t i) {
        int64_t first = i / inner * channels * inner + i % inner;
        float   sum   = 0;

        for (int64_t c = 0; c < channels; c++)
            sum += fire_smooth_l1(p.sigma2, difference(p, first + c * inner));
        row[i] = sum;
    });
}

fire_status_t fire_gpu_pair_dx(fire_stream_t *s, const fire_gpu_pair_t *pair,
                               const float *seed, float divisor, float *dx)
{
    fire_gpu_pair_t p = *pair;

    return fire_each(s, p.n, [=] __device__(int64_t i) {
        float d     = difference(p, i);
        float slope = p.kind == FIRE_PAIR_SQUARE ? d
                      : p.kind == FIRE_PAIR_ABS  ? fire_sign(d)
                                                 : fire_smooth_l1_slope(p.sigma2, d);

        dx[i] = *seed / divisor * slope * weight(p, i);
    });
}

/* ---- sigmoid and cross entropy ---- */

__device__ static bool is_ignored(const fire_loss_t &loss, float target)
{
    return loss.has_ignore && (int)target == loss.ignore;
}

/* The target of element i, smoothed. */
__device__ static float smoothed(const fire_gpu_sigmoid_t &g, int64_t i)
{
    return fire_smooth_target(g.rule.smoothing, g.target[i]);
}

__device__ static float weight_of(const fire_gpu_sigmoid_t &g, int64_t i)
{
    return fire_weight_of(g.weights, i, i / g.inner % g.classes);
}

/* Sums: the loss and the number of targets that count. */
fire_status_t fire_gpu_sigmoid_loss(fire_stream_t *s, const fire_gpu_sigmoid_t *sigmoid,
                                    float *normalizer, float *top)
{
    fire_gpu_sigmoid_t g = *sigmoid;

    return fire_sum_rows<2>(
        s, 1, g.n,
        [=] __device__(int64_t, int64_t i, float *sum) {
            if (is_ignored(g.rule, g.target[i])) return;
            sum[0] -= fire_cross_entropy(g.x[i], smoothed(g, i)) * weight_of(g, i);
            sum[1] += 1.0f;
        },
        [=] __device__(int64_t, const float *sum) {
            int64_t inner = g.items > 0 ? g.n / g.items : 0;

            *normalizer = divisor(g.rule, g.items, inner, sum[1]);
            *top        = sum[0] / *normalizer;
        });
}

fire_status_t fire_gpu_sigmoid_dx(fire_stream_t *s, const fire_gpu_sigmoid_t *sigmoid,
                                  const float *seed, const float *normalizer, float *dx)
{
    fire_gpu_sigmoid_t g = *sigmoid;

    return fire_each(s, g.n, [=] __device__(int64_t i) {
        float y = (float)(0.5 * tanh(0.5 * g.x[i]) + 0.5);

        dx[i] = is_ignored(g.rule, g.target[i])
                    ? 0.0f
                    : (y - smoothed(g, i)) * (*seed / *normalizer) * weight_of(g, i);
    });
}

/* ---- classes ---- */

/* max(0, 1 + x), with -x for the true class */
__device__ static float hinge(float x, bool is_true)
{
    return fire_max(0.0f, 1.0f + (is_true ? -x : x));
}

fire_status_t fire_gpu_hinge_loss(fire_stream_t *s, bool squared, int64_t items,
                                  int64_t classes, fire_weights_t w, const float *x,
                                  const float *label, float *top)
{
    fire_labels_t labels = labels_of(s, fire_loss_t());

    return fire_sum_rows<1>(
        s, 1, items * classes,
        [=] __device__(int64_t, int64_t i, float *sum) {
            int   truth = fire_label_class(labels, label[i / classes], (int)classes);
            float m     = hinge(x[i], i % classes == truth);

            *sum += truth == FIRE_LABEL_WRONG
                        ? nanf("")
                        : fire_weight_of(w, i / classes, truth) * (squared ? m * m : m);
        },
        [=] __device__(int64_t, const float *sum) { *top = *sum / (float)items; });
}

fire_status_t fire_gpu_hinge_dx(fire_stream_t *s, bool squared, int64_t items,
                                int64_t classes, const float *seed, float divisor,
                                fire_weights_t w, const float *x, const float *label,
                                float *dx)
{
    return fire_each(s, items * classes, [=] __device__(int64_t i) {
        int   truth   = class_of(label[i / classes], classes);
        bool  is_true = i % classes == truth;
        float m       = hinge(x[i], is_true);
        float by      = truth >= 0 ? fire_weight_of(w, i / classes, truth) : 0.0f;

        if (is_true) m = -m;
        dx[i] = (squared ? m : fire_sign(m)) * (*seed / divisor * by);
    });
}

fire_status_t fire_gpu_multinomial_loss(fire_stream_t *s, int64_t items,
                                        int64_t classes, fire_weights_t w,
                                        const float *p, const float *label, float *top)
{
    fire_labels_t labels = labels_of(s, fire_loss_t());

    return fire_sum_rows<1>(
        s, 1, items,
        [=] __device__(int64_t, int64_t i, float *sum) {
            int truth = fire_label_class(labels, label[i], (int)classes);

            *sum -=
                truth == FIRE_LABEL_WRONG
                    ? nanf("")
                    : logf(fire_max(p[i * classes + truth], FIRE_LEAST_PROBABILITY)) *
                          fire_weight_of(w, i, truth);
        },
        [=] __device__(int64_t, const float *sum) { *top = *sum / (float)items; });
}

fire_status_t fire_gpu_multinomial_dx(fire_stream_t *s, int64_t items, int64_t classes,
                                      const float *seed, float divisor,
                                      fire_weights_t w, const float *p,
                                      const float *label, float *dx)
{
    return fire_each(s, items * classes, [=] __device__(int64_t i) {
        int64_t item = i / classes, truth = class_of(label[item], classes);

        dx[i] = i % classes == truth
                    ? *seed / divisor * fire_weight_of(w, item, truth) /
                          fire_max(p[i], FIRE_LEAST_PROBABILITY)
                    : 0.0f;
    });
}

/* ---- information gain ---- */

/* Softmax of n values, `step` elements apart. */
__device__ static void softmax(int64_t n, int64_t step, const float *x, float *y)
{
    float max = x[0], sum = 0;

    for (int64_t k = 1; k < n; k++)
        max = fire_max(max, x[k * step]);
    for (int64_t k = 0; k < n; k++)
        sum += y[k * step] = expf(x[k * step] - max);
    for (int64_t k = 0; k < n; k++)
        y[k * step] /= sum;
}

/* A thread per place computes softmax and loss of its classes. */
fire_status_t fire_gpu_infogain_loss(fire_stream_t *s, const fire_gpu_infogain_t *gain,
                                     const float *x, float *prob, float *normalizer,
                                     float *top)
{
    fire_gpu_infogain_t g      = *gain;
    fire_labels_t       labels = labels_of(s, g.rule);

    return fire_sum_rows<2>(
        s, 1, g.outer * g.inner,
        [=] __device__(int64_t, int64_t i, float *sum) {
            int64_t at   = i / g.inner * g.classes * g.inner + i % g.inner;
            int     c    = fire_label_class(labels, g.label[i], (int)g.classes);
            float   part = 0;

            softmax(g.classes, g.inner, x + at, prob + at);
            if (c == FIRE_LABEL_IGNORED) return;
            for (int64_t k = 0; k < g.classes && c != FIRE_LABEL_WRONG; k++)
                part -= g.h[c * g.classes + k] *
                        logf(fire_max(prob[at + k * g.inner], FIRE_LEAST_PROBABILITY));
            sum[0] += c == FIRE_LABEL_WRONG ? nanf("")
                                            : part * fire_weight_of(g.weights, i, c);
            sum[1] += 1.0f;
        },
        [=] __device__(int64_t, const float *sum) {
            *normalizer = divisor(g.rule, g.outer, g.inner, sum[1]);
            *top        = sum[0] / *normalizer;
        });
}

fire_status_t fire_gpu_infogain_dx(fire_stream_t *s, const fire_gpu_infogain_t *gain,
                                   const float *seed, const float *prob,
                                   const float *normalizer, float *dx)
{
    fire_gpu_infogain_t g      = *gain;
    fire_labels_t       labels = {g.rule.has_ignore, g.rule.ignore, {}};

    return fire_each(s, g.outer * g.inner, [=] __device__(int64_t i) {
        int64_t at  = i / g.inner * g.classes * g.inner + i % g.inner;
        int     c   = fire_label_class(labels, g.label[i], (int)g.classes);
        float   row = 0, scale = *seed / *normalizer;

        if (c >= 0) scale *= fire_weight_of(g.weights, i, c);
        for (int64_t k = 0; k < g.classes && c >= 0; k++)
            row += g.h[c * g.classes + k];
        for (int64_t k = 0; k < g.classes; k++, at += g.inner)
            dx[at] = c < 0 ? 0.0f : (prob[at] * row - g.h[c * g.classes + k]) * scale;
    });
}

/* ---- contrast, a block for each pair ---- */

/* Squared distance of a pair, computed by the whole block. */
__device__ static float distance(const fire_gpu_contrast_t &c, int64_t item)
{
    float sum = 0;

    for (int64_t j = threadIdx.x; j < c.n; j += blockDim.x) {
        float d = c.a[item * c.n + j] - c.b[item * c.n + j];

        sum += d * d;
    }
    return fire_block_sum(sum);
}

/* One block for all pairs, one after the other. */
__global__ static void contrast_loss(fire_gpu_contrast_t c, float *top)
{
    float loss = 0;

    for (int64_t i = 0; i < c.items; i++) {
        float dist_sq = distance(c, i);
        float gap     = fire_max(fire_contrast_gap(c.margin, c.legacy, dist_sq), 0.0f);

        loss += (int)c.same[i] ? dist_sq : c.legacy ? gap : gap * gap;
    }
    if (threadIdx.x == 0) *top = loss / (float)c.items / 2.0f;
}

/* A block per pair. */
__global__ static void contrast_dx(fire_gpu_contrast_t c, const float *seed,
                                   float divisor, float *dx)
{
    int64_t i       = blockIdx.x;
    float   dist_sq = distance(c, i);
    float factor = fire_contrast_pull(c.margin, c.legacy, dist_sq, (int)c.same[i] != 0,
                                      *seed / divisor);

    for (int64_t j = i * c.n + threadIdx.x; j < (i + 1) * c.n; j += blockDim.x)
        dx[j] = factor == 0.0f ? 0.0f : factor * (c.a[j] - c.b[j]); /* not -0 */
}

fire_status_t fire_gpu_contrast_loss(fire_stream_t *s, const fire_gpu_contrast_t *c,
                                     float *top)
{
    return FIRE_LAUNCH_GRID(s, 1, FIRE_CUDA_BLOCK, contrast_loss, *c, top);
}

fire_status_t fire_gpu_contrast_dx(fire_stream_t *s, const fire_gpu_contrast_t *c,
                                   const float *seed, float divisor, float *dx)
{
    if (c->items == 0) return FIRE_OK;
    return FIRE_LAUNCH_GRID(s, (unsigned)c->items, FIRE_CUDA_BLOCK, contrast_dx, *c,
                            seed, divisor, dx);
}
