/* box_output.c - BoxOutput of MS-CNN: the proposals of several maps.
 *
 *   bottoms: (N, classes + 4, H, W) scores of background and classes, then how the object
 *            differs from the map's field: shift of the centre, logarithm of the size
 *   top 0:   regions for ROIPooling, top 1 (optional): with scores (fields.h)
 *
 * The score of a place is that of its best class minus the background's. */
#include "layers/detection/mscnn/fields.h"

#include <math.h>

static fire_status_t box_output_setup(fire_layer_t *l)
{
    const Caffe__BoxOutputParameter *p = l->param->box_output_param;
    fire_field_rules_t              *r = &FIRE_STATE(l, fire_fields_t)->rules;
    size_t                           n = (size_t)l->nbottom;

    if (p == NULL || p->n_field_h != n || p->n_field_w != n ||
        p->n_downsample_rate != n)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "box_output_param needs field_h, field_w and downsample_rate for "
            "each of the %zu maps",
            n);
    if (!(p->field_whr > 0.0f && p->field_xyr > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "field_whr and field_xyr must be positive");
    *r = (fire_field_rules_t){.shift       = 1.0f / p->field_xyr,
                              .zoom        = logf(p->field_whr),
                              .least_score = p->fg_thr,
                              .least_size  = p->min_size,
                              .threshold   = p->iou_thr,
                              .before      = p->max_nms_num,
                              .after       = p->max_post_nms_num};
    FIRE_TRY(fire_share_read(p->nms_type != NULL ? p->nms_type : "IOU", &r->share));
    return fire_bbox_reg_read(l->param->bbox_reg_param, &r->reg);
}

static fire_status_t box_output_reshape(fire_layer_t *l)
{
    for (int i = 0; i < l->nbottom; i++) {
        const fire_blob_t *x = l->bottom[i], *first = l->bottom[0];

        if (x->ndim != 4 || x->dim[1] < 6 || x->dim[0] != first->dim[0] ||
            x->dim[1] != first->dim[1])
            return FIRE_FAIL(
                FIRE_ERR_INVALID,
                "all maps must be (N, classes + 4, H, W) with the same N and "
                "two classes or more");
    }
    return fire_fields_reshape(l);
}

/* All places of one image of one map. */
static fire_status_t find(fire_layer_t *l, int map, const float *x, int64_t image)
{
    const Caffe__BoxOutputParameter *p   = l->param->box_output_param;
    fire_fields_t                   *s   = l->state;
    const int64_t                   *dim = l->bottom[map]->dim;
    int64_t plane = dim[2] * dim[3], extent[] = {dim[3], dim[2]};
    float   field[] = {(float)p->field_w[map], (float)p->field_h[map]};

    x += image * dim[1] * plane;
    for (int64_t i = 0; i < plane; i++) {
        float best = x[plane + i];

        for (int64_t c = 2; c < dim[1] - 4; c++)
            best = fmaxf(best, x[c * plane + i]);
        if (best - x[i] >= s->rules.least_score)
            FIRE_TRY(fire_fields_add(s, image, best - x[i],
                                     x + (dim[1] - 4) * plane + i, plane, field,
                                     (float)p->downsample_rate[map], extent, i));
    }
    return FIRE_OK;
}

static fire_status_t box_output_forward(fire_layer_t *l)
{
    int64_t      images = l->bottom[0]->dim[0];
    const float *x;

    FIRE_STATE(l, fire_fields_t)->n = 0;
    for (int map = 0; map < l->nbottom; map++) {
        FIRE_IN(l, l->bottom[map], FIRE_DATA, &x);
        for (int64_t image = 0; image < images; image++)
            FIRE_TRY(find(l, map, x, image));
    }
    return fire_fields_write(l, images);
}

const fire_kernel_t fire_box_output_ref = {
    .name    = "ref",
    .forward = box_output_forward,
};

static const fire_kernel_t *const box_output_kernels[] = {&fire_box_output_ref, NULL};

const fire_layer_ops_t fire_layer_box_output = {
    .type        = "BoxOutput",
    .bottoms     = {1, 32},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = ~0u,
    .state_size  = sizeof(fire_fields_t),
    .setup       = box_output_setup,
    .reshape     = box_output_reshape,
    .teardown    = fire_fields_teardown,
    .kernels     = box_output_kernels,
};
