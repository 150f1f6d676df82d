/* conv_onednn.c - convolution by oneDNN, with a ReLU that follows in place, and
 * deconvolution, whose forward pass is convolution's backward pass. Operations are made
 * when first used: only then is it known which layers run backward. */
#include "device/cpu/onednn.h"
#include "layers/conv/conv.h"

typedef struct conv_onednn {
    fire_onednn_op_t to_map, to_image, gradient; /* gradient: of weights and bias */
    float           *dbias; /* its output for the bias, owned; NULL: none */
} conv_onednn_t;

static const char *conv_onednn_declines(const fire_layer_t *l)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);

    if (c->axis != 1) return "channels are not axis 1";
    if (c->window.axes < 1 || c->window.axes > FIRE_ONEDNN_SPATIAL)
        return "oneDNN supports 1 to 3 spatial axes";
    if (fire_blob_count(l->bottom[0]) == 0) return "the input is empty";
    return NULL;
}

static void forget(conv_onednn_t *s)
{
    fire_onednn_op_fini(&s->to_map);
    fire_onednn_op_fini(&s->to_image);
    fire_onednn_op_fini(&s->gradient);
    fire_free(s->dbias);
    *s = (conv_onednn_t){0};
}

static void conv_onednn_release(fire_layer_t *l)
{
    if (l->kernel_state == NULL) return;
    forget(l->kernel_state);
    fire_free(l->kernel_state);
    l->kernel_state = NULL;
}

static fire_status_t conv_onednn_prepare(fire_layer_t *l)
{
    if (l->kernel_state == NULL) return FIRE_NEW((conv_onednn_t **)&l->kernel_state, 1);
    forget(l->kernel_state);
    return FIRE_OK;
}

static bool conv_onednn_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return fire_conv_absorbs(l, next);
}

static unsigned conv_onednn_backward_reads(const fire_layer_t *l)
{
    return fire_conv_relu_backward_reads(l);
}

/* Make an operation on its first use. */
static fire_status_t make_op(const fire_layer_t *l, fire_onednn_pass_t pass,
                             fire_onednn_op_t *op)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    fire_onednn_conv_t d = {.window       = &c->window,
                            .num          = c->images,
                            .group        = c->group,
                            .in_channels  = c->image.channels,
                            .out_channels = c->map.channels,
                            .in           = c->image.dim,
                            .out          = c->map.dim,
                            .dtype        = l->ctx->precision,
                            .bias         = (c->bias && !c->reverse) ||
                                    fire_conv_has_folded_norm(l),
                            .exact = l->ctx->exact};

    if (op->primitive != NULL) return FIRE_OK;
    d.relu = fire_conv_has_relu(l, &d.relu_slope);
    return fire_onednn_conv_op(&d, pass, op);
}

/* In training the copy of the weights in oneDNN's format serves one pass, as the
 * weights then change. Free it where memory is to be saved. */
static void trim_weights(fire_layer_t *l)
{
    if (l->ctx->lean && l->phase == CAFFE__PHASE__TRAIN)
        fire_storage_trim(l->blob[0]->part[FIRE_DATA]);
}

static fire_blob_t *image_of(const fire_layer_t *l, int k)
{
    return FIRE_STATE(l, fire_conv_t)->reverse ? l->top[k] : l->bottom[k];
}

static fire_blob_t *map_of(const fire_layer_t *l, int k)
{
    return FIRE_STATE(l, fire_conv_t)->reverse ? l->bottom[k] : l->top[k];
}

/* map = weights * image + bias, then ReLU: forward of Convolution, backward of
 * Deconvolution. part: data or diff */
