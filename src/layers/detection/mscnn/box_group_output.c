/* box_group_output.c - BoxGroupOutput of Cascade R-CNN: the proposals of several maps,
 * each with a group of fields.
 *
 *   bottoms: for each map (N * fields, classes, H, W) probabilities, the background's
 *            first, and (N * fields, 4, H, W) how the object differs from the field: shift
 *            of the centre, logarithm of the size
 *   top 0:   regions for ROIPooling, top 1 (optional): with scores (fields.h)
 *
 * The score is 1 minus the background's probability. */
#include "layers/detection/mscnn/fields.h"

#include <math.h>

static const Caffe__BoxGroupParameter *group_of(const fire_layer_t *l, int map)
{
    return l->param->box_group_output_param->box_group_param[map];
}

static fire_status_t box_group_setup(fire_layer_t *l)
{
    const Caffe__BoxGroupOutputParameter *p = l->param->box_group_output_param;
    fire_field_rules_t                   *r = &FIRE_STATE(l, fire_fields_t)->rules;

    if (p == NULL || l->nbottom % 2 != 0 ||
        p->n_box_group_param != (size_t)l->nbottom / 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "box_group_output_param needs a box_group_param for each two "
                         "bottoms (probabilities, boxes); there are %d bottoms",
                         l->nbottom);
    for (int i = 0; i < l->nbottom / 2; i++)
        if (group_of(l, i)->n_field_h == 0 ||
            group_of(l, i)->n_field_h != group_of(l, i)->n_field_w)
            return FIRE_FAIL(
                FIRE_ERR_INVALID,
                "box_group_param needs as many of field_h as of field_w, at "
                "least one");
    if (!(p->field_whr > 0.0f && p->field_xyr > 0.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "field_whr and field_xyr must be positive");
    *r = (fire_field_rules_t){.shift       = 1.0f / p->field_xyr,
                              .zoom        = logf(p->field_whr),
                              .least_score = p->fg_thr,
                              .least_size  = p->min_size,
                              .threshold   = p->iou_thr,
                              .before      = p->max_nms_num,
                              .after       = p->max_post_nms_num,
                              .end         = 1.0f};
    FIRE_TRY(fire_share_read(p->nms_type != NULL ? p->nms_type : "IOU", &r->share));
    return fire_bbox_reg_read(l->param->bbox_reg_param, &r->reg);
}

static int64_t images_of(const fire_layer_t *l)
{
    return l->bottom[0]->dim[0] / (int64_t)group_of(l, 0)->n_field_h;
}

static fire_status_t box_group_reshape(fire_layer_t *l)
{
    for (int i = 0; i < l->nbottom; i += 2) {
        const fire_blob_t *p = l->bottom[i], *b = l->bottom[i + 1];
        int64_t            fields = (int64_t)group_of(l, i / 2)->n_field_h;

        if (p->ndim != 4 || b->ndim != 4 || b->dim[1] != 4 || p->dim[0] != b->dim[0] ||
            p->dim[2] != b->dim[2] || p->dim[3] != b->dim[3] ||
            p->dim[0] % fields != 0 || p->dim[0] / fields != images_of(l))
            return FIRE_FAIL(
                FIRE_ERR_INVALID,
                "bottoms %d and %d must be probabilities (N * %lld, classes, "
                "H, W) and boxes (N * %lld, 4, H, W), with the same N for all",
                i, i + 1, (long long)fields, (long long)fields);
    }
    return fire_fields_reshape(l);
}

/* All places of one field's plane. */
static fire_status_t find(fire_layer_t *l, int map, const float *prob,
                          const float *delta, int64_t row)
{
    const Caffe__BoxGroupParameter *g   = group_of(l, map);
    fire_fields_t                  *s   = l->state;
    const int64_t                  *dim = l->bottom[2 * map]->dim;
    int64_t plane = dim[2] * dim[3], extent[] = {dim[3], dim[2]};
    int64_t k = row % (int64_t)g->n_field_h, image = row / (int64_t)g->n_field_h;
    float   field[] = {(float)g->field_w[k], (float)g->field_h[k]};

    for (int64_t i = 0; i < plane; i++) {
        float score = 1.0f - prob[row * dim[1] * plane + i];

        if (score >= s->rules.least_score)
            FIRE_TRY(fire_fields_add(s, image, score, delta + row * 4 * plane + i,
                                     plane, field, (float)g->stride, extent, i));
    }
    return FIRE_OK;
}

static fire_status_t box_group_forward(fire_layer_t *l)
{
    const float *prob, *delta;

    FIRE_STATE(l, fire_fields_t)->n = 0;
    for (int map = 0; map < l->nbottom / 2; map++) {
        FIRE_IN(l, l->bottom[2 * map], FIRE_DATA, &prob);
        FIRE_IN(l, l->bottom[2 * map + 1], FIRE_DATA, &delta);
        for (int64_t row = 0; row < l->bottom[2 * map]->dim[0]; row++)
            FIRE_TRY(find(l, map, prob, delta, row));
    }
    return fire_fields_write(l, images_of(l));
}

const fire_kernel_t fire_box_group_output_ref = {
    .name    = "ref",
    .forward = box_group_forward,
};

static const fire_kernel_t *const box_group_kernels[] = {&fire_box_group_output_ref,
                                                         NULL};

const fire_layer_ops_t fire_layer_box_group_output = {
    .type        = "BoxGroupOutput",
    .bottoms     = {2, 32},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = ~0u,
    .state_size  = sizeof(fire_fields_t),
    .setup       = box_group_setup,
    .reshape     = box_group_reshape,
    .teardown    = fire_fields_teardown,
    .kernels     = box_group_kernels,
};
