/* spp.c - SPP, spatial pyramid pooling (He et al., 2014): level i cuts the image into
 * 2^i x 2^i bins and pools each by MAX or AVE. Images of any size give vectors of one
 * length.
 *
 *     bottom: (N, C, H, W)     top: (N, all levels' (C, 2^i, 2^i) one after another)
 *     With a single level the top is (N, C, 1, 1), as in Caffe. */
#include "device/cpu/blas.h"
#include "layers/memory_cuda.h"
#include "layers/vision/resize.h"

typedef struct spp {
    bool           average;
    fire_pyramid_t pyramid;
} spp_t;

static fire_status_t spp_setup(fire_layer_t *l)
{
    const Caffe__SPPParameter *p = l->param->spp_param;
    spp_t                     *s = FIRE_STATE(l, spp_t);

    if (p == NULL || p->pyramid_height == 0 || p->pyramid_height > FIRE_PYRAMID_LEVELS)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "spp_param { pyramid_height } must be given, from 1 to %d",
                         FIRE_PYRAMID_LEVELS);
    if (p->pool == CAFFE__SPPPARAMETER__POOL_METHOD__STOCHASTIC)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "pool must be MAX or AVE");
    s->pyramid.levels = (int)p->pyramid_height;
    s->average        = p->pool == CAFFE__SPPPARAMETER__POOL_METHOD__AVE;
    return FIRE_OK;
}

/* Windows of level `level`: bins of equal size, padded evenly on both sides. */
static fire_status_t shape_level(const fire_blob_t *x, int level,
                                 fire_pool_windows_t *p)
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
    fire_pyramid_t    *p = &FIRE_STATE(l, spp_t)->pyramid;
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input must have 4 axes (num, channels, height, width)");
    for (int i = 0; i < p->levels; i++) {
        FIRE_TRY(shape_level(x, i, &p->level[i]));
        p->offset[i + 1] =
            p->offset[i] + x->dim[1] * p->level[i].out[0] * p->level[i].out[1];
    }
    if (p->levels == 1)
        return fire_blob_reshape(l->top[0], 4, (int64_t[]){x->dim[0], x->dim[1], 1, 1});
    return fire_blob_reshape(l->top[0], 2,
                             (int64_t[]){x->dim[0], p->offset[p->levels]});
}

/* Of `ref`. index: where each maximum came from; work: one image's gradient through one
 * level. */
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

static fire_status_t spp_forward(fire_layer_t *l)
{
    const spp_t          *s = FIRE_STATE(l, spp_t);
    const fire_pyramid_t *p = &s->pyramid;
    spp_ref_t            *r = l->kernel_state;
    int64_t      images = l->bottom[0]->dim[0], channels = l->bottom[0]->dim[1];
    int64_t      in_dim = fire_blob_count_range(l->bottom[0], 1, 4);
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_gpu_pyramid(l->ctx->stream, p, images, channels, x, y,
                                    s->average ? NULL : fire_gpu_kept(l)));
    for (int64_t n = 0; n < images; n++)
        for (int i = 0; i < p->levels; i++) {
            int64_t at = n * p->offset[p->levels] + p->offset[i];

            if (s->average)
                fire_pool_ave(&p->level[i], channels, x + n * in_dim, y + at);
            else
                fire_pool_max(&p->level[i], channels, x + n * in_dim, y + at,
                              r->index + at);
        }
    return FIRE_OK;
}

static fire_status_t spp_backward(fire_layer_t *l)
{
    const spp_t          *s = FIRE_STATE(l, spp_t);
    const fire_pyramid_t *p = &s->pyramid;
    spp_ref_t            *r = l->kernel_state;
    int64_t      images = l->bottom[0]->dim[0], channels = l->bottom[0]->dim[1];
    int64_t      in_dim = fire_blob_count_range(l->bottom[0], 1, 4);
    const float *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IF_GPU(l, fire_gpu_pyramid_back(l->ctx->stream, p, images, channels, dy,
                                         s->average ? NULL : fire_gpu_kept(l), dx));
    for (int64_t n = 0; n < images; n++)
        for (int i = 0; i < p->levels; i++) {
            int64_t at   = n * p->offset[p->levels] + p->offset[i];
            float  *into = i == 0 ? dx + n * in_dim : r->work.x;

            if (s->average)
                fire_pool_ave_back(&p->level[i], channels, dy + at, into);
            else
                fire_pool_pick_back(&p->level[i], channels, dy + at, r->index + at,
                                    into);
            if (i > 0) fire_axpy(in_dim, 1.0f, into, dx + n * in_dim);
        }
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_spp_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = spp_prepare,
    .forward  = spp_forward,
    .backward = spp_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_spp_ref = {
    .name     = "ref",
    .prepare  = spp_prepare,
    .forward  = spp_forward,
    .backward = spp_backward,
    .release  = spp_release,
};

static const fire_kernel_t *const spp_kernels[] = {
    FIRE_IF_CUDA(fire_spp_cuda) &fire_spp_ref, NULL};

const fire_layer_ops_t fire_layer_spp = {
    .type       = "SPP",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .state_size = sizeof(spp_t),
    .setup      = spp_setup,
    .reshape    = spp_reshape,
    .kernels    = spp_kernels,
};
