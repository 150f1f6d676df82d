/* conv_ref.c - convolution as Caffe computes it: one image at a time, im2col, then one
 * matrix product per group. A 1x1 kernel with stride 1 needs no columns. With the same
 * BLAS the results have Caffe's bits. */
#include "device/cpu/blas.h"
#include "layers/conv/conv.h"

/* columns: (kernel_dim * group, map.plane) of one image; ones: a vector to sum a
 * plane. */
typedef struct conv_ref {
    fire_scratch_t columns, ones;
} conv_ref_t;

/* Memory for the columns of one image. */
static fire_status_t fit_columns(const fire_conv_t *c, fire_scratch_t *columns)
{
    int64_t n;

    if (__builtin_mul_overflow(c->kernel_dim * c->group, c->map.plane, &n))
        return FIRE_FAIL(
            FIRE_ERR_NOMEM, "%lld kernel elements at %lld places are too many",
            (long long)(c->kernel_dim * c->group), (long long)c->map.plane);
    return fire_scratch_fit(columns, n);
}

static fire_status_t conv_ref_prepare(fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    conv_ref_t        *r = l->kernel_state;

    if (r == NULL) FIRE_TRY(FIRE_NEW(&r, 1));
    l->kernel_state = r;
    if (!fire_window_is_pointwise(&c->window)) FIRE_TRY(fit_columns(c, &r->columns));
    return fire_scratch_ones(&r->ones, c->map.plane > c->image.plane ? c->map.plane
                                                                     : c->image.plane);
}

static void conv_ref_release(fire_layer_t *l)
{
    conv_ref_t *r = l->kernel_state;

    if (r == NULL) return;
    fire_scratch_free(&r->columns);
    fire_scratch_free(&r->ones);
    fire_free(r);
    l->kernel_state = NULL;
}

static const float *columns_of(const fire_layer_t *l, const float *image, bool again)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    float             *columns = ((conv_ref_t *)l->kernel_state)->columns.x;

    if (fire_window_is_pointwise(&c->window)) return image;
    if (!again)
        fire_im2col(&c->window, c->image.channels, c->image.dim, c->map.dim, image,
                    columns);
    return columns;
}

/* Elements of one group's part of weights, columns and map; rows: its map channels. */
typedef struct part {
    int64_t rows, weights, columns, map;
} part_t;

static part_t group_part(const fire_conv_t *c)
{
    int64_t rows = c->map.channels / c->group;

    return (part_t){rows, rows * c->kernel_dim, c->kernel_dim * c->map.plane,
                    rows * c->map.plane};
}

/* map = weights * im2col(image). again: the columns are still those of this image. */
static void to_map(const fire_layer_t *l, const float *image, const float *weights,
                   bool again, float *map)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    const float       *columns = columns_of(l, image, again);
    part_t             part    = group_part(c);

    for (int64_t g = 0; g < c->group; g++)
        fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, part.rows, c->map.plane, c->kernel_dim,
                  1.0f, weights + g * part.weights, columns + g * part.columns, 0.0f,
                  map + g * part.map);
}

/* image = col2im(weights' * map) */
static void to_image(const fire_layer_t *l, const float *map, const float *weights,
                     float *image)
{
    const fire_conv_t *c         = FIRE_STATE(l, fire_conv_t);
    bool               pointwise = fire_window_is_pointwise(&c->window);
    float *columns = pointwise ? image : ((conv_ref_t *)l->kernel_state)->columns.x;
    part_t part    = group_part(c);

    for (int64_t g = 0; g < c->group; g++)
        fire_gemm(FIRE_TRANS, FIRE_NO_TRANS, c->kernel_dim, c->map.plane, part.rows,
                  1.0f, weights + g * part.weights, map + g * part.map, 0.0f,
                  columns + g * part.columns);
    if (!pointwise)
        fire_col2im(&c->window, c->image.channels, c->image.dim, c->map.dim, columns,
                    image);
}

/* diff += map * im2col(image)' */
static void to_weights(const fire_layer_t *l, const float *image, const float *map,
                       float *diff)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    const float       *columns = columns_of(l, image, false);
    part_t             part    = group_part(c);

    for (int64_t g = 0; g < c->group; g++)
        fire_gemm(FIRE_NO_TRANS, FIRE_TRANS, part.rows, c->kernel_dim, c->map.plane,
                  1.0f, map + g * part.map, columns + g * part.columns, 1.0f,
                  diff + g * part.weights);
}

