/* softmax_loss_simd.c - SoftmaxWithLoss with vectors of 16 floats: along the classes of
 * an item if they are contiguous (inner 1), else along places. Forward makes three
 * passes over an item while it is in the cache. exp is a polynomial with a relative
 * error of 1e-7; results below 1e-37 are 0. */
#include <math.h>
#include <string.h>

#include "device/cpu/parallel.h"
#include "device/cpu/simd.h"
#include "layers/loss/softmax_loss.h"

static const char *softmax_loss_simd_declines(const fire_layer_t *l)
{
    const fire_softmax_t *m = &FIRE_STATE(l, fire_softmax_loss_t)->softmax;

    if (FIRE_STATE(l, fire_softmax_loss_t)->general)
        return "labels are soft, smoothed or weighted";
    if (m->inner == 1 && m->classes < FIRE_LANES) return "there are few classes";
    if (m->inner > 1 && m->inner < FIRE_LANES) return "there are few places";
    return m->outer * m->classes * m->inner == 0 ? "the input is empty" : NULL;
}

/* e^v for v <= 0: 2^n times a polynomial of the remainder, which is at most log(2) /
 * 2. */
FIRE_SIMD fire_vf_t exponential(fire_vf_t v)
{
    /* adding and subtracting it rounds to integers: 1.5 * 2^23 */
    const float lowest = -87.0f, round = 12582912.0f;
    fire_vi_t   below = v < lowest;
    fire_vf_t   shifted, whole, r, p;

    v       = fire_vf_select(below, fire_vf_all(lowest), v);
    shifted = v * 1.44269504f + round;
    whole   = shifted - round;
    r       = v - whole * 0.693359375f + whole * 2.12194440e-4f;
    p       = 1.9875691500e-4f * r + 1.3981999507e-3f;
    p       = p * r + 8.3334519073e-3f;
    p       = p * r + 4.1665795894e-2f;
    p       = p * r + 1.6666665459e-1f;
    p       = p * r + 0.5f;
    p       = p * r * r + r + 1.0f;
    p       = (fire_vf_t)((fire_vi_t)p + ((fire_vi_t)shifted << 23));
    return fire_vf_where(~below, p);
}

/* The larger of each two elements. */
FIRE_SIMD fire_vf_t larger(fire_vf_t a, fire_vf_t b)
{
    return fire_vf_select(a > b, a, b);
}

/* Load n floats, at most 16; the others are `rest`. */
FIRE_SIMD fire_vf_t load_some(const float *x, int64_t n, float rest)
{
    fire_vf_t v = fire_vf_all(rest);

    memcpy(&v, x, (size_t)(n < FIRE_LANES ? n : FIRE_LANES) * sizeof(*x));
    return v;
}

FIRE_SIMD void store_some(float *y, int64_t n, fire_vf_t v)
{
    memcpy(y, &v, (size_t)(n < FIRE_LANES ? n : FIRE_LANES) * sizeof(*y));
}

/* Softmax of n contiguous classes. */
FIRE_SIMD void softmax_row(int64_t n, const float *x, float *y)
{
    fire_vf_t best = fire_vf_all(-INFINITY), sums = {0};
    float     max, sum                            = 0;

    for (int64_t i = 0; i < n; i += FIRE_LANES)
        best = larger(load_some(x + i, n - i, -INFINITY), best);
    max = best[0];
    for (int i = 1; i < FIRE_LANES; i++)
        max = best[i] > max ? best[i] : max;
    for (int64_t i = 0; i < n; i += FIRE_LANES) {
        fire_vf_t e = exponential(load_some(x + i, n - i, -INFINITY) - max);

        store_some(y + i, n - i, e);
        sums += e;
    }
    for (int i = 0; i < FIRE_LANES; i++)
        sum += sums[i];
    for (int64_t i = 0; i < n; i += FIRE_LANES)
        store_some(y + i, n - i, load_some(y + i, n - i, 0) / sum);
}

