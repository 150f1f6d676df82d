/* pad.c - adds elements in front of and behind axes: constants, what lies opposite
 * (REFLECT), the outermost (EDGE), or what comes around from the other end (WRAP). A
 * negative number cuts elements off.
 *
 * The bottom is (items, from, block), the top (items, to, block): `from` and `to` span
 * the axes that are padded. */
#include "layers/shape/pad.h"

#include <string.h>

#include "base/alloc.h"
#include "device/cpu/blas.h"
#include "layers/memory_cuda.h"

typedef struct pad {
    fire_pad_t sizes;
    int64_t    cap;
    /* source[to], first[from + 1], place[to]: see fire_pad_t */
    int64_t *table;
} pad_t;

/* The element of the bottom's axis, of n, at place i of it; -1: none. */
static int64_t source_of(int64_t i, int64_t n, Caffe__PadParameter__Mode mode)
{
    int64_t turn = 2 * (n - 1);

    if (i >= 0 && i < n) return i;
    switch (mode) {
    case CAFFE__PAD_PARAMETER__MODE__REFLECT:
        if (turn == 0) return 0;
        i = (i % turn + turn) % turn;
        return i < n ? i : turn - i;
    case CAFFE__PAD_PARAMETER__MODE__EDGE:
        return i < 0 ? 0 : n - 1;
    case CAFFE__PAD_PARAMETER__MODE__WRAP:
        return (i % n + n) % n;
    default:
        return -1;
    }
}

/* Fill begin[] and the top's shape for all axes. */
static fire_status_t read_axes(const fire_layer_t *l, int64_t *begin, int64_t *dim)
{
    const Caffe__PadParameter *p = FIRE_PARAM(l, pad_param, CAFFE__PAD_PARAMETER__INIT);
    const fire_blob_t         *x = l->bottom[0];
    int                        axis;

    FIRE_TRY(fire_blob_axis(x, p->axis, "pad_param", &axis));
    if (p->n_begin != p->n_end || p->n_begin > (size_t)(x->ndim - axis))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu numbers of begin and %zu of end for the %d axes from "
                         "axis %d on",
                         p->n_begin, p->n_end, x->ndim - axis, axis);
    for (int i = 0; i < x->ndim; i++) {
        int     k     = i - axis;
        bool    named = k >= 0 && k < (int)p->n_begin;
        int64_t end   = named ? p->end[k] : 0;

        begin[i] = named ? p->begin[k] : 0;
        dim[i]   = x->dim[i] + begin[i] + end;
        if (dim[i] < 1 || -begin[i] >= x->dim[i] || -end >= x->dim[i])
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "nothing is left of the %lld elements of axis %d",
                             (long long)x->dim[i], i);
    }
    return FIRE_OK;
}

/* Sources of all places of the axes [first, end), then for each element the places that
 * it goes to, in order. */
static void fill(pad_t *s, const fire_layer_t *l, const int64_t *begin, int first,
                 int end)
{
    const Caffe__PadParameter *p = FIRE_PARAM(l, pad_param, CAFFE__PAD_PARAMETER__INIT);
    const int64_t             *n = l->bottom[0]->dim, *m = l->top[0]->dim;
    int64_t                   *source = s->table, *head = source + s->sizes.to,
            *place = head + s->sizes.from + 1;

    memset(head, 0, (size_t)(s->sizes.from + 1) * sizeof(*head));
    for (int64_t j = 0; j < s->sizes.to; j++) {
        int64_t rest = j, step = 1, at = 0;

        for (int i = end - 1; i >= first && at >= 0; i--) {
            int64_t k = source_of(rest % m[i] - begin[i], n[i], p->mode);

            at = k < 0 ? -1 : at + k * step;
            step *= n[i];
            rest /= m[i];
        }
        source[j] = at;
        if (at >= 0) head[at + 1]++;
    }
    for (int64_t i = 0; i < s->sizes.from; i++)
        head[i + 1] += head[i];
    for (int64_t j = 0; j < s->sizes.to; j++)
        if (source[j] >= 0) place[head[source[j]]++] = j;
    for (int64_t i = s->sizes.from; i > 0; i--) /* ends are beginnings again */
        head[i] = head[i - 1];
    head[0] = 0;
}

