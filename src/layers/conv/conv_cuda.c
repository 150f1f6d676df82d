/* conv_cuda.c - convolution on the GPU as `ref` does it: im2col and matrix products, in
 * float32, batched over images. For shapes that cuDNN does not take, or that are too
 * small for it. */
#include "device/cuda/cublas.h"
#include "device/cuda/kernel/channel_sum.h"
#include "layers/conv/im2col.h"
#include "layers/epilogue.h"
#include "layers/layer_cuda.h"
#include "layers/conv/conv.h"

/* columns: (images, kernel_dim * group, map.plane) for as many images as fit into
 * MOST_BYTES. of_forward: they are those of the last forward pass, of all images, and
 * backward need not make them again. */
typedef struct conv_cuda {
    fire_gpu_memory_t columns;
    int64_t           images;
    bool              of_forward;
} conv_cuda_t;

#define MOST_BYTES ((size_t)256 << 20) /* of columns at a time */

static const char *conv_cuda_declines(const fire_layer_t *l)
{
    return fire_blob_count(l->bottom[0]) == 0 ? "the input is empty" : NULL;
}

static bool conv_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_gpu_epilogue_absorbs(l, next);
}

static void conv_cuda_release(fire_layer_t *l)
{
    conv_cuda_t *s = l->kernel_state;

    if (s == NULL) return;
    fire_gpu_memory_free(&s->columns);
    fire_free(s);
    l->kernel_state = NULL;
}

static fire_status_t conv_cuda_prepare(fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    conv_cuda_t       *s = l->kernel_state;
    size_t one = (size_t)(c->kernel_dim * c->group * c->map.plane) * sizeof(float);

    if (s == NULL) FIRE_TRY(FIRE_NEW(&s, 1));
    l->kernel_state = s;
    s->images       = (int64_t)(MOST_BYTES / one);
    if (s->images < 1) s->images = 1;
    if (s->images > c->images) s->images = c->images;
    if (fire_window_is_pointwise(&c->window))
        return FIRE_OK; /* columns equal the image */
    return fire_gpu_memory_fit(&s->columns, (size_t)s->images * one);
}

/* The geometry of im2col for some images. */
static fire_gpu_im2col_t geometry(const fire_conv_t *c, int64_t images)
{
    return fire_gpu_im2col_shape(&c->window, images, c->image.channels, c->image.dim,
                                 c->map.dim);
}

/* *columns_p = im2col(image), or image itself for a 1x1 kernel. */
static fire_status_t columns_of(fire_layer_t *l, int64_t images, const float *image,
                                const float **columns_p)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    conv_cuda_t       *s = l->kernel_state;
    fire_gpu_im2col_t  g = geometry(c, images);

    *columns_p = image;
    if (fire_window_is_pointwise(&c->window)) return FIRE_OK;
    *columns_p = s->columns.ptr;
    if (s->of_forward) return FIRE_OK;
    return fire_gpu_im2col(l->ctx->stream, &g, image, s->columns.ptr);
}

/* Elements of one group's part of weights, columns and map; rows: its map channels. */
typedef struct part {
    int64_t rows, weights, columns, map;
} part_t;

static part_t part_of(const fire_conv_t *c)
{
    int64_t rows = c->map.channels / c->group;

    return (part_t){rows, rows * c->kernel_dim, c->kernel_dim * c->map.plane,
                    rows * c->map.plane};
}

/* map = weights * im2col(image), for some images */
static fire_status_t to_map(fire_layer_t *l, int64_t images, const float *image,
                            const float *weights, float *map)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    part_t             p = part_of(c);
    fire_cuda_gemm_t   g = {.m      = p.rows,
                            .n      = c->map.plane,
                            .k      = c->kernel_dim,
                            .alpha  = 1,
                            .batch  = images,
                            .b_step = c->group * p.columns,
                            .c_step = c->group * p.map};
    const float       *columns;

    FIRE_TRY(columns_of(l, images, image, &columns));
    for (int64_t i = 0; i < c->group; i++)
        FIRE_TRY(fire_cuda_gemm_run(l->ctx->stream, &g, weights + i * p.weights,
                                    columns + i * p.columns, map + i * p.map));
    return FIRE_OK;
}

/* image = col2im(weights' * map) */
static fire_status_t to_image(fire_layer_t *l, int64_t images, const float *map,
                              const float *weights, float *image)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    conv_cuda_t       *s       = l->kernel_state;
    bool               direct  = fire_window_is_pointwise(&c->window);
    float             *columns = direct ? image : s->columns.ptr;
    part_t             p       = part_of(c);
    fire_gpu_im2col_t  where   = geometry(c, images);
    fire_cuda_gemm_t   g       = {.transpose_a = true,
                                  .m           = c->kernel_dim,
                                  .n           = c->map.plane,
                                  .k           = p.rows,
                                  .alpha       = 1,
                                  .batch       = images,
                                  .b_step      = c->group * p.map,
                                  .c_step      = c->group * p.columns};

    for (int64_t i = 0; i < c->group; i++)
        FIRE_TRY(fire_cuda_gemm_run(l->ctx->stream, &g, weights + i * p.weights,
                                    map + i * p.map, columns + i * p.columns));
    if (direct) return FIRE_OK;
    s->of_forward = false;
    return fire_gpu_col2im(l->ctx->stream, &where, columns, image);
}

/* diff += map * im2col(image)'. All images in one batched product, then a sum over them
 * in order; or image after image where the batch would take too much memory. */