static fire_status_t to_map(fire_layer_t *l, int k, fire_part_t part)
{
    fire_onednn_op_t *op = &((conv_onednn_t *)l->kernel_state)->to_map;
    fire_blob_t *map = l->fusion.nfollower > 0 ? fire_layer_result(l) : map_of(l, k);
    void        *arg[FIRE_ONEDNN_ARGS];
    const void  *weights;
    const float *bias;

    FIRE_TRY(make_op(l, FIRE_ONEDNN_FORWARD, op));
    FIRE_TRY(fire_conv_weights(l, &op->format[1], &weights, &bias));
    arg[1] = (void *)weights;
    arg[3] = (void *)bias;
    FIRE_IN_AS(image_of(l, k), part, &op->format[0], &arg[0]);
    FIRE_OUT_AS(map, part, &op->format[2], &arg[2]);
    return fire_onednn_op_run(op, arg, l->ctx->pool);
}

/* The transpose: backward of Convolution, forward of Deconvolution. */
static fire_status_t to_image(fire_layer_t *l, int k, fire_part_t part)
{
    fire_onednn_op_t *op = &((conv_onednn_t *)l->kernel_state)->to_image;
    void             *arg[FIRE_ONEDNN_ARGS];

    FIRE_TRY(make_op(l, FIRE_ONEDNN_BACKWARD_DATA, op));
    FIRE_IN_AS(l->blob[0], FIRE_DATA, &op->format[1], &arg[1]);
    FIRE_IN_AS(map_of(l, k), part, &op->format[2], &arg[2]);
    FIRE_OUT_AS(image_of(l, k), part, &op->format[0], &arg[0]);
    return fire_onednn_op_run(op, arg, l->ctx->pool);
}

/* oneDNN adds the bias of a convolution, but its backward pass, deconvolution, has
 * none. */
static fire_status_t add_image_bias(fire_layer_t *l, int k)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    const float       *bias;
    float             *y;

    if (!c->bias) return FIRE_OK;
    FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    FIRE_INOUT(l, l->top[k], FIRE_DATA, &y);
    for (int64_t i = 0; i < c->images * c->image.channels; i++, y += c->image.plane)
        for (int64_t j = 0; j < c->image.plane; j++)
            y[j] += bias[i % c->image.channels];
    return FIRE_OK;
}

/* The gradient of that bias: sums over the planes of dy. */
static fire_status_t sum_image_bias(fire_layer_t *l, int k)
{
    const fire_conv_t *c = FIRE_STATE(l, fire_conv_t);
    const float       *dy;
    float             *diff;

    if (!c->bias || !l->param_gradient[1]) return FIRE_OK;
    FIRE_IN(l, l->top[k], FIRE_DIFF, &dy);
    FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &diff);
    for (int64_t i = 0; i < c->images * c->image.channels; i++, dy += c->image.plane) {
        float sum = 0;

        for (int64_t j = 0; j < c->image.plane; j++)
            sum += dy[j];
        diff[i % c->image.channels] += sum;
    }
    return FIRE_OK;
}

static fire_status_t conv_onednn_forward(fire_layer_t *l)
{
    for (int k = 0; k < l->nbottom; k++) {
        if (!FIRE_STATE(l, fire_conv_t)->reverse) {
            FIRE_TRY(to_map(l, k, FIRE_DATA));
            continue;
        }
        FIRE_TRY(to_image(l, k, FIRE_DATA));
        FIRE_TRY(add_image_bias(l, k));
    }
    trim_weights(l);
    return FIRE_OK;
}

static fire_status_t backward_data(fire_layer_t *l, int k)
{
    if (!l->propagate_down[k]) return FIRE_OK;
    return FIRE_STATE(l, fire_conv_t)->reverse ? to_map(l, k, FIRE_DIFF)
                                               : to_image(l, k, FIRE_DIFF);
}

static size_t bytes_of(const fire_format_t *f, const fire_blob_t *b)
{
    return f->layout == FIRE_OPAQUE
               ? f->opaque->bytes
               : (size_t)fire_blob_count(b) * fire_dtype_size(f->dtype);
}

static fire_status_t make_gradient(fire_layer_t *l, conv_onednn_t *s)
{
    FIRE_TRY(make_op(l, FIRE_ONEDNN_BACKWARD_WEIGHTS, &s->gradient));
    if (s->dbias == NULL && s->gradient.narg > 3)
        FIRE_TRY(FIRE_NEW(&s->dbias, fire_blob_count(l->blob[1])));
    return FIRE_OK;
}

