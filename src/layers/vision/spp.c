/* spp.c - spatial pyramid pooling (He et al., 2014): level i cuts the image into
 * 2^i x 2^i bins and pools each; the levels lie one behind the other, so that images of
 * any size give vectors of one length. A single level keeps the shape N C 1 1. */
#include "device/cpu/blas.h"
#include "layers/cuda/kernels.h"
#include "layers/cuda/resize.h"

enum { MAX_LEVELS = 16 };

typedef struct spp {
    int         levels;
    bool        average;
    fire_pool_t level[MAX_LEVELS];
    int64_t     offset[MAX_LEVELS + 1]; /* of each level in one image's result */
} spp_t;

static fire_status_t spp_setup(fire_layer_t *l)
{
    const Caffe__SPPParameter *p = l->param->spp_param;
    spp_t                     *s = FIRE_STATE(l, spp_t);

    if (p == NULL || p->pyramid_height == 0 || p->pyramid_height > MAX_LEVELS)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "spp_param { pyramid_height } must be given, from 1 to %d",
                         MAX_LEVELS);
    if (p->pool == CAFFE__SPPPARAMETER__POOL_METHOD__STOCHASTIC)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "pool must be MAX or AVE");
    s->levels  = (int)p->pyramid_height;
    s->average = p->pool == CAFFE__SPPPARAMETER__POOL_METHOD__AVE;
    return FIRE_OK;
}

static fire_status_t shape_level(const fire_blob_t *x, int level, fire_pool_t *p)
{
    int64_t bins = (int64_t)1 << level;

    for (int i = 0; i < 2; i++) {
        int64_t size = x->dim[2 + i], kernel = (size + bins - 1) / bins;

        p->in[i]     = size;
        p->kernel[i] = p->stride[i] = kernel;
        p->pad[i]                   = (kernel * bins - size + 1) / 2;
        if (size == 0 || p->pad[i] >= kernel)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "pyramid_height is too large: %lld bins for an image "
                             "side of %lld",
                             (long long)bins, (long long)size);
    }
    return fire_pool_reshape(p, false);
}

static fire_status_t spp_reshape(fire_layer_t *l)
{
    spp_t             *s = FIRE_STATE(l, spp_t);
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have 4 axes (num, channels, height, width)");
    for (int i = 0; i < s->levels; i++) {
        FIRE_TRY(shape_level(x, i, &s->level[i]));
        s->offset[i + 1] =
            s->offset[i] + x->dim[1] * s->level[i].out[0] * s->level[i].out[1];
    }
    if (s->levels == 1)
        return fire_blob_reshape(l->top[0], 4, (int64_t[]){x->dim[0], x->dim[1], 1, 1});
    return fire_blob_reshape(l->top[0], 2,
                             (int64_t[]){x->dim[0], s->offset[s->levels]});
}

/* Where each maximum came from; one image's gradient through one level. */
typedef struct spp_ref {
    int32_t       *index;
    int64_t        cap;
    fire_scratch_t work;
} spp_ref_t;

static fire_status_t spp_prepare(fire_layer_t *l)
{
    spp_ref_t *r = l->kernel_state;

    FIRE_IF_GPU(
        l, fire_gpu_keep(l, (size_t)fire_blob_count(l->top[0]) * sizeof(*r->index)));
    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    FIRE_TRY(fire_scratch_fit(&r->work, fire_blob_count_range(l->bottom[0], 1, 4)));
    return fire_grow(&r->index, &r->cap, fire_blob_count(l->top[0]), sizeof(*r->index));
}

static void spp_release(fire_layer_t *l)
{
    spp_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_free(r->index);
    fire_scratch_free(&r->work);
    fire_free(r);
    l->kernel_state = NULL;
}

