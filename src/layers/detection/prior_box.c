/* prior_box.c - PriorBox: the boxes that SSD's predictions are relative to. At every
 * place of a feature map there are boxes of several sizes and aspect ratios.
 *
 *   bottom 0: (N, C, H, W) the feature map; only its size is used
 *   bottom 1: (N, C, height, width) the image; only its size is used
 *   top 0:    (1, 2, H * W * boxes * 4): channel 0 the boxes (xmin, ymin, xmax, ymax
 *             in units of the image), channel 1 the variances to scale them by */
#include <math.h>
#include <string.h>

#include "layers/memory_cuda.h"
#include "layers/detection/bbox.h"

enum { MAX_RATIOS = 64 };

/* The state of the layer. */
typedef struct prior_box {
    int   nratio; /* aspect ratios, the first is 1 */
    float ratio[MAX_RATIOS];
    float variance[4];

    float *
        boxes; /* the top's values, which depend only on shapes; boxes, then variances */
    int64_t cap;
} prior_box_t;

/* Add an aspect ratio unless it is there already. */
static fire_status_t add_ratio(prior_box_t *s, float ratio)
{
    if (!(ratio > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "aspect_ratio %g must be positive",
                         (double)ratio);
    for (int i = 0; i < s->nratio; i++)
        if (fabsf(s->ratio[i] - ratio) < 1e-6f) return FIRE_OK;
    if (s->nratio == MAX_RATIOS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "more than %d aspect ratios", MAX_RATIOS);
    s->ratio[s->nratio++] = ratio;
    return FIRE_OK;
}

/* Check the prototxt. */
static fire_status_t check_sizes(const Caffe__PriorBoxParameter *p)
{
    if (p == NULL || p->n_min_size == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "prior_box_param { min_size } is missing");
    if (p->n_max_size > 0 && p->n_max_size != p->n_min_size)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%zu values of max_size for %zu of min_size",
                         p->n_max_size, p->n_min_size);
    for (size_t i = 0; i < p->n_min_size; i++)
        if (!(p->min_size[i] > 0.0f) ||
            (p->n_max_size > 0 && !(p->max_size[i] > p->min_size[i])))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "min_size must be positive and max_size above it");
    if (p->n_variance > 1 && p->n_variance != 4)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give none, 1 or 4 of variance, not %zu",
                         p->n_variance);
    for (size_t i = 0; i < p->n_variance; i++)
        if (!(p->variance[i] > 0.0f))
            return FIRE_FAIL(FIRE_ERR_INVALID, "variance must be positive");
    return FIRE_OK;
}

/* Collect the distinct aspect ratios, with `flip` also 1 / ratio, and the variances. */
static fire_status_t prior_box_setup(fire_layer_t *l)
{
    const Caffe__PriorBoxParameter *p = l->param->prior_box_param;
    prior_box_t                    *s = FIRE_STATE(l, prior_box_t);

    FIRE_TRY(check_sizes(p));
    FIRE_TRY(add_ratio(s, 1.0f));
    for (size_t i = 0; i < p->n_aspect_ratio; i++) {
        FIRE_TRY(add_ratio(s, p->aspect_ratio[i]));
        if (p->flip) FIRE_TRY(add_ratio(s, 1.0f / p->aspect_ratio[i]));
    }
    for (int i = 0; i < 4; i++)
        s->variance[i] =
            p->n_variance == 0 ? 0.1f : p->variance[p->n_variance == 1 ? 0 : i];
    return FIRE_OK;
}

/* Boxes at each place: (sizes * ratios) + one per max_size. */
static int64_t priors_per_place(const fire_layer_t *l)
{
    const Caffe__PriorBoxParameter *p = l->param->prior_box_param;

    return (int64_t)p->n_min_size * FIRE_STATE(l, prior_box_t)->nratio +
           (int64_t)p->n_max_size;
}

static fire_status_t prior_box_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim != 4 || l->bottom[1]->ndim != 4)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "both bottoms must have 4 axes (num, channels, height, width)");
    return fire_blob_reshape(
        l->top[0], 3,
        (int64_t[]){1, 2, x->dim[2] * x->dim[3] * priors_per_place(l) * 4});
}

/* Image size and distance between places, in pixels; [0] height, [1] width. */
typedef struct grid {
    float image[2], step[2];
} grid_t;