static void add_bias(const fire_conv_side_t *side, const float *bias, float *x)
{
    for (int64_t k = 0; k < side->channels; k++, x += side->plane)
        for (int64_t i = 0; i < side->plane; i++)
            x[i] += bias[k];
}

/* diff[channel] += the sum of its plane */
static void sum_bias(const fire_layer_t *l, const fire_conv_side_t *side,
                     const float *x, float *diff)
{
    const conv_ref_t *r = l->kernel_state;

    fire_gemv(FIRE_NO_TRANS, side->channels, side->plane, 1.0f, x, r->ones.x, 1.0f,
              diff);
}

static fire_status_t conv_ref_forward(fire_layer_t *l)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    int64_t            in_dim  = fire_conv_side_count(fire_conv_bottom(c));
    int64_t            out_dim = fire_conv_side_count(fire_conv_top(c));
    const float       *weights, *bias = NULL, *x;
    float             *y;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    if (c->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    for (int k = 0; k < l->nbottom; k++) {
        FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
        FIRE_OUT(l, l->top[k], FIRE_DATA, &y);
        for (int64_t n = 0; n < c->images; n++, x += in_dim, y += out_dim) {
            if (c->reverse)
                to_image(l, x, weights, y);
            else
                to_map(l, x, weights, false, y);
            if (c->bias) add_bias(fire_conv_top(c), bias, y);
        }
    }
    return FIRE_OK;
}

/* Image after image, as Caffe does. */
static fire_status_t backward_bias(fire_layer_t *l, const float *dy)
{
    const fire_conv_t      *c   = FIRE_STATE(l, fire_conv_t);
    const fire_conv_side_t *top = fire_conv_top(c);
    float                  *diff;

    if (!c->bias || !l->param_gradient[1]) return FIRE_OK;
    FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &diff);
    for (int64_t n = 0; n < c->images; n++)
        sum_bias(l, top, dy + n * fire_conv_side_count(top), diff);
    return FIRE_OK;
}

/* One image: from x and dy to the gradients that are wanted (NULL: not this one). */
static void backward_image(const fire_layer_t *l, const float *x, const float *dy,
                           const float *weights, float *diff, float *dx)
{
    if (FIRE_STATE(l, fire_conv_t)->reverse) {
        if (diff != NULL) to_weights(l, dy, x, diff);
        if (dx != NULL) to_map(l, dy, weights, diff != NULL, dx);
    } else {
        if (diff != NULL) to_weights(l, x, dy, diff);
        if (dx != NULL) to_image(l, dy, weights, dx);
    }
}

static fire_status_t backward_pair(fire_layer_t *l, int k)
{
    const fire_conv_t *c       = FIRE_STATE(l, fire_conv_t);
    int64_t            in_dim  = fire_conv_side_count(fire_conv_bottom(c));
    int64_t            out_dim = fire_conv_side_count(fire_conv_top(c));
    const float       *weights, *x, *dy;
    float             *dx = NULL, *diff = NULL;

    FIRE_IN(l, l->top[k], FIRE_DIFF, &dy);
    FIRE_TRY(backward_bias(l, dy));
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    FIRE_IN(l, l->bottom[k], FIRE_DATA, &x);
    if (l->param_gradient[0]) FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &diff);
    if (l->propagate_down[k]) FIRE_OUT(l, l->bottom[k], FIRE_DIFF, &dx);
    for (int64_t n = 0; n < c->images; n++)
        backward_image(l, x + n * in_dim, dy + n * out_dim, weights, diff,
                       dx != NULL ? dx + n * in_dim : NULL);
    return FIRE_OK;
}

static fire_status_t conv_ref_backward(fire_layer_t *l)
{
    for (int k = 0; k < l->ntop; k++)
        FIRE_TRY(backward_pair(l, k));
    return FIRE_OK;
}

const fire_kernel_t fire_conv_ref = {
    .name     = "ref",
    .prepare  = conv_ref_prepare,
    .forward  = conv_ref_forward,
    .backward = conv_ref_backward,
    .release  = conv_ref_release,
};
