/* roi_pooling.c - ROIPooling: Fast R-CNN's pooling (Girshick, 2015).
 *
 *   bottom 0: (N, C, H, W)
 *   bottom 1: (R, 5) regions: image, x1, y1, x2, y2 in pixels of the input image
 *   top 0:    (R, C, pooled_h, pooled_w)
 *
 * Each region is cut into pooled_h x pooled_w bins; the output is the maximum of each
 * bin. A bin without elements gives 0. */
#include <float.h>

#include "layers/memory_cuda.h"
#include "layers/vision/roi_cuda.h"

/* The state of the layer. */
typedef struct roi_pooling {
    int32_t *index; /* [count of top] place of each maximum in its plane; -1: none */
    int64_t  cap;
} roi_pooling_t;

static fire_status_t roi_pooling_setup(fire_layer_t *l)
{
    const Caffe__ROIPoolingParameter *p = l->param->roi_pooling_param;

    if (p == NULL || p->pooled_h == 0 || p->pooled_w == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "roi_pooling_param { pooled_h pooled_w } must be given and at "
                         "least 1");
    return FIRE_OK;
}

static fire_status_t roi_pooling_reshape(fire_layer_t *l)
{
    const Caffe__ROIPoolingParameter *p = l->param->roi_pooling_param;
    roi_pooling_t                    *s = FIRE_STATE(l, roi_pooling_t);

    FIRE_TRY(fire_roi_check_shapes(l));
    FIRE_TRY(fire_blob_reshape(l->top[0], 4,
                               (int64_t[]){l->bottom[1]->dim[0], l->bottom[0]->dim[1],
                                           p->pooled_h, p->pooled_w}));
    return fire_grow(&s->index, &s->cap, fire_blob_count(l->top[0]), sizeof(*s->index));
}

static void roi_pooling_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, roi_pooling_t)->index);
}

/* On a GPU, keep the index in device memory until backward. */
static fire_status_t roi_pooling_prepare(fire_layer_t *l)
{
    FIRE_IF_GPU(l,
                fire_gpu_keep(l, (size_t)fire_blob_count(l->top[0]) * sizeof(int32_t)));
    return FIRE_OK;
}

/* Maximum of a bin; *index is its place. */
static float pool_bin(const fire_roi_box_t *b, int64_t width, const float *x,
                      int32_t *index)
{
    bool  empty = b->end[0] <= b->begin[0] || b->end[1] <= b->begin[1];
    float best  = empty ? 0.0f : -FLT_MAX;

    *index = -1;
    for (int64_t h = b->begin[0]; h < b->end[0]; h++)
        for (int64_t w = b->begin[1]; w < b->end[1]; w++)
            if (x[h * width + w] > best) {
                best   = x[h * width + w];
                *index = (int32_t)(h * width + w);
            }
    return best;
}

static fire_gpu_roi_t view_regions(const fire_layer_t *l, const float *roi)
{
    const Caffe__ROIPoolingParameter *p = l->param->roi_pooling_param;
    fire_gpu_roi_t                    g = fire_gpu_roi_view(l, p->spatial_scale, roi);

    g.pad = p->pad_ratio;
    return g;
}

/* x: (N, C, H, W). y, index: (R, C, pooled_h, pooled_w). Regions may overlap. */
static fire_status_t roi_pooling_forward(fire_layer_t *l)
{
    const Caffe__ROIPoolingParameter *p     = l->param->roi_pooling_param;
    int32_t                          *index = FIRE_STATE(l, roi_pooling_t)->index;
    const int64_t                    *in = l->bottom[0]->dim, *out = l->top[0]->dim;
    const float                      *x, *roi;
    float                            *y;
    int64_t                           image = 0;
    fire_gpu_roi_t                    g;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &roi);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    g = view_regions(l, roi);
    FIRE_IF_GPU(l, fire_gpu_roi_max(l->ctx->stream, &g, x, y, fire_gpu_kept(l)));
    for (int64_t n = 0; n < out[0]; n++, roi += FIRE_ROI_ROW) {
        fire_roi_t r =
            fire_roi_max_region(p->spatial_scale, p->pad_ratio, out + 2, roi);

        FIRE_TRY(fire_roi_image(l, roi, &image));
        for (int64_t c = 0; c < out[1]; c++)
            for (int64_t bin = 0; bin < out[2] * out[3]; bin++, y++, index++) {
                fire_roi_box_t b =
                    fire_roi_box(&r, false, bin / out[3], bin % out[3], in + 2);

                *y =
                    pool_bin(&b, in[3], x + (image * in[1] + c) * in[2] * in[3], index);
            }
    }
    return FIRE_OK;
}

/* Add each bin's gradient to the place of its maximum. */
static fire_status_t roi_pooling_backward(fire_layer_t *l)
{
    const int32_t *index = FIRE_STATE(l, roi_pooling_t)->index;
    const int64_t *in = l->bottom[0]->dim, *out = l->top[0]->dim;
    const float   *roi, *dy;
    float         *dx;
    int64_t        image = 0;
    fire_gpu_roi_t g;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &roi);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    g = view_regions(l, roi);
    FIRE_IF_GPU(l, fire_gpu_roi_max_back(l->ctx->stream, &g, fire_gpu_kept(l), dy, dx));
    fire_fill(fire_blob_count(l->bottom[0]), 0.0f, dx);
    for (int64_t n = 0; n < out[0]; n++, roi += FIRE_ROI_ROW) {
        FIRE_TRY(fire_roi_image(l, roi, &image));
        for (int64_t c = 0; c < out[1]; c++)
            for (int64_t bin = 0; bin < out[2] * out[3]; bin++, dy++, index++)
                if (*index >= 0)
                    dx[(image * in[1] + c) * in[2] * in[3] + *index] += *dy;
    }
    return FIRE_OK;
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_roi_pooling_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = roi_pooling_prepare,
    .forward  = roi_pooling_forward,
    .backward = roi_pooling_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_roi_pooling_ref = {
    .name     = "ref",
    .prepare  = roi_pooling_prepare,
    .forward  = roi_pooling_forward,
    .backward = roi_pooling_backward,
};

static const fire_kernel_t *const roi_pooling_kernels[] = {
    FIRE_IF_CUDA(fire_roi_pooling_cuda) &fire_roi_pooling_ref, NULL};

const fire_layer_ops_t fire_layer_roi_pooling = {
    .type        = "ROIPooling",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* none for regions */
    .state_size  = sizeof(roi_pooling_t),
    .setup       = roi_pooling_setup,
    .reshape     = roi_pooling_reshape,
    .teardown    = roi_pooling_teardown,
    .kernels     = roi_pooling_kernels,
};
