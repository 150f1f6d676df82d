/* taps.c - tables of weights along two axes, and the layers' kernels that apply them. */
#include "layers/vision/resample/taps.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/parallel.h"
#include "layers/memory_cuda.h"

static fire_status_t append(fire_taps_t *t, int32_t word)
{
    FIRE_TRY(fire_grow(&t->words, &t->cap, t->count + 1, sizeof(*t->words)));
    t->words[t->count++] = word;
    return FIRE_OK;
}

static float weight_at(const int32_t *words, int64_t at)
{
    float w;

    memcpy(&w, &words[at], sizeof(w));
    return w;
}

static int32_t bits_of(float w)
{
    int32_t bits;

    memcpy(&bits, &w, sizeof(bits));
    return bits;
}

/* Input places of result i that have a weight: *low_p ... *high_p; the sum of weights. */
static float reach(const fire_taps_t *t, const fire_tap_rule_t *r, int axis, int64_t i,
                   int64_t *low_p, int64_t *high_p)
{
    float   centre = r->centre(r->arg, axis, i), sum = 0.0f;
    int64_t middle = (int64_t)roundf(centre);

    *low_p  = middle - r->radius[axis];
    *high_p = middle + r->radius[axis];
    if (*low_p < 0) *low_p = 0;
    if (*high_p > t->in[axis] - 1) *high_p = t->in[axis] - 1;
    for (int64_t k = *low_p; k <= *high_p; k++)
        sum += r->weight(r->arg, axis, centre - (float)k);
    return sum;
}

/* Make a table of `n` elements: their numbers of entries, then places and weights, for
 * which room is made here. */
static fire_status_t begin_table(fire_taps_t *t, fire_tap_table_t *table, int64_t n,
                                 int64_t entries)
{
    table->first  = t->count;
    table->index  = table->first + n + 1;
    table->weight = table->index + entries;
    for (int64_t i = 0; i < n + 1 + 2 * entries; i++)
        FIRE_TRY(append(t, 0));
    return FIRE_OK;
}

static fire_status_t fill_from(fire_taps_t *t, const fire_tap_rule_t *r, int axis)
{
    fire_tap_table_t *table   = &t->from[axis];
    int64_t           entries = 0, low, high, at = 0;

    for (int64_t i = 0; i < t->out[axis]; i++) {
        reach(t, r, axis, i, &low, &high);
        entries += high >= low ? high - low + 1 : 0;
    }
    FIRE_TRY(begin_table(t, table, t->out[axis], entries));
    for (int64_t i = 0; i < t->out[axis]; i++) {
        float sum    = reach(t, r, axis, i, &low, &high);
        float centre = r->centre(r->arg, axis, i);

        for (int64_t k = low; k <= high; k++, at++) {
            float w =
                sum != 0.0f ? r->weight(r->arg, axis, centre - (float)k) / sum : 0;

            t->words[table->index + at]  = (int32_t)k;
            t->words[table->weight + at] = bits_of(w);
        }
        t->words[table->first + i + 1] = (int32_t)at;
    }
    return FIRE_OK;
}

/* The same entries, sorted by the input's elements; in each by the result's. */
static fire_status_t fill_back(fire_taps_t *t, int axis)
{
    fire_tap_table_t *from = &t->from[axis], *back = &t->back[axis];
    int64_t           n       = t->in[axis];
    int64_t           entries = t->words[from->first + t->out[axis]];
    int32_t          *first;

    FIRE_TRY(begin_table(t, back, n, entries));
    first = t->words + back->first;
    for (int64_t k = 0; k < entries; k++)
        first[t->words[from->index + k] + 1]++;
    for (int64_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    for (int64_t o = 0; o < t->out[axis]; o++)
        for (int64_t k = t->words[from->first + o]; k < t->words[from->first + o + 1];
             k++) {
            int32_t at = first[t->words[from->index + k]]++;

            t->words[back->index + at]  = (int32_t)o;
            t->words[back->weight + at] = t->words[from->weight + k];
        }
    for (int64_t i = n; i > 0; i--) /* ends are beginnings again */
        first[i] = first[i - 1];
    first[0] = 0;
    return FIRE_OK;
}

fire_status_t fire_taps_fill(fire_taps_t *t, const fire_tap_rule_t *rule)
{
    t->count = 0;
    for (int axis = 0; axis < 2; axis++) {
        FIRE_TRY(fill_from(t, rule, axis));
        FIRE_TRY(fill_back(t, axis));
    }
    return FIRE_OK;
}

void fire_taps_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, fire_taps_t)->words);
}

/* On a GPU: copy the tables there. */
static fire_status_t taps_prepare(fire_layer_t *l)
{
    const fire_taps_t *t = FIRE_STATE(l, fire_taps_t);

    FIRE_IF_GPU(l,
                fire_gpu_keep_copy(l, t->words, (size_t)t->count * sizeof(*t->words)));
    return FIRE_OK;
}

/* Element (h, w) of a plane of `to`, from a plane x of rows of `width`. */
static float mix(const int32_t *words, const fire_tap_table_t table[2], int64_t h,
                 int64_t w, int64_t width, const float *x)
{
    const int32_t *rows = words + table[0].first, *columns = words + table[1].first;
    float          sum = 0.0f;

    for (int64_t i = rows[h]; i < rows[h + 1]; i++) {
        const float *row  = x + words[table[0].index + i] * width;
        float        part = 0.0f;

        for (int64_t k = columns[w]; k < columns[w + 1]; k++)
            part +=
                weight_at(words, table[1].weight + k) * row[words[table[1].index + k]];
        sum += weight_at(words, table[0].weight + i) * part;
    }
    return sum;
}

static void apply(const fire_taps_t *t, bool back, const float *x, float *y)
{
    const fire_tap_table_t *table = back ? t->back : t->from;
    const int64_t          *from = back ? t->out : t->in, *to = back ? t->in : t->out;

    FIRE_PARALLEL(k, t->planes, t->planes * to[0] * to[1] > FIRE_GRAIN)
    for (int64_t i = 0; i < to[0] * to[1]; i++)
        y[k * to[0] * to[1] + i] = mix(t->words, table, i / to[1], i % to[1], from[1],
                                       x + k * from[0] * from[1]);
}

static fire_status_t taps_forward(fire_layer_t *l)
{
    const fire_taps_t *t = FIRE_STATE(l, fire_taps_t);
    const float       *x;
    float             *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_taps(l->ctx->stream, t, fire_gpu_kept(l), false, x, y));
    apply(t, false, x, y);
    return FIRE_OK;
}

static fire_status_t taps_backward(fire_layer_t *l)
{
    const fire_taps_t *t = FIRE_STATE(l, fire_taps_t);
    const float       *dy;
    float             *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_taps(l->ctx->stream, t, fire_gpu_kept(l), true, dy, dx));
    apply(t, true, dy, dx);
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_taps_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = taps_prepare,
    .forward  = taps_forward,
    .backward = taps_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_taps_ref = {
    .name     = "ref",
    .prepare  = taps_prepare,
    .forward  = taps_forward,
    .backward = taps_backward,
};

const fire_kernel_t *const fire_taps_kernels[] = {
    FIRE_IF_CUDA(fire_taps_cuda) &fire_taps_ref, NULL};
