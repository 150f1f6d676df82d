/* pooling.c - Pooling: MAX, AVE or STOCHASTIC over windows of height and width, MAX and
 * AVE over those of any number of spatial axes (pooling_nd.c).
 *
 *     bottom: (N, C, H, W...)     top 0: (N, C, H', W'...)
 *     top 1, MAX only: the same shape, where in its plane each maximum was
 *     H' = ceil((H + 2 pad - kernel) / stride) + 1, see fire_pool_reshape() */
#include "device/cpu/blas.h"
#include "layers/pooling/pooling.h"

typedef fire_pooling_t pooling_t;

static fire_status_t check(const fire_layer_t *l, const pooling_t *s)
{
    const fire_pool_nd_t *w    = &s->nd;
    bool                  pads = false, steps = false, wide = false;

    for (int i = 0; i < w->axes; i++) {
        pads  = pads || w->pad[i] > 0;
        steps = steps || w->stride[i] != 1;
        wide  = wide || w->pad[i] >= w->kernel[i];
    }
    if (s->global && (pads || steps))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "global_pooling needs pad 0 and stride 1 (leave them out)");
    if (pads && s->method == FIRE_POOL(STOCHASTIC))
        return FIRE_FAIL(FIRE_ERR_INVALID, "STOCHASTIC pooling knows no padding");
    if (pads && wide)
        return FIRE_FAIL(FIRE_ERR_INVALID, "pad must be smaller than the kernel");
    if (l->ntop > 1 && s->method != FIRE_POOL(MAX))
        return FIRE_FAIL(FIRE_ERR_INVALID, "only MAX pooling has a second top");
    if (w->axes != 2 && s->method == FIRE_POOL(STOCHASTIC))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "STOCHASTIC pooling is for 2 spatial axes, here are %d",
                         w->axes);
    return FIRE_OK;
}

static fire_status_t check_axes(const fire_blob_t *x, int axes)
{
    char shape[FIRE_SHAPE_TEXT];

    if (x->ndim < 3 || x->ndim - 2 > FIRE_MAX_SPATIAL || x->ndim - 2 != axes)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the input must have axes (num, channels, height, width), or "
            "other spatial axes behind channels, as many as when the layer "
            "was made; its shape is %s",
            fire_blob_shape_string(x, shape, sizeof(shape)));
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
    s->nd.max     = s->method == FIRE_POOL(MAX);
    s->nd.axes    = l->bottom[0]->ndim - 2;
    FIRE_TRY(check_axes(l->bottom[0], s->nd.axes));
    FIRE_TRY(fire_pooling_read(p, &s->nd));
    FIRE_TRY(check(l, s));
    for (int i = 0; i < 2 && s->nd.axes == 2; i++) {
        s->shape.kernel[i] = s->nd.kernel[i];
        s->shape.stride[i] = s->nd.stride[i];
        s->shape.pad[i]    = s->nd.pad[i];
    }
    return FIRE_OK;
}

static fire_status_t reshape_nd(fire_layer_t *l)
{
    pooling_t         *s                  = FIRE_STATE(l, pooling_t);
    fire_pool_nd_t    *w                  = &s->nd;
    const fire_blob_t *x                  = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS] = {x->dim[0], x->dim[1]};
    bool               pads               = false;

    for (int i = 0; i < w->axes; i++)
        pads = pads || w->pad[i] > 0;
    w->size_in = w->size_out = 1;
    for (int i = 0; i < w->axes; i++) {
        w->in[i] = x->dim[2 + i];
        if (s->global) w->kernel[i] = x->dim[2 + i];
        w->out[i] = fire_pool_places(w->in[i], w->kernel[i], w->stride[i], w->pad[i],
                                     pads, s->round_down);
        if (w->out[i] <= 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the kernel is larger than the input: along spatial axis "
                             "%d it is %lld, the input has %lld + 2 * %lld of padding",
                             i, (long long)w->kernel[i], (long long)w->in[i],
                             (long long)w->pad[i]);
        w->size_in *= w->in[i];
        w->size_out *= w->out[i];
        dim[2 + i] = w->out[i];
    }
    if (w->size_in > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "a channel of more than %d elements is refused", INT32_MAX);
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(fire_blob_reshape(l->top[i], 2 + w->axes, dim));
    return FIRE_OK;
}

static fire_status_t pooling_reshape(fire_layer_t *l)
{
    pooling_t         *s = FIRE_STATE(l, pooling_t);
    const fire_blob_t *x = l->bottom[0];

    FIRE_TRY(check_axes(x, s->nd.axes));
    if (s->nd.axes != 2) return reshape_nd(l);
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
    if (s->method == FIRE_POOL(AVE) && s->nd.axes == 2) return FIRE_OK;
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

    if (s->nd.axes != 2) return fire_pooling_nd_forward(l, r->index);
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

    if (s->nd.axes != 2) return fire_pooling_nd_backward(l, r->index);
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

extern const fire_kernel_t fire_pooling_cuda;    /* pooling.cu */
extern const fire_kernel_t fire_pooling_nd_cuda; /* pooling_nd.c */
extern const fire_kernel_t fire_pooling_simd;    /* pooling_simd.c */

static const fire_kernel_t *const pooling_kernels[] = {
    FIRE_IF_CUDA(fire_pooling_nd_cuda)
        FIRE_IF_CUDA(fire_pooling_cuda) &fire_pooling_simd,
    &fire_pooling_ref, NULL};

const fire_layer_ops_t fire_layer_pooling = {
    .type       = "Pooling",
    .bottoms    = {1, 1},
    .tops       = {1, 2},
    .state_size = sizeof(pooling_t),
    .setup      = pooling_setup,
    .reshape    = pooling_reshape,
    .kernels    = pooling_kernels,
};
