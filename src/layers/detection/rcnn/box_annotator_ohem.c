/* box_annotator_ohem.c - BoxAnnotatorOHEM of R-FCN (Dai and others, 2016): of each
 * image, only the roi_per_img regions with the largest loss count.
 *
 *   bottom 0: (R, 5, H, W) regions, whose first channel is the image
 *   bottom 1: (R, 1, H, W) the loss of each
 *   bottom 2: (R, 1, H, W) labels
 *   bottom 3: (R, C, H, W) weights of the box losses
 *   top 0:    (R, 1, H, W) labels; ignore_label for those that do not count
 *   top 1:    (R, C, H, W) weights; 0 for those that do not count
 *
 * Missing axes at the end are 1. Of equal losses the first one counts. */
#include "layers/detection/bbox.h"

enum { ROI, LOSS, LABEL, WEIGHT, ROI_CHANNELS = 5 };

/* The state of the layer: lists of all regions, and how many of each image are to come;
 * cX is the capacity of X. */
typedef struct annotator {
    fire_ranked_t *list;
    uint32_t      *left;
    int64_t        clist, cleft;
} annotator_t;

static fire_status_t annotator_setup(fire_layer_t *l)
{
    const Caffe__BoxAnnotatorOHEMParameter *p = l->param->box_annotator_ohem_param;

    if (p == NULL || p->roi_per_img == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "box_annotator_ohem_param { roi_per_img } must be given and at "
            "least 1");
    return FIRE_OK;
}

/* Length of an axis, of which 2 to 4 may be there. */
static int64_t axis(const fire_blob_t *b, int i)
{
    return i < b->ndim ? b->dim[i] : 1;
}

static fire_status_t annotator_reshape(fire_layer_t *l)
{
    static const int   channels[] = {ROI_CHANNELS, 1, 1, 0}; /* 0: any number */
    const fire_blob_t *roi        = l->bottom[ROI];
    char               a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];

    for (int i = 0; i < 4; i++) {
        const fire_blob_t *x = l->bottom[i];

        if (x->ndim < 1 || x->ndim > 4 || axis(x, 0) != axis(roi, 0) ||
            axis(x, 2) != axis(roi, 2) || axis(x, 3) != axis(roi, 3) ||
            (channels[i] > 0 && axis(x, 1) != channels[i]))
            return FIRE_FAIL(
                FIRE_ERR_INVALID,
                "bottom %d is %s, the regions %s: needed are regions (R, 5), "
                "losses (R, 1), labels (R, 1), weights (R, C)",
                i, fire_blob_shape_string(x, a, sizeof(a)),
                fire_blob_shape_string(roi, b, sizeof(b)));
    }
    for (int i = 0; i < 2; i++)
        FIRE_TRY(fire_blob_reshape(l->top[i], 4,
                                   (int64_t[]){axis(roi, 0),
                                               i == 0 ? 1 : axis(l->bottom[WEIGHT], 1),
                                               axis(roi, 2), axis(roi, 3)}));
    return FIRE_OK;
}

static void annotator_teardown(fire_layer_t *l)
{
    annotator_t *s = FIRE_STATE(l, annotator_t);

    fire_free(s->list);
    fire_free(s->left);
}

/* The image of each region, checked, and roi_per_img for every image. */
static fire_status_t count_images(fire_layer_t *l, const float *roi, int64_t plane,
                                  int64_t n)
{
    annotator_t *s      = FIRE_STATE(l, annotator_t);
    int64_t      images = 0;

    for (int64_t i = 0; i < n; i++) {
        float image = roi[i / plane * ROI_CHANNELS * plane + i % plane];

        if (!(image >= 0.0f && image < 16777216.0f))
            return FIRE_FAIL(FIRE_ERR_INVALID, "region %lld is of image %g",
                             (long long)i, (double)image);
        if ((int64_t)image >= images) images = (int64_t)image + 1;
    }
    FIRE_TRY(fire_grow(&s->left, &s->cleft, images, sizeof(*s->left)));
    for (int64_t i = 0; i < images; i++)
        s->left[i] = l->param->box_annotator_ohem_param->roi_per_img;
    return fire_grow(&s->list, &s->clist, n, sizeof(*s->list));
}

static fire_status_t annotator_forward(fire_layer_t *l)
{
    annotator_t *s        = FIRE_STATE(l, annotator_t);
    int64_t      n        = fire_blob_count(l->bottom[LOSS]);
    int64_t      channels = axis(l->bottom[WEIGHT], 1);
    int64_t      plane    = axis(l->bottom[ROI], 2) * axis(l->bottom[ROI], 3);
    const float *x[4];
    float       *label, *weight;

    for (int i = 0; i < 4; i++)
        FIRE_IN(l, l->bottom[i], FIRE_DATA, &x[i]);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[1], FIRE_DATA, &weight);
    FIRE_TRY(count_images(l, x[ROI], plane, n));
    for (int64_t i = 0; i < n; i++) {
        s->list[i] = (fire_ranked_t){x[LOSS][i], i};
        label[i]   = (float)l->param->box_annotator_ohem_param->ignore_label;
    }
    for (int64_t i = 0; i < n * channels; i++)
        weight[i] = 0.0f;
    fire_rank(s->list, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = s->list[i].index, item = at / plane, place = at % plane;
        int64_t image = (int64_t)x[ROI][item * ROI_CHANNELS * plane + place];

        if (s->left[image] == 0) continue;
        s->left[image]--;
        label[at] = x[LABEL][at];
        for (int64_t c = 0; c < channels; c++) {
            int64_t k = (item * channels + c) * plane + place;

            weight[k] = x[WEIGHT][k];
        }
    }
    return FIRE_OK;
}

const fire_kernel_t fire_box_annotator_ohem_ref = {
    .name    = "ref",
    .forward = annotator_forward,
};

static const fire_kernel_t *const annotator_kernels[] = {&fire_box_annotator_ohem_ref,
                                                         NULL};

const fire_layer_ops_t fire_layer_box_annotator_ohem = {
    .type        = "BoxAnnotatorOHEM",
    .bottoms     = {4, 4},
    .tops        = {2, 2},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 15,
    .state_size  = sizeof(annotator_t),
    .setup       = annotator_setup,
    .reshape     = annotator_reshape,
    .teardown    = annotator_teardown,
    .kernels     = annotator_kernels,
};