static fire_status_t pad_reshape(fire_layer_t *l)
{
    const Caffe__PadParameter *p = FIRE_PARAM(l, pad_param, CAFFE__PAD_PARAMETER__INIT);
    pad_t                     *s = FIRE_STATE(l, pad_t);
    const fire_blob_t         *x = l->bottom[0];
    fire_blob_t               *y = l->top[0];
    int64_t                    begin[FIRE_MAX_DIMS], dim[FIRE_MAX_DIMS];
    int                        first = 0, end = x->ndim;

    FIRE_TRY(read_axes(l, begin, dim));
    FIRE_TRY(fire_blob_reshape(y, x->ndim, dim));
    while (first < end && begin[first] == 0 && dim[first] == x->dim[first])
        first++;
    while (end > first && begin[end - 1] == 0 && dim[end - 1] == x->dim[end - 1])
        end--;
    s->sizes = (fire_pad_t){.items = fire_blob_count_range(x, 0, first),
                            .from  = fire_blob_count_range(x, first, end),
                            .to    = fire_blob_count_range(y, first, end),
                            .block = fire_blob_count_range(x, end, x->ndim),
                            .value = p->value};
    FIRE_TRY(fire_grow(&s->table, &s->cap, 2 * s->sizes.to + s->sizes.from + 1,
                       sizeof(*s->table)));
    fill(s, l, begin, first, end);
    return FIRE_OK;
}

static void pad_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, pad_t)->table);
}

/* On a GPU: copy the table there. */
static fire_status_t pad_prepare(fire_layer_t *l)
{
    const pad_t *s     = FIRE_STATE(l, pad_t);
    size_t       count = (size_t)(2 * s->sizes.to + s->sizes.from + 1);

    FIRE_IF_GPU(l, fire_gpu_keep_copy(l, s->table, count * sizeof(*s->table)));
    return FIRE_OK;
}

static fire_status_t pad_forward(fire_layer_t *l)
{
    const pad_t      *s = FIRE_STATE(l, pad_t);
    const fire_pad_t *z = &s->sizes;
    const float      *x;
    float            *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_pad(l->ctx->stream, z, fire_gpu_kept(l), x, y));
    for (int64_t i = 0; i < z->items; i++, x += z->from * z->block)
        for (int64_t j = 0; j < z->to; j++, y += z->block) {
            if (s->table[j] >= 0)
                fire_copy(z->block, x + s->table[j] * z->block, y);
            else
                for (int64_t b = 0; b < z->block; b++)
                    y[b] = z->value;
        }
    return FIRE_OK;
}

static fire_status_t pad_backward(fire_layer_t *l)
{
    const pad_t      *s = FIRE_STATE(l, pad_t);
    const fire_pad_t *z = &s->sizes;
    const float      *dy;
    float            *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_pad_back(l->ctx->stream, z, fire_gpu_kept(l), dy, dx));
    memset(dx, 0, (size_t)fire_blob_count(l->bottom[0]) * sizeof(*dx));
    for (int64_t i = 0; i < z->items; i++, dx += z->from * z->block)
        for (int64_t j = 0; j < z->to; j++, dy += z->block)
            if (s->table[j] >= 0)
                fire_axpy(z->block, 1.0f, dy, dx + s->table[j] * z->block);
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_pad_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = pad_prepare,
    .forward  = pad_forward,
    .backward = pad_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_pad_ref = {
    .name     = "ref",
    .prepare  = pad_prepare,
    .forward  = pad_forward,
    .backward = pad_backward,
};

static const fire_kernel_t *const pad_kernels[] = {
    FIRE_IF_CUDA(fire_pad_cuda) &fire_pad_ref, NULL};

const fire_layer_ops_t fire_layer_pad = {
    .type       = "Pad",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(pad_t),
    .reshape    = pad_reshape,
    .teardown   = pad_teardown,
    .kernels    = pad_kernels,
};
