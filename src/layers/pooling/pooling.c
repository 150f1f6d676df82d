/* pooling.c - Pooling: MAX, AVE or STOCHASTIC over windows of height and width.
 *
 *     bottom: (N, C, H, W)     top 0: (N, C, H', W')
 *     top 1, MAX only: the same shape, where in its plane each maximum was
 *     H' = ceil((H + 2 pad - kernel) / stride) + 1, see fire_pool_reshape() */
#include "device/cpu/blas.h"
#include "layers/pooling/pooling.h"

typedef fire_pooling_t pooling_t;

/* kernel_size, or kernel_h and kernel_w; global_pooling has neither. */
static fire_status_t read_kernel(const Caffe__PoolingParameter *p,
                                 fire_pool_windows_t           *s)
{
    bool h_and_w = p->has_kernel_h && p->has_kernel_w;
    bool h_or_w  = p->has_kernel_h || p->has_kernel_w;

    if (p->global_pooling) {
        if (p->has_kernel_size || h_or_w)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "global_pooling takes its kernel from the input: remove "
                             "kernel_size, kernel_h and kernel_w");
        return FIRE_OK;
    }
    if (p->has_kernel_size == h_or_w || h_or_w != h_and_w)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give either kernel_size or both kernel_h and kernel_w");
    s->kernel[0] = h_or_w ? p->kernel_h : p->kernel_size;
    s->kernel[1] = h_or_w ? p->kernel_w : p->kernel_size;
    if (s->kernel[0] == 0 || s->kernel[1] == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "a kernel must have at least one element");
    return FIRE_OK;
}

/* Padding and stride. */
static fire_status_t read_steps(const Caffe__PoolingParameter *p,
                                fire_pool_windows_t           *s)
{
    if ((p->has_pad && (p->has_pad_h || p->has_pad_w)) || p->has_pad_h != p->has_pad_w)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give either pad or both pad_h and pad_w");
    if ((p->has_stride && (p->has_stride_h || p->has_stride_w)) ||
        p->has_stride_h != p->has_stride_w)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give either stride or both stride_h and stride_w");
    s->pad[0]    = p->has_pad_h ? p->pad_h : p->pad;
    s->pad[1]    = p->has_pad_h ? p->pad_w : p->pad;
    s->stride[0] = p->has_stride_h ? p->stride_h : p->stride;
    s->stride[1] = p->has_stride_h ? p->stride_w : p->stride;
    if (s->stride[0] == 0 || s->stride[1] == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "stride must be at least 1");
    return FIRE_OK;
}

static fire_status_t check(const fire_layer_t *l, const pooling_t *s)
{
    const fire_pool_windows_t *shape = &s->shape;
    bool                       pads  = shape->pad[0] > 0 || shape->pad[1] > 0;

    if (s->global && (pads || shape->stride[0] != 1 || shape->stride[1] != 1))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "global_pooling needs pad 0 and stride 1 (leave them out)");
    if (pads && s->method == FIRE_POOL(STOCHASTIC))
        return FIRE_FAIL(FIRE_ERR_INVALID, "STOCHASTIC pooling knows no padding");
    if (pads &&
        (shape->pad[0] >= shape->kernel[0] || shape->pad[1] >= shape->kernel[1]))
        return FIRE_FAIL(FIRE_ERR_INVALID, "pad must be smaller than the kernel");
    if (l->ntop > 1 && s->method != FIRE_POOL(MAX))
        return FIRE_FAIL(FIRE_ERR_INVALID, "only MAX pooling has a second top");
    return FIRE_OK;
}

static fire_status_t pooling_setup(fire_layer_t *l)
{
    const Caffe__PoolingParameter *p = l->param->pooling_param;
    pooling_t                     *s = FIRE_STATE(l, pooling_t);

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "pooling_param { kernel_size } is missing");
    s->method     = p->pool;
    s->global     = p->global_pooling;
    s->round_down = p->has_ceil_mode
                        ? !p->ceil_mode
                        : p->round_mode == CAFFE__POOLING_PARAMETER__ROUND_MODE__FLOOR;
    FIRE_TRY(read_kernel(p, &s->shape));
    FIRE_TRY(read_steps(p, &s->shape));
    return check(l, s);
}

static fire_status_t pooling_reshape(fire_layer_t *l)
{
    pooling_t         *s = FIRE_STATE(l, pooling_t);
    const fire_blob_t *x = l->bottom[0];
    char               shape[FIRE_SHAPE_TEXT];

    if (x->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have 4 axes (num, channels, height, width), "
                         "its shape is %s",
                         fire_blob_shape_string(x, shape, sizeof(shape)));
    for (int i = 0; i < 2; i++) {
        s->shape.in[i] = x->dim[2 + i];
        if (s->global) s->shape.kernel[i] = x->dim[2 + i];
    }
    FIRE_TRY(fire_pool_reshape(&s->shape, s->round_down));
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(fire_blob_reshape(
            l->top[i], 4,
            (int64_t[]){x->dim[0], x->dim[1], s->shape.out[0], s->shape.out[1]}));
    return FIRE_OK;
}