/* Add dweights to the parameter's gradient; convert right into it if it is still
 * zero. */
static fire_status_t add_weights(fire_layer_t *l, const fire_format_t *f,
                                 const void *dweights)
{
    fire_blob_t *b    = l->blob[0];
    bool         zero = fire_storage_is_zero(b->part[FIRE_DIFF]);
    float       *diff;

    if (!l->param_gradient[0]) return FIRE_OK;
    if (!zero || f->layout != FIRE_OPAQUE) {
        FIRE_INOUT(l, b, FIRE_DIFF, &diff);
        return fire_onednn_add_plain(f, dweights, fire_blob_count(b), diff);
    }
    FIRE_OUT(l, b, FIRE_DIFF, &diff);
    return f->opaque->to_plain(f->opaque, dweights, diff);
}

static fire_status_t add_gradient(fire_layer_t *l, conv_onednn_t *s,
                                  const void *dweights)
{
    float *diff;

    FIRE_TRY(add_weights(l, &s->gradient.format[1], dweights));
    if (s->dbias == NULL || !l->param_gradient[1]) return FIRE_OK;
    FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &diff);
    for (int64_t i = 0; i < fire_blob_count(l->blob[1]); i++)
        diff[i] += s->dbias[i];
    return FIRE_OK;
}

/* dweights: scratch memory in oneDNN's format, for the gradient of the weights */
static fire_status_t run_gradient(fire_layer_t *l, int k, void *dweights)
{
    bool              reverse               = FIRE_STATE(l, fire_conv_t)->reverse;
    conv_onednn_t    *s                     = l->kernel_state;
    fire_onednn_op_t *op                    = &s->gradient;
    void             *arg[FIRE_ONEDNN_ARGS] = {[1] = dweights, [3] = s->dbias};

    FIRE_IN_AS(image_of(l, k), reverse ? FIRE_DIFF : FIRE_DATA, &op->format[0],
               &arg[0]);
    FIRE_IN_AS(map_of(l, k), reverse ? FIRE_DATA : FIRE_DIFF, &op->format[2], &arg[2]);
    FIRE_TRY(fire_onednn_op_run(op, arg, l->ctx->pool));
    return add_gradient(l, s, dweights);
}

/* Gradients of weights and bias, through scratch memory in oneDNN's format. */
static fire_status_t backward_weights(fire_layer_t *l, int k)
{
    conv_onednn_t *s = l->kernel_state;
    void          *dweights;
    fire_status_t  st;

    if (!l->param_gradient[0] && !(l->nblob > 1 && l->param_gradient[1]))
        return FIRE_OK;
    FIRE_TRY(make_gradient(l, s));
    FIRE_TRY(fire_pool_take(l->ctx->pool, bytes_of(&s->gradient.format[1], l->blob[0]),
                            &dweights));
    st = run_gradient(l, k, dweights);
    fire_pool_give(l->ctx->pool, dweights);
    return st;
}

static fire_status_t conv_onednn_backward(fire_layer_t *l)
{
    FIRE_TRY(fire_conv_relu_backward(l));
    for (int k = 0; k < l->ntop; k++) {
        if (FIRE_STATE(l, fire_conv_t)->reverse) FIRE_TRY(sum_image_bias(l, k));
        FIRE_TRY(backward_weights(l, k));
        FIRE_TRY(backward_data(l, k));
    }
    trim_weights(l);
    return FIRE_OK;
}

static const fire_fusion_ops_t conv_onednn_fusion = {
    .absorbs        = conv_onednn_absorbs,
    .backward_reads = conv_onednn_backward_reads,
};

const fire_kernel_t fire_conv_onednn = {
    .name     = "onednn",
    .declines = conv_onednn_declines,
    .prepare  = conv_onednn_prepare,
    .forward  = conv_onednn_forward,
    .backward = conv_onednn_backward,
    .release  = conv_onednn_release,
    .fusion   = &conv_onednn_fusion,
};