/* Image size and step: from the prototxt, else from the bottoms. */
static grid_t find_grid(const fire_layer_t *l)
{
    const Caffe__PriorBoxParameter *p = l->param->prior_box_param;
    uint32_t given_size[]             = {p->has_img_h ? p->img_h : p->img_size,
                             p->has_img_w ? p->img_w : p->img_size};
    float given_step[] = {p->has_step_h ? p->step_h : p->step,
                          p->has_step_w ? p->step_w : p->step};
    grid_t g;

    for (int i = 0; i < 2; i++) {
        g.image[i] = (float)(given_size[i] > 0 ? (int64_t)given_size[i]
                                               : l->bottom[1]->dim[2 + i]);
        g.step[i]  = given_step[i] > 0.0f ? given_step[i]
                                          : g.image[i] / (float)l->bottom[0]->dim[2 + i];
    }
    return g;
}

/* The box of size w x h pixels around (x, y), in units of the image. */
static fire_bbox_t box_at(const grid_t *g, float x, float y, float w, float h)
{
    return (fire_bbox_t){(x - w / 2.0f) / g->image[1], (y - h / 2.0f) / g->image[0],
                         (x + w / 2.0f) / g->image[1], (y + h / 2.0f) / g->image[0]};
}

/* Write all boxes of one place, in SSD's order; returns the end. */
static fire_bbox_t *add_place(const fire_layer_t *l, const grid_t *g, float x, float y,
                              fire_bbox_t *box)
{
    const Caffe__PriorBoxParameter *p = l->param->prior_box_param;
    const prior_box_t              *s = FIRE_STATE(l, prior_box_t);

    for (size_t i = 0; i < p->n_min_size; i++) {
        float size = p->min_size[i];

        *box++ = box_at(g, x, y, size, size);
        if (p->n_max_size > 0) {
            float middle = sqrtf(size * p->max_size[i]);

            *box++ = box_at(g, x, y, middle, middle);
        }
        for (int k = 1; k < s->nratio; k++)
            *box++ =
                box_at(g, x, y, size * sqrtf(s->ratio[k]), size / sqrtf(s->ratio[k]));
    }
    return box;
}

static size_t bytes_of(const fire_layer_t *l)
{
    return (size_t)fire_blob_count(l->top[0]) * sizeof(float);
}

/* Compute the top's values, once per shape; forward copies them. */
static fire_status_t prior_box_prepare(fire_layer_t *l)
{
    const Caffe__PriorBoxParameter *p = l->param->prior_box_param;
    prior_box_t                    *s = FIRE_STATE(l, prior_box_t);
    int64_t                         n = l->top[0]->dim[2];
    grid_t                          g = find_grid(l);
    float                          *y;
    fire_bbox_t                    *box;

    FIRE_TRY(fire_grow(&s->boxes, &s->cap, 2 * n, sizeof(*s->boxes)));
    y   = s->boxes;
    box = (fire_bbox_t *)y;
    for (int64_t row = 0; row < l->bottom[0]->dim[2]; row++)
        for (int64_t column = 0; column < l->bottom[0]->dim[3]; column++)
            box = add_place(l, &g, ((float)column + p->offset) * g.step[1],
                            ((float)row + p->offset) * g.step[0], box);
    for (box = (fire_bbox_t *)y; p->clip && box < (fire_bbox_t *)(y + n); box++)
        *box = fire_bbox_clip(*box);
    for (int64_t i = 0; i < n; i++)
        y[n + i] = s->variance[i % 4];
    FIRE_IF_GPU(l, fire_gpu_keep_copy(l, y, bytes_of(l)));
    return FIRE_OK;
}

static fire_status_t prior_box_forward(fire_layer_t *l)
{
    float *y;

    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l, fire_device_find(FIRE_GPU)->copy(y, fire_gpu_kept(l), bytes_of(l)));
    memcpy(y, FIRE_STATE(l, prior_box_t)->boxes, bytes_of(l));
    return FIRE_OK;
}

static void prior_box_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, prior_box_t)->boxes);
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_prior_box_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .prepare = prior_box_prepare,
    .forward = prior_box_forward,
    .release = fire_gpu_release,
};
#endif

const fire_kernel_t fire_prior_box_ref = {
    .name    = "ref",
    .prepare = prior_box_prepare,
    .forward = prior_box_forward,
};

static const fire_kernel_t *const prior_box_kernels[] = {
    FIRE_IF_CUDA(fire_prior_box_cuda) &fire_prior_box_ref, NULL};

const fire_layer_ops_t fire_layer_prior_box = {
    .type        = "PriorBox",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .no_gradient = 3, /* only the sizes of the bottoms are used */
    .state_size  = sizeof(prior_box_t),
    .setup       = prior_box_setup,
    .reshape     = prior_box_reshape,
    .teardown    = prior_box_teardown,
    .kernels     = prior_box_kernels,
};
