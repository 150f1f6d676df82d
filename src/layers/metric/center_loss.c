/* center_loss.c - CenterLoss (Wen et al. 2016): loss = sum |x - centre of its class|^2 /
 * (2 N). Runs on the CPU.
 *
 *   bottom 0: (N, inputs...) x      bottom 1: (N) labels
 *   top 0:    () loss               blob 0: (num_output, inputs) centres
 *
 * A centre is moved by the mean of its items' distances, one more than there are in the
 * divisor, whatever the loss weight. */
#include "device/cpu/blas.h"
#include "layers/loss/loss.h"

typedef struct center_loss {
    int64_t items, inputs, classes;
} center_loss_t;

static fire_status_t center_loss_setup(fire_layer_t *l)
{
    const Caffe__CenterLossParameter *p = l->param->center_loss_param;
    center_loss_t                    *s = FIRE_STATE(l, center_loss_t);
    int                               axis;

    if (p == NULL || p->num_output == 0 || p->num_output > INT32_MAX)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "center_loss_param { num_output } must be given and at least 1");
    FIRE_TRY(fire_blob_axis(l->bottom[0], p->axis, "center_loss_param", &axis));
    s->classes = p->num_output;
    s->inputs  = fire_blob_count_range(l->bottom[0], axis, l->bottom[0]->ndim);
    return fire_layer_add_blob(l, 2, (int64_t[]){s->classes, s->inputs},
                               p->center_filler);
}

static fire_status_t center_loss_reshape(fire_layer_t *l)
{
    center_loss_t *s = FIRE_STATE(l, center_loss_t);

    s->items = fire_blob_dim_or_1(l->bottom[0], 0);
    if (fire_blob_count(l->bottom[0]) != s->items * s->inputs ||
        fire_blob_count(l->bottom[1]) != s->items)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld values and %lld labels for %lld items of %lld inputs",
                         (long long)fire_blob_count(l->bottom[0]),
                         (long long)fire_blob_count(l->bottom[1]), (long long)s->items,
                         (long long)s->inputs);
    return fire_loss_reshape(l);
}

static fire_status_t class_of(const center_loss_t *s, const float *label, int64_t item,
                              int64_t *class_p)
{
    static const fire_loss_t none = {.has_ignore = false};

    return fire_loss_label(&none, label[item], item, s->classes, class_p);
}

static fire_status_t center_loss_forward(fire_layer_t *l)
{
    const center_loss_t *s = FIRE_STATE(l, center_loss_t);
    const float         *x, *label, *centre;
    float               *loss, sum = 0.0f;
    int64_t              c;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &centre);
    for (int64_t i = 0; i < s->items; i++) {
        FIRE_TRY(class_of(s, label, i, &c));
        for (int64_t k = 0; k < s->inputs; k++) {
            float d = x[i * s->inputs + k] - centre[c * s->inputs + k];

            sum += d * d;
        }
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &loss);
    loss[0] = s->items > 0 ? sum / (float)s->items / 2.0f : 0.0f;
    return FIRE_OK;
}

/* Add (centre - x) / (1 + items of the class) of all items. */
static fire_status_t move_centres(fire_layer_t *l, const float *x, const float *label,
                                  const float *centre)
{
    const center_loss_t *s = FIRE_STATE(l, center_loss_t);
    float               *diff;
    int64_t              c, other;

    if (!l->param_gradient[0]) return FIRE_OK;
    FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &diff);
    for (int64_t i = 0; i < s->items; i++) {
        int64_t n = 1;

        FIRE_TRY(class_of(s, label, i, &c));
        for (int64_t j = 0; j < s->items; j++) {
            FIRE_TRY(class_of(s, label, j, &other));
            n += other == c;
        }
        fire_axpy(s->inputs, 1.0f / (float)n, centre + c * s->inputs,
                  diff + c * s->inputs);
        fire_axpy(s->inputs, -1.0f / (float)n, x + i * s->inputs, diff + c * s->inputs);
    }
    return FIRE_OK;
}

static fire_status_t center_loss_backward(fire_layer_t *l)
{
    const center_loss_t *s = FIRE_STATE(l, center_loss_t);
    const float         *x, *label, *centre;
    float               *dx, weight;
    int64_t              c;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &centre);
    FIRE_TRY(move_centres(l, x, label, centre));
    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    for (int64_t i = 0; i < s->items; i++) {
        FIRE_TRY(class_of(s, label, i, &c));
        for (int64_t k = 0; k < s->inputs; k++)
            dx[i * s->inputs + k] = weight / (float)s->items *
                                    (x[i * s->inputs + k] - centre[c * s->inputs + k]);
    }
    return FIRE_OK;
}

const fire_kernel_t fire_center_loss_ref = {
    .name     = "ref",
    .forward  = center_loss_forward,
    .backward = center_loss_backward,
};

static const fire_kernel_t *const center_loss_kernels[] = {&fire_center_loss_ref, NULL};

const fire_layer_ops_t fire_layer_center_loss = {
    .type        = "CenterLoss",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .no_gradient = 1u << 1, /* labels */
    .state_size  = sizeof(center_loss_t),
    .setup       = center_loss_setup,
    .reshape     = center_loss_reshape,
    .kernels     = center_loss_kernels,
};