#ifdef FIRE_HAVE_CUDA
static fire_gpu_level_t gpu_level(const fire_layer_t *l, int i)
{
    const spp_t *s = FIRE_STATE(l, spp_t);

    return (fire_gpu_level_t){s->level[i], l->bottom[0]->dim[0], l->bottom[0]->dim[1],
                              s->offset[s->levels]};
}

static fire_status_t forward_on_gpu(fire_layer_t *l, const float *x, float *y)
{
    const spp_t *s = FIRE_STATE(l, spp_t);

    for (int i = 0; i < s->levels; i++) {
        fire_gpu_level_t level = gpu_level(l, i);
        int32_t         *index = s->average ? NULL : fire_gpu_kept(l);

        FIRE_TRY(fire_gpu_level(l->ctx->stream, &level, x, y + s->offset[i],
                                index != NULL ? index + s->offset[i] : NULL));
    }
    return FIRE_OK;
}

static fire_status_t backward_on_gpu(fire_layer_t *l, const float *dy, float *dx)
{
    const spp_t *s = FIRE_STATE(l, spp_t);

    for (int i = 0; i < s->levels; i++) {
        fire_gpu_level_t level = gpu_level(l, i);
        const int32_t   *index = s->average ? NULL : fire_gpu_kept(l);

        FIRE_TRY(fire_gpu_level_back(l->ctx->stream, &level, i > 0, dy + s->offset[i],
                                     index != NULL ? index + s->offset[i] : NULL, dx));
    }
    return FIRE_OK;
}
#endif

static fire_status_t spp_forward(fire_layer_t *l)
{
    const spp_t *s      = FIRE_STATE(l, spp_t);
    spp_ref_t   *r      = l->kernel_state;
    int64_t      images = l->bottom[0]->dim[0], channels = l->bottom[0]->dim[1];
    int64_t      in_dim = fire_blob_count_range(l->bottom[0], 1, 4);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, forward_on_gpu(l, x, y));
    for (int64_t n = 0; n < images; n++)
        for (int i = 0; i < s->levels; i++) {
            int64_t at = n * s->offset[s->levels] + s->offset[i];

            if (s->average)
                fire_pool_ave(&s->level[i], channels, x + n * in_dim, y + at);
            else
                fire_pool_max(&s->level[i], channels, x + n * in_dim, y + at,
                              r->index + at);
        }
    return FIRE_OK;
}

static fire_status_t spp_backward(fire_layer_t *l)
{
    const spp_t *s      = FIRE_STATE(l, spp_t);
    spp_ref_t   *r      = l->kernel_state;
    int64_t      images = l->bottom[0]->dim[0], channels = l->bottom[0]->dim[1];
    int64_t      in_dim = fire_blob_count_range(l->bottom[0], 1, 4);
    const float *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, backward_on_gpu(l, dy, dx));
    for (int64_t n = 0; n < images; n++)
        for (int i = 0; i < s->levels; i++) {
            int64_t at   = n * s->offset[s->levels] + s->offset[i];
            float  *into = i == 0 ? dx + n * in_dim : r->work.x;

            if (s->average)
                fire_pool_ave_back(&s->level[i], channels, dy + at, into);
            else
                fire_pool_pick_back(&s->level[i], channels, dy + at, r->index + at,
                                    into);
            if (i > 0) fire_axpy(in_dim, 1.0f, into, dx + n * in_dim);
        }
    return FIRE_OK;
}

static const fire_kernel_t spp_kernels[] = {
    FIRE_CUDA_ROW(.prepare = spp_prepare, .forward = spp_forward,
                  .backward = spp_backward,
                  .release  = fire_gpu_release){.name     = "ref",
                                               .prepare  = spp_prepare,
                                               .forward  = spp_forward,
                                               .backward = spp_backward,
                                               .release  = spp_release},
    {0},
};

const fire_layer_ops_t fire_layer_spp = {
    .type       = "SPP",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(spp_t),
    .setup      = spp_setup,
    .reshape    = spp_reshape,
    .kernels    = spp_kernels,
};
