/* softmax_loss.cu - SoftmaxWithLoss on the GPU. */
#include "layers/common/softmax_cuda.h"
#include "layers/loss/softmax_loss.h"

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

/* A thread per place: its loss, and whether it counts. */
__global__ static void judge_general(fire_softmax_rule_t r, fire_labels_t labels,
                                     int64_t places, const float *prob, float *loss,
                                     float *valid)
{
    FIRE_GRID_STRIDE (i, places) {
        int64_t at  = i / r.inner * r.classes * r.inner + i % r.inner;
        int     c   = r.soft ? 0 : fire_label_class(labels, r.label[i], (int)r.classes);
        float   sum = c == FIRE_LABEL_WRONG ? NAN : 0.0f;

        for (int64_t k = 0; k < r.classes && c >= 0; k++)
            sum -= fire_softmax_target(&r, i, c, k) *
                   logf(fmaxf(prob[at + k * r.inner], FLT_MIN));
        loss[i]  = sum;
        valid[i] = c == FIRE_LABEL_IGNORED ? 0.0f : 1.0f;
    }
}

template <typename T>
__global__ static void back_general(fire_softmax_rule_t r, fire_labels_t labels,
                                    int64_t places, const float *prob,
                                    const float *weight, const float *norm, T *dx)
{
    float scale = *weight / *norm;

    FIRE_GRID_STRIDE (i, places) {
        int64_t at  = i / r.inner * r.classes * r.inner + i % r.inner;
        int     c   = r.soft ? 0 : fire_label_class(labels, r.label[i], (int)r.classes);
        float   sum = 0;

        for (int64_t k = 0; k < r.classes && c >= 0; k++)
            sum += fire_softmax_target(&r, i, c, k);
        for (int64_t k = 0; k < r.classes; k++, at += r.inner)
            dx[at] = (T)(c < 0 ? 0.0f
                               : (prob[at] * sum - fire_softmax_target(&r, i, c, k)) *
                                     scale);
    }
}

static fire_status_t softmax_loss_cuda_forward(fire_layer_t *l)
{
    const fire_softmax_loss_t *s = (const fire_softmax_loss_t *)l->state;
    fire_format_t              f = fire_softmax_format(l);
    int64_t                    n = s->softmax.outer * s->softmax.inner;
    fire_softmax_targets_t     t = {};
    float                     *prob, *top, *norm, *each;
    void                      *x;
    fire_softmax_rule_t        r;

    FIRE_TRY(fire_gpu_keep(l, (size_t)(2 * n + 1) * sizeof(float)));
    norm     = (float *)fire_gpu_kept(l);
    t.loss   = norm + 1;
    t.valid  = t.loss + n;
    t.labels = fire_labels_t{s->loss.has_ignore, s->loss.ignore,
                             fire_cuda_make_reporter(l->ctx->stream)};
    FIRE_IN_AS(l->bottom[0], FIRE_DATA, &f, &x);
    if (!s->general) FIRE_IN(l, l->bottom[1], FIRE_DATA, &t.label);
    FIRE_OUT(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_WITH_TYPE(
        f.dtype, T,
        FIRE_TRY(fire_softmax_run(l->ctx->stream, fire_softmax_view(&s->softmax),
                                  (const T *)x, prob, t)))
    if (s->general) {
        FIRE_TRY(fire_softmax_loss_rule(l, &r));
        FIRE_TRY(FIRE_LAUNCH(l->ctx->stream, n, judge_general, r, t.labels, n, prob,
                             t.loss, t.valid));
    }
    if (l->ntop > 2) {
        FIRE_OUT(l, l->top[2], FIRE_DATA, &each);
        FIRE_TRY(
            fire_device_find(FIRE_GPU)->copy(each, t.loss, (size_t)n * sizeof(float)));
    }
    return FIRE_LAUNCH_GRID(l->ctx->stream, 1, FIRE_CUDA_BLOCK, total, n, fixed_norm(s),
                            t.loss, t.valid, norm, top);
}

template <typename T>
__global__ static void loss_back(fire_softmax_view_t v, fire_labels_t labels,
                                 const float *prob, const float *label,
                                 const float *weight, const float *norm, T *dx)
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

static fire_status_t softmax_loss_cuda_backward(fire_layer_t *l)
{
    const fire_softmax_loss_t *s      = (const fire_softmax_loss_t *)l->state;
    const float               *norm   = (const float *)fire_gpu_kept(l);
    fire_labels_t              labels = {s->loss.has_ignore, s->loss.ignore, {}};
    fire_format_t              f      = fire_softmax_format(l);
    int64_t                    n      = fire_blob_count(l->bottom[0]);
    const float               *prob, *label, *weight;
    void                      *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, s->prob, FIRE_DATA, &prob);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &weight);
    FIRE_OUT_AS(l->bottom[0], FIRE_DIFF, &f, &dx);
    if (s->general) {
        fire_softmax_rule_t r;
        int64_t             places = s->softmax.outer * s->softmax.inner;

        FIRE_TRY(fire_softmax_loss_rule(l, &r));
        FIRE_WITH_TYPE(f.dtype, T,
                       return FIRE_LAUNCH(l->ctx->stream, places, back_general<T>, r,
                                          labels, places, prob, weight, norm, (T *)dx))
    }
    FIRE_WITH_TYPE(f.dtype, T,
                   return FIRE_LAUNCH(l->ctx->stream, n, loss_back<T>,
                                      fire_softmax_view(&s->softmax), labels, prob,
                                      label, weight, norm, (T *)dx))
    return FIRE_OK;
}

/* The losses of all places, and what their sum is divided by, stay in kernel_state. */
extern "C" const fire_kernel_t fire_softmax_loss_cuda = {
    "cuda", FIRE_GPU, softmax_loss_cuda_forward, softmax_loss_cuda_backward,
    NULL,   NULL,     fire_gpu_release};
