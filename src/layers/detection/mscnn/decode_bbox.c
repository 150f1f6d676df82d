/* decode_bbox.c - DecodeBBox of Cascade R-CNN: the regions of the next stage.
 *
 *   bottom 0: (R, 8) how the object differs from its region, for background and object
 *   bottom 1: (R, 5) regions: image, x1, y1, x2, y2
 *   bottom 2: (R, K) (optional, in training) matching objects, whose last number is the
 *             overlap with the region
 *   top 0:    (R', 5, 1, 1) moved regions; in training without those that have no size
 *             and those that overlapped their object by gt_iou_thr or more */
#include "layers/detection/mscnn/fields.h"

#include <math.h>

enum { DELTA, ROI, MATCH, DELTAS = 8, ROI_ROW = 5 };

static fire_status_t decode_setup(fire_layer_t *l)
{
    if (l->nbottom > 2 && l->phase != CAFFE__PHASE__TRAIN)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the third bottom is for training only");
    return fire_bbox_reg_read(l->param->bbox_reg_param, FIRE_STATE(l, fire_bbox_reg_t));
}

static fire_status_t decode_reshape(fire_layer_t *l)
{
    int64_t n = fire_blob_dim_or_1(l->bottom[ROI], 0);

    if (fire_blob_count(l->bottom[DELTA]) != n * DELTAS ||
        fire_blob_count(l->bottom[ROI]) != n * ROI_ROW ||
        (l->nbottom > 2 && fire_blob_dim_or_1(l->bottom[MATCH], 0) != n))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld regions need rows of %d numbers (two boxes) and of %d "
                         "(image, x1, y1, x2, y2)",
                         (long long)n, DELTAS, ROI_ROW);
    return fire_blob_reshape(l->top[0], 4, (int64_t[]){n, ROI_ROW, 1, 1});
}

/* The moved region; delta: the four predictions for an object. */
static fire_bbox_t move(const fire_bbox_reg_t *r, const float *roi, const float *delta)
{
    float low[2], high[2];

    for (int i = 0; i < 2; i++) {
        float size   = roi[3 + i] - roi[1 + i] + 1.0f;
        float middle = 0.5f * (roi[3 + i] + roi[1 + i]);

        middle += (delta[i] * r->std[i] + r->mean[i]) * size;
        size *= expf(delta[2 + i] * r->std[2 + i] + r->mean[2 + i]);
        low[i]  = middle - (size - 1.0f) / 2.0f;
        high[i] = low[i] + size - 1.0f;
    }
    return (fire_bbox_t){low[0], low[1], high[0], high[1]};
}

/* What a pass reads; row: numbers of a matching object. */
typedef struct pass {
    const float *delta, *roi, *match;
    int64_t      n, row;
} pass_t;

static fire_status_t read_bottoms(fire_layer_t *l, pass_t *p)
{
    *p = (pass_t){.n = fire_blob_dim_or_1(l->bottom[ROI], 0)};
    FIRE_IN(l, l->bottom[DELTA], FIRE_DATA, &p->delta);
    FIRE_IN(l, l->bottom[ROI], FIRE_DATA, &p->roi);
    if (l->nbottom < 3 || p->n == 0) return FIRE_OK;
    FIRE_IN(l, l->bottom[MATCH], FIRE_DATA, &p->match);
    p->row = fire_blob_count(l->bottom[MATCH]) / p->n;
    return FIRE_OK;
}

/* Region i after its move; false: it is left out. */
static bool take(const fire_layer_t *l, const pass_t *p, int64_t i, fire_bbox_t *b_p)
{
    const Caffe__DecodeBBoxParameter *set =
        FIRE_PARAM(l, decode_bbox_param, CAFFE__DECODE_BBOX_PARAMETER__INIT);
    bool        train = l->phase == CAFFE__PHASE__TRAIN;
    fire_bbox_t b     = move(FIRE_STATE(l, fire_bbox_reg_t), p->roi + i * ROI_ROW,
                             p->delta + i * DELTAS + 4);

    *b_p = b;
    if (train && (b.xmin > b.xmax || b.ymin > b.ymax)) return false;
    return p->match == NULL || p->match[(i + 1) * p->row - 1] < set->gt_iou_thr;
}

static fire_status_t decode_forward(fire_layer_t *l)
{
    int64_t     kept = 0;
    pass_t      p;
    fire_bbox_t b;
    float      *y;

    FIRE_TRY(read_bottoms(l, &p));
    for (int64_t i = 0; i < p.n; i++)
        kept += take(l, &p, i, &b);
    FIRE_TRY(fire_blob_reshape(l->top[0], 4, (int64_t[]){kept, ROI_ROW, 1, 1}));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < p.n; i++) {
        if (!take(l, &p, i, &b)) continue;
        y[0] = p.roi[i * ROI_ROW];
        y[1] = b.xmin;
        y[2] = b.ymin;
        y[3] = b.xmax;
        y[4] = b.ymax;
        y += ROI_ROW;
    }
    return FIRE_OK;
}

const fire_kernel_t fire_decode_bbox_ref = {
    .name    = "ref",
    .forward = decode_forward,
};

static const fire_kernel_t *const decode_kernels[] = {&fire_decode_bbox_ref, NULL};

const fire_layer_ops_t fire_layer_decode_bbox = {
    .type        = "DecodeBBox",
    .bottoms     = {2, 3},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 7,
    .state_size  = sizeof(fire_bbox_reg_t),
    .setup       = decode_setup,
    .reshape     = decode_reshape,
    .kernels     = decode_kernels,
};