static fire_status_t to_weights(fire_layer_t *l, int64_t images, const float *image,
                                const float *map, float *diff)
{
    const fire_conv_t *c     = FIRE_STATE(l, fire_conv_t);
    part_t             p     = part_of(c);
    int64_t            all   = c->group * p.weights;
    size_t             bytes = (size_t)(images * all) * sizeof(float);
    bool               apart = bytes <= MOST_BYTES / 4;
    fire_cuda_gemm_t   g     = {.transpose_b = true,
                                .m           = p.rows,
                                .n           = c->kernel_dim,
                                .k           = c->map.plane,
                                .alpha       = 1,
                                .beta        = apart ? 0 : 1,
                                .batch       = apart ? images * c->group : 1,
                                .a_step      = p.map,
                                .b_step      = p.columns,
                                .c_step      = p.weights};
    const float       *columns;
    void              *each;

    FIRE_TRY(columns_of(l, images, image, &columns));
    if (apart) {
        FIRE_TRY(fire_cuda_scratch(l->ctx->stream, bytes, &each));
        FIRE_TRY(fire_cuda_gemm_run(l->ctx->stream, &g, map, columns, each));
        return fire_gpu_channel_sum(l->ctx->stream, (fire_gpu_view_t){images, all, 1},
                                    FIRE_F32, each, true, diff);
    }
    for (int64_t i = 0; i < images * c->group; i++)
        FIRE_TRY(fire_cuda_gemm_run(l->ctx->stream, &g, map + i * p.map,
                                    columns + i * p.columns,
                                    diff + i % c->group * p.weights));
    return FIRE_OK;
}

/* The top as (images, channels, places), for its bias. */
static fire_gpu_view_t top_view(const fire_conv_t *c)
{
    const fire_conv_side_t *top = fire_conv_top(c);

    return (fire_gpu_view_t){c->images, top->channels, top->plane};
}

/* Loop over runs of images that fit into the columns: n images from `at` on. */
#define EACH_RUN(l, c, at, n)                                                       \
    for (int64_t at = 0, n, step_ = ((conv_cuda_t *)(l)->kernel_state)->images;     \
         n = (c)->images - at < step_ ? (c)->images - at : step_, at < (c)->images; \
         at += step_)

static fire_status_t conv_cuda_forward(fire_layer_t *l)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    int64_t            in_dim  = fire_conv_side_count(fire_conv_bottom(c));
    int64_t            out_dim = fire_conv_side_count(fire_conv_top(c));
    conv_cuda_t       *s       = l->kernel_state;
    const float       *weights, *bias = NULL, *x;
    float             *y;

    s->of_forward = false;
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[k], FIRE_DATA, &y);
        EACH_RUN(l, c, at, n)
        FIRE_TRY((c->reverse ? to_image : to_map)(l, n, x + at * in_dim, weights,
                                                  y + at * out_dim));
        if (c->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
        FIRE_TRY(fire_gpu_epilogue_forward(l, top_view(c), FIRE_F32, bias, y));
    }
    s->of_forward = !c->reverse && l->nbottom == 1 && s->images == c->images;
    return FIRE_OK;
}

/* n images: from x and dy to the gradients that are wanted (NULL: not this one). */
static fire_status_t backward_run(fire_layer_t *l, int64_t n, const float *x,
                                  const float *dy, const float *weights, float *diff,
                                  float *dx)
{
    if (FIRE_STATE(l, fire_conv_t)->reverse) {
        if (diff != NULL) FIRE_TRY(to_weights(l, n, dy, x, diff));
        return dx != NULL ? to_map(l, n, dy, weights, dx) : FIRE_OK;
    }
    if (diff != NULL) FIRE_TRY(to_weights(l, n, x, dy, diff));
    return dx != NULL ? to_image(l, n, dy, weights, dx) : FIRE_OK;
}

static fire_status_t backward_pair(fire_layer_t *l, int k)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    int64_t            in_dim  = fire_conv_side_count(fire_conv_bottom(c));
    int64_t            out_dim = fire_conv_side_count(fire_conv_top(c));
    fire_format_t      plain   = FIRE_FORMAT_PLAIN(FIRE_GPU);
    const float       *weights, *x, *dy;
    float             *dx = NULL, *diff = NULL;

    FIRE_TRY(
        fire_gpu_epilogue_backward(l, k, top_view(c), &plain, c->bias, (void **)&dy));
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &diff);
    if (l->propagate_down[k]) FIRE_OUT(l, l->bottom[k], FIRE_DIFF, &dx);
    EACH_RUN(l, c, at, n)
    FIRE_TRY(backward_run(l, n, x + at * in_dim, dy + at * out_dim, weights, diff,
                          dx != NULL ? dx + at * in_dim : NULL));
    return FIRE_OK;
}

static fire_status_t conv_cuda_backward(fire_layer_t *l)
{
    for (int k = 0; k < l->ntop; k++)
        FIRE_TRY(backward_pair(l, k));
    return FIRE_OK;
}

static const fire_fusion_ops_t conv_cuda_fusion = {
    .absorbs = conv_cuda_absorbs,
};

const fire_kernel_t fire_conv_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .declines = conv_cuda_declines,
    .prepare  = conv_cuda_prepare,
    .forward  = conv_cuda_forward,
    .backward = conv_cuda_backward,
    .release  = conv_cuda_release,
    .fusion   = &conv_cuda_fusion,
};