/* Softmax at 16 places of an item, whose classes are `step` floats apart. */
FIRE_SIMD void softmax_places(int64_t classes, int64_t step, const float *x, float *y)
{
    fire_vf_t best = fire_vf_all(-INFINITY), sum = {0};

    for (int64_t c = 0; c < classes; c++)
        best = larger(fire_vf_load(x, FIRE_F32, FIRE_LANES, c * step), best);
    for (int64_t c = 0; c < classes; c++) {
        fire_vf_t v = fire_vf_load(x, FIRE_F32, FIRE_LANES, c * step) - best;

        v = exponential(v);
        fire_vf_store(y, FIRE_F32, FIRE_LANES, c * step, v);
        sum += v;
    }
    for (int64_t c = 0; c < classes; c++)
        fire_vf_store(y, FIRE_F32, FIRE_LANES, c * step,
                      fire_vf_load(y, FIRE_F32, FIRE_LANES, c * step) / sum);
}

/* Softmax of one item. The last 16 places may overlap those before and get the same
 * values again. */
FIRE_VECTOR static void softmax_item(const fire_softmax_t *m, const float *x, float *y)
{
    if (m->inner == 1) {
        softmax_row(m->classes, x, y);
        return;
    }
    for (int64_t k = 0; k < m->inner; k += FIRE_LANES) {
        int64_t at = k + FIRE_LANES <= m->inner ? k : m->inner - FIRE_LANES;

        softmax_places(m->classes, m->inner, x + at, y + at);
    }
}

/* Items in parallel; the loss itself is summed in ref's order. */
static fire_status_t softmax_loss_simd_forward(fire_layer_t *l)
{
    fire_softmax_loss_t  *s   = l->state;
    const fire_softmax_t *m   = &s->softmax;
    int64_t               dim = m->classes * m->inner;
    const float          *x;
    float                *prob;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, s->prob, FIRE_DATA, &prob);
    FIRE_PARALLEL(i, m->outer, m->outer * dim > FIRE_GRAIN)
    softmax_item(m, x + i * dim, prob + i * dim);
    return fire_softmax_loss_sum(l, prob);
}

/* y = x * by */
FIRE_VECTOR static void scale_row(int64_t n, float by, const float *x, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * by;
}

/* dx = (prob - 1) * weight for the label's class; 0 for all classes where the label is
 * ignored. */
static fire_status_t correct_labels(const fire_softmax_loss_t *s, const float *label,
                                    const float *prob, float weight, float *dx)
{
    const fire_softmax_t *m = &s->softmax;
    int64_t               c;

    for (int64_t i = 0; i < m->outer * m->inner; i++) {
        int64_t at = i / m->inner * m->classes * m->inner + i % m->inner;

        FIRE_TRY(fire_loss_label(&s->loss, label[i], i / m->inner, m->classes, &c));
        if (c != FIRE_LABEL_IGNORED)
            dx[at + c * m->inner] = (prob[at + c * m->inner] - 1.0f) * weight;
        else
            for (c = 0; c < m->classes; c++)
                dx[at + c * m->inner] = 0.0f;
    }
    return FIRE_OK;
}

/* Scale everything in parallel, then correct the classes of the labels. */
static fire_status_t softmax_loss_simd_backward(fire_layer_t *l)
{
    fire_softmax_loss_t *s = l->state;
    int64_t              n = fire_blob_count(l->bottom[0]);
    const float         *prob, *label;
    float               *dx, weight;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_TRY(fire_softmax_loss_weight(l, &weight));
    FIRE_PARALLEL_PIECES(i, n, FIRE_GRAIN)
    scale_row(fire_piece(n, i, FIRE_GRAIN), weight, prob + i, dx + i);
    return correct_labels(s, label, prob, weight, dx);
}

const fire_kernel_t fire_softmax_loss_simd = {
    .name     = "simd",
    .declines = softmax_loss_simd_declines,
    .forward  = softmax_loss_simd_forward,
    .backward = softmax_loss_simd_backward,
};
