/* unpooling.c - Unpooling (DeconvNet, Noh et al. 2015): the opposite of Pooling. Runs on
 * the CPU.
 *
 *   bottom 0: (N, C, H, W)
 *   bottom 1: (N, C, H, W) (optional, MAX) mask: the second top of a MAX Pooling
 *   top 0:    (N, C, H', W')
 *
 * MAX puts each value where the mask points to, or into the first place of its window;
 * AVE spreads it over its window, TILE repeats it there. Windows that overlap add up.
 * H' = (H - 1) stride + kernel, or unpool_size. */
#include "device/cpu/blas.h"
#include "layers/pooling/pool.h"

#define METHOD(name) CAFFE__UNPOOLING_PARAMETER__UNPOOL_METHOD__##name

typedef struct unpooling {
    Caffe__UnpoolingParameter__UnpoolMethod method;
    fire_pool_windows_t
        windows; /* of the pooling that it turns round: in is the top's */
} unpooling_t;

static fire_status_t unpooling_setup(fire_layer_t *l)
{
    const Caffe__UnpoolingParameter *p = l->param->unpooling_param;
    unpooling_t                     *s = FIRE_STATE(l, unpooling_t);
    fire_pool_windows_t             *w = &s->windows;

    if (p == NULL || p->has_kernel_size == (p->has_kernel_h || p->has_kernel_w) ||
        p->has_kernel_h != p->has_kernel_w)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "unpooling_param: give either kernel_size or both kernel_h and "
            "kernel_w");
    if (p->pad != 0 || p->pad_h != 0 || p->pad_w != 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "unpooling knows no padding");
    if (l->nbottom > 1 && p->unpool != METHOD(MAX))
        return FIRE_FAIL(FIRE_ERR_INVALID, "only MAX takes a mask");
    s->method    = p->unpool;
    w->kernel[0] = p->has_kernel_h ? p->kernel_h : p->kernel_size;
    w->kernel[1] = p->has_kernel_w ? p->kernel_w : p->kernel_size;
    w->stride[0] = p->has_stride_h ? p->stride_h : p->stride;
    w->stride[1] = p->has_stride_w ? p->stride_w : p->stride;
    for (int i = 0; i < 2; i++)
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->kernel[i] > INT16_MAX ||
            w->stride[i] > INT16_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID, "kernel and stride must be from 1 to %d",
                             INT16_MAX);
    return FIRE_OK;
}

static fire_status_t unpooling_reshape(fire_layer_t *l)
{
    const Caffe__UnpoolingParameter *p = l->param->unpooling_param;
    fire_pool_windows_t             *w = &FIRE_STATE(l, unpooling_t)->windows;
    const fire_blob_t               *x = l->bottom[0];

    if (x->ndim != 4 || (l->nbottom > 1 && !fire_blob_same_shape(x, l->bottom[1])))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have 4 axes (num, channels, height, width), a "
                         "mask the same shape");
    for (int i = 0; i < 2; i++) {
        uint32_t given = i == 0 ? p->unpool_h : p->unpool_w;

        w->out[i] = x->dim[2 + i];
        w->in[i]  = (x->dim[2 + i] - 1) * w->stride[i] + w->kernel[i];
        if (w->in[i] < x->dim[2 + i] * w->stride[i] + 1 && w->kernel[i] < w->stride[i])
            w->in[i] = x->dim[2 + i] * w->stride[i];
        if (p->has_unpool_size) w->in[i] = p->unpool_size;
        if (given > 0) w->in[i] = given;
        if (w->in[i] < 1 || (w->out[i] - 1) * w->stride[i] >= w->in[i])
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%lld places have no room for %lld windows of stride %lld",
                             (long long)w->in[i], (long long)w->out[i],
                             (long long)w->stride[i]);
    }
    return fire_blob_reshape(l->top[0], 4,
                             (int64_t[]){x->dim[0], x->dim[1], w->in[0], w->in[1]});
}