/* Of `ref`. index: where each output came from, for backward; u: a random number for
 * each output. */
typedef struct pooling_ref {
    int32_t       *index;
    int64_t        cap;
    fire_scratch_t u;
} pooling_ref_t;

static fire_status_t pooling_prepare(fire_layer_t *l)
{
    const pooling_t *s = FIRE_STATE(l, pooling_t);
    pooling_ref_t   *r = l->kernel_state;
    int64_t          n = fire_blob_count(l->top[0]);

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    if (s->method == FIRE_POOL(AVE)) return FIRE_OK;
    if (s->method == FIRE_POOL(STOCHASTIC)) FIRE_TRY(fire_scratch_fit(&r->u, n));
    return fire_grow(&r->index, &r->cap, n, sizeof(*r->index));
}

static void pooling_release(fire_layer_t *l)
{
    pooling_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_free(r->index);
    fire_scratch_free(&r->u);
    fire_free(r);
    l->kernel_state = NULL;
}

/* One number per output, which depends on the sample's position in the global batch:
 * the same on any number of workers. */
static void draw_numbers(const fire_layer_t *l, float *u)
{
    fire_rng_key_t key    = fire_layer_rng(l, FIRE_RNG_POOL);
    int64_t        images = l->top[0]->dim[0];
    int64_t        dim    = fire_blob_count_range(l->top[0], 1, 4);

    for (int64_t n = 0; n < images; n++) {
        uint64_t first = (uint64_t)(fire_moment_row(l->moment, images, n) * dim);

        for (int64_t i = 0; i < dim; i++)
            *u++ = fire_rng_uniform(key, first + (uint64_t)i);
    }
}

/* The second top of MAX: indices as float, as in Caffe. */
static fire_status_t write_mask(fire_layer_t *l, const int32_t *index)
{
    int64_t n = fire_blob_count(l->top[0]);
    float  *mask;

    if (l->ntop < 2) return FIRE_OK;
    FIRE_OUT(l, l->top[1], FIRE_DATA, &mask);
    for (int64_t i = 0; i < n; i++)
        mask[i] = (float)index[i];
    return FIRE_OK;
}

static fire_status_t pooling_forward(fire_layer_t *l)
{
    const pooling_t *s      = FIRE_STATE(l, pooling_t);
    pooling_ref_t   *r      = l->kernel_state;
    int64_t          planes = fire_blob_count_range(l->bottom[0], 0, 2);
    const float     *x;
    float           *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    if (s->method == FIRE_POOL(MAX)) {
        fire_pool_max(&s->shape, planes, x, y, r->index);
        return write_mask(l, r->index);
    }
    if (s->method == FIRE_POOL(AVE)) {
        fire_pool_ave(&s->shape, planes, x, y);
    } else if (l->phase == CAFFE__PHASE__TRAIN) {
        draw_numbers(l, r->u.x);
        fire_pool_draw(&s->shape, planes, r->u.x, x, y, r->index);
    } else {
        fire_pool_expect(&s->shape, planes, x, y);
    }
    return FIRE_OK;
}

static fire_status_t pooling_backward(fire_layer_t *l)
{
    const pooling_t     *s      = FIRE_STATE(l, pooling_t);
    const pooling_ref_t *r      = l->kernel_state;
    int64_t              planes = fire_blob_count_range(l->bottom[0], 0, 2);
    const float         *dy;
    float               *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    if (s->method == FIRE_POOL(STOCHASTIC) && l->phase != CAFFE__PHASE__TRAIN)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "STOCHASTIC pooling has a gradient in phase TRAIN only");
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    if (s->method == FIRE_POOL(AVE))
        fire_pool_ave_back(&s->shape, planes, dy, dx);
    else
        fire_pool_pick_back(&s->shape, planes, dy, r->index, dx);
    return FIRE_OK;
}

const fire_kernel_t fire_pooling_ref = {
    .name     = "ref",
    .prepare  = pooling_prepare,
    .forward  = pooling_forward,
    .backward = pooling_backward,
    .release  = pooling_release,
};

extern const fire_kernel_t fire_pooling_cuda; /* pooling.cu */
extern const fire_kernel_t fire_pooling_simd; /* pooling_simd.c */

static const fire_kernel_t *const pooling_kernels[] = {
    FIRE_IF_CUDA(fire_pooling_cuda) &fire_pooling_simd, &fire_pooling_ref, NULL};

const fire_layer_ops_t fire_layer_pooling = {
    .type       = "Pooling",
    .bottoms    = {1, 1},
    .tops       = {1, 2},
    .state_size = sizeof(pooling_t),
    .setup      = pooling_setup,
    .reshape    = pooling_reshape,
    .kernels    = pooling_kernels,
};
