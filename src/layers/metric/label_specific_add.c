/* label_specific_add.c - LabelSpecificAdd, of AM-Softmax (Wang et al. 2018): adds `bias`
 * to the score of the label's class, in phase TEST only with transform_test. Runs on the
 * CPU.
 *
 *   bottom 0: (N, classes)      bottom 1: (N) labels      top 0: (N, classes) */
#include "device/cpu/blas.h"
#include "layers/loss/loss.h"

static fire_status_t label_specific_add_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim < 1 || fire_blob_count(l->bottom[1]) != x->dim[0])
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld labels for %lld items",
                         (long long)fire_blob_count(l->bottom[1]),
                         (long long)fire_blob_dim_or_1(x, 0));
    return fire_layer_reshape_same(l);
}

static fire_status_t label_specific_add_forward(fire_layer_t *l)
{
    static const fire_loss_t                none = {.has_ignore = false};
    const Caffe__LabelSpecificAddParameter *p    = FIRE_PARAM(
           l, label_specific_add_param, CAFFE__LABEL_SPECIFIC_ADD_PARAMETER__INIT);
    int64_t      items = l->bottom[0]->dim[0], n = fire_blob_count(l->bottom[0]), c;
    const float *x, *label;
    float       *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    if (x != y) fire_copy(n, x, y);
    if (l->phase != CAFFE__PHASE__TRAIN && !p->transform_test) return FIRE_OK;
    for (int64_t i = 0; i < items; i++) {
        FIRE_TRY(fire_loss_label(&none, label[i], i, n / items, &c));
        y[i * (n / items) + c] += p->bias;
    }
    return FIRE_OK;
}

static fire_status_t label_specific_add_backward(fire_layer_t *l)
{
    const float *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    if (dx != dy) fire_copy(fire_blob_count(l->bottom[0]), dy, dx);
    return FIRE_OK;
}

const fire_kernel_t fire_label_specific_add_ref = {
    .name     = "ref",
    .forward  = label_specific_add_forward,
    .backward = label_specific_add_backward,
};

static const fire_kernel_t *const label_specific_add_kernels[] = {
    &fire_label_specific_add_ref, NULL};

const fire_layer_ops_t fire_layer_label_specific_add = {
    .type        = "LabelSpecificAdd",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_INPLACE | FIRE_LAYER_HOST,
    .no_gradient = 1u << 1, /* labels */
    .reshape     = label_specific_add_reshape,
    .kernels     = label_specific_add_kernels,
};