/* The place of a plane that element o goes to: where the mask points, or its window's
 * first. */
static fire_status_t place_of(const fire_pool_windows_t *w, const float *mask,
                              int64_t o, int64_t *place_p)
{
    int64_t row = o / w->out[1] * w->stride[0], column = o % w->out[1] * w->stride[1];

    *place_p = row * w->in[1] + column;
    if (mask == NULL) return FIRE_OK;
    if (!(mask[o] >= 0.0f && mask[o] < (float)(w->in[0] * w->in[1])))
        return FIRE_FAIL(FIRE_ERR_INVALID, "the mask points to %g of %lld x %lld",
                         (double)mask[o], (long long)w->in[0], (long long)w->in[1]);
    *place_p = (int64_t)mask[o];
    return FIRE_OK;
}

/* MAX of one plane: to from `small`, or with back the other way. */
static fire_status_t pick(const fire_pool_windows_t *w, const float *mask, bool back,
                          const float *from, float *to)
{
    int64_t at = 0;

    for (int64_t o = 0; o < w->out[0] * w->out[1]; o++) {
        FIRE_TRY(place_of(w, mask, o, &at));
        if (back)
            to[o] = from[at];
        else
            to[at] = from[o];
    }
    return FIRE_OK;
}

/* AVE and TILE of one plane. */
static void spread(const unpooling_t *s, bool back, const float *from, float *to)
{
    const fire_pool_windows_t *w = &s->windows;

    for (int64_t o = 0; o < w->out[0] * w->out[1]; o++) {
        fire_pool_box_t b    = fire_pool_box(w, o / w->out[1], o % w->out[1]);
        float           part = s->method == METHOD(AVE) ? 1.0f / (float)b.area : 1.0f;
        float           sum  = 0.0f;

        for (int64_t h = b.begin[0]; h < b.end[0]; h++)
            for (int64_t c = b.begin[1]; c < b.end[1]; c++) {
                if (back)
                    sum += from[h * w->in[1] + c];
                else
                    to[h * w->in[1] + c] += from[o] * part;
            }
        if (back) to[o] = sum * part;
    }
}

static fire_status_t run(fire_layer_t *l, bool back, const float *from, float *to)
{
    const unpooling_t *s     = FIRE_STATE(l, unpooling_t);
    int64_t            small = s->windows.out[0] * s->windows.out[1];
    int64_t            large = s->windows.in[0] * s->windows.in[1];
    const float       *mask  = NULL;

    if (l->nbottom > 1) FIRE_IN(l, l->bottom[1], FIRE_DATA, &mask);
    for (int64_t k = 0; k < fire_blob_count_range(l->bottom[0], 0, 2); k++) {
        if (s->method == METHOD(MAX))
            FIRE_TRY(pick(&s->windows, mask, back, from, to));
        else
            spread(s, back, from, to);
        from += back ? large : small;
        to += back ? small : large;
        if (mask != NULL) mask += small;
    }
    return FIRE_OK;
}

static fire_status_t unpooling_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    fire_fill(fire_blob_count(l->top[0]), 0.0f, y);
    return run(l, false, x, y);
}

static fire_status_t unpooling_backward(fire_layer_t *l)
{
    const float *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    return run(l, true, dy, dx);
}

const fire_kernel_t fire_unpooling_ref = {
    .name     = "ref",
    .forward  = unpooling_forward,
    .backward = unpooling_backward,
};

static const fire_kernel_t *const unpooling_kernels[] = {&fire_unpooling_ref, NULL};

const fire_layer_ops_t fire_layer_unpooling = {
    .type        = "Unpooling",
    .bottoms     = {1, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 1u << 1, /* mask */
    .state_size  = sizeof(unpooling_t),
    .setup       = unpooling_setup,
    .reshape     = unpooling_reshape,
    .kernels     = unpooling_kernels,
};
