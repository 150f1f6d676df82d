/* psroi_pooling.c - PSROIPooling: R-FCN's position-sensitive pooling (Dai and others,
 * 2016).
 *
 *   bottom 0: (N, output_dim * group_size^2, H, W)
 *   bottom 1: (R, 5) regions: image, x1, y1, x2, y2 in pixels of the input image
 *   top 0:    (R, output_dim, group_size, group_size)
 *
 * Bin (i, j) of output channel c is the mean over that bin of the region in input
 * channel (c, i, j). A bin without elements gives 0. */
#include "layers/vision/roi_cuda.h"

static fire_status_t psroi_setup(fire_layer_t *l)
{
    const Caffe__PSROIPoolingParameter *p = l->param->psroi_pooling_param;

    if (p == NULL || p->output_dim <= 0 || p->group_size <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "psroi_pooling_param { spatial_scale output_dim group_size } "
                         "must be given and positive");
    return FIRE_OK;
}

/* Bottom 0 needs a channel for each output channel and bin. */
static fire_status_t psroi_reshape(fire_layer_t *l)
{
    const Caffe__PSROIPoolingParameter *p = l->param->psroi_pooling_param;
    int64_t need = (int64_t)p->output_dim * p->group_size * p->group_size;

    FIRE_TRY(fire_roi_check_shapes(l));
    if (l->bottom[0]->dim[1] != need)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the first bottom has %lld channels, output_dim %d in %d x %d "
                         "groups needs %lld",
                         (long long)l->bottom[0]->dim[1], p->output_dim, p->group_size,
                         p->group_size, (long long)need);
    return fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){l->bottom[1]->dim[0], p->output_dim, p->group_size, p->group_size});
}

/* Mean of x over a bin; or, with dx, spread its gradient dy over the bin. */
static float visit_bin(const fire_roi_box_t *b, int64_t width, const float *x, float dy,
                       float *dx)
{
    int64_t area = (b->end[0] - b->begin[0]) * (b->end[1] - b->begin[1]);
    float   sum  = 0.0f;

    if (b->end[0] <= b->begin[0] || b->end[1] <= b->begin[1]) return 0.0f;
    for (int64_t h = b->begin[0]; h < b->end[0]; h++)
        for (int64_t w = b->begin[1]; w < b->end[1]; w++) {
            if (dx != NULL)
                dx[h * width + w] += dy / (float)area;
            else
                sum += x[h * width + w];
        }
    return sum / (float)area;
}

/* All bins of all regions: y from x; or, with dx, dx from dy. */
static fire_status_t visit(fire_layer_t *l, const float *x, float *y, const float *dy,
                           float *dx)
{
    const Caffe__PSROIPoolingParameter *p  = l->param->psroi_pooling_param;
    const int64_t                      *in = l->bottom[0]->dim, *out = l->top[0]->dim;
    int64_t        plane = in[2] * in[3], bins = out[2] * out[3], image = 0;
    const float   *roi;
    fire_gpu_roi_t g;

    FIRE_IN(l, l->bottom[1], FIRE_DATA, &roi);
    g = fire_gpu_roi_view(l, p->spatial_scale, roi);
    FIRE_IF_GPU(l, dx != NULL ? fire_gpu_roi_mean_back(l->ctx->stream, &g, dy, dx)
                              : fire_gpu_roi_mean(l->ctx->stream, &g, x, y));
    if (dx != NULL) fire_fill(fire_blob_count(l->bottom[0]), 0.0f, dx);
    for (int64_t n = 0, o = 0; n < out[0]; n++, roi += FIRE_ROI_ROW) {
        fire_roi_t r = fire_roi_mean_region(p->spatial_scale, p->group_size, roi);

        FIRE_TRY(fire_roi_image(l, roi, &image));
        for (int64_t k = 0; k < out[1] * bins; k++, o++) {
            fire_roi_box_t b =
                fire_roi_box(&r, true, k % bins / out[3], k % bins % out[3], in + 2);
            int64_t at = (image * in[1] + k) * plane;

            if (dx != NULL)
                visit_bin(&b, in[3], NULL, dy[o], dx + at);
            else
                y[o] = visit_bin(&b, in[3], x + at, 0.0f, NULL);
        }
    }
    return FIRE_OK;
}

static fire_status_t psroi_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    return visit(l, x, y, NULL, NULL);
}

static fire_status_t psroi_backward(fire_layer_t *l)
{
    const float *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    return visit(l, NULL, NULL, dy, dx);
}

const fire_kernel_t fire_psroi_pooling_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = psroi_forward,
    .backward = psroi_backward,
};

const fire_kernel_t fire_psroi_pooling_ref = {
    .name     = "ref",
    .forward  = psroi_forward,
    .backward = psroi_backward,
};

static const fire_kernel_t *const psroi_kernels[] = {
    FIRE_IF_CUDA(fire_psroi_pooling_cuda) &fire_psroi_pooling_ref, NULL};

const fire_layer_ops_t fire_layer_psroi_pooling = {
    .type        = "PSROIPooling",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .no_gradient = 1u << 1, /* none for regions */
    .setup       = psroi_setup,
    .reshape     = psroi_reshape,
    .kernels     = psroi_kernels,
};
