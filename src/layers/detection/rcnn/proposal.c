/* proposal.c - Proposal of Faster R-CNN (Ren and others, 2015): anchors at every place of
 * the map, moved as the net says; the best of them that do not overlap.
 *
 *   bottom 0: (N, 2 A, H, W) probabilities of background (A anchors) and object (A)
 *   bottom 1: (N, 4 A, H, W) shifts and logarithms of size factors, four for each anchor
 *   bottom 2: (N, 3 or more) height and width of the input image and its scale
 *   top 0:    (R, 5) regions: image, x1, y1, x2, y2 in pixels, best first, by image
 *   top 1:    (R, 1) (optional) their probabilities */
#include "layers/detection/rcnn/pixels.h"

#include <math.h>

enum { SCORE, DELTA, INFO, ROI_ROW = 5, MAX_ANCHORS = 256 };

/* Settings, under whatever name they were given. */
typedef struct settings {
    int64_t stride, before, after; /* before, after: boxes that NMS takes and gives */
    float   threshold, least;
} settings_t;

/* The state of the layer; box and list have room for all anchors of one image, found for
 * what was found so far. */
typedef struct proposal {
    settings_t  set;
    int         nanchor;
    fire_bbox_t anchor[MAX_ANCHORS];

    fire_bbox_t   *box;
    fire_ranked_t *list;
    float         *found; /* (R, ROI_ROW + 1): region and probability */
    int64_t        cbox, clist, cfound, nfound;
} proposal_t;

/* ---- setup ---- */

/* The first of the lists that is not empty. */
typedef struct numbers {
    size_t       n;
    const float *x;
} numbers_t;

static numbers_t choose(size_t n, const float *x, size_t m, const float *y,
                        const float *standard)
{
    if (n > 0) return (numbers_t){n, x};
    return m > 0 ? (numbers_t){m, y} : (numbers_t){3, standard};
}

/* The anchor of this ratio of height to width, rounded to pixels before it is scaled. */
static fire_bbox_t anchor_of(float base, float ratio, float scale)
{
    double width  = rint(sqrt((double)base * (double)base / (double)ratio));
    double height = rint(width * (double)ratio);
    double middle = 0.5 * ((double)base - 1.0);

    width  = 0.5 * (width * (double)scale - 1.0);
    height = 0.5 * (height * (double)scale - 1.0);
    return (fire_bbox_t){(float)(middle - width), (float)(middle - height),
                         (float)(middle + width), (float)(middle + height)};
}

static fire_status_t make_anchors(proposal_t *s, const Caffe__ProposalParameter *p)
{
    static const float ratios[] = {0.5f, 1.0f, 2.0f}, scales[] = {8.0f, 16.0f, 32.0f};
    numbers_t          ratio =
        choose(p->n_ratio, p->ratio, p->n_anchor_ratio, p->anchor_ratio, ratios);
    numbers_t scale =
        choose(p->n_scale, p->scale, p->n_anchor_scale, p->anchor_scale, scales);
    uint32_t base = p->has_anchor_base_size ? p->anchor_base_size : p->base_size;

    if (ratio.n * scale.n > MAX_ANCHORS || base == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu anchors of base_size %u: there may be 1 to %d, of a "
                         "positive size",
                         ratio.n * scale.n, base, MAX_ANCHORS);
    for (size_t i = 0; i < ratio.n * scale.n; i++) {
        float r = ratio.x[i / scale.n], f = scale.x[i % scale.n];

        if (!(r > 0.0f && f > 0.0f))
            return FIRE_FAIL(FIRE_ERR_INVALID, "ratio %g and scale %g must be positive",
                             (double)r, (double)f);
        s->anchor[s->nanchor++] = anchor_of((float)base, r, f);
    }
    return FIRE_OK;
}

static fire_status_t proposal_setup(fire_layer_t *l)
{
    const Caffe__ProposalParameter *p =
        FIRE_PARAM(l, proposal_param, CAFFE__PROPOSAL_PARAMETER__INIT);
    proposal_t *s = FIRE_STATE(l, proposal_t);

    s->set = (settings_t){.stride    = p->feat_stride,
                          .before    = p->has_rpn_pre_nms_top_n ? p->rpn_pre_nms_top_n
                                                                : p->pre_nms_topn,
                          .after     = p->has_max_rois             ? p->max_rois
                                       : p->has_rpn_post_nms_top_n ? p->rpn_post_nms_top_n
                                                                   : p->post_nms_topn,
                          .threshold = p->has_iou_threshold    ? p->iou_threshold
                                       : p->has_rpn_nms_thresh ? p->rpn_nms_thresh
                                                               : p->nms_thresh,
                          .least = p->has_rpn_min_size ? p->rpn_min_size : p->min_size};
    if (s->set.stride == 0 || s->set.after == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "feat_stride and post_nms_topn must be at least 1");
    return make_anchors(s, p);
}

static fire_status_t proposal_reshape(fire_layer_t *l)
{
    const proposal_t  *s     = FIRE_STATE(l, proposal_t);
    const fire_blob_t *score = l->bottom[SCORE], *delta = l->bottom[DELTA];
    const fire_blob_t *info = l->bottom[INFO];

    if (score->ndim != 4 || delta->ndim != 4 || score->dim[1] != 2 * s->nanchor ||
        delta->dim[1] != 4 * s->nanchor || score->dim[0] != delta->dim[0] ||
        score->dim[2] != delta->dim[2] || score->dim[3] != delta->dim[3])
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%d anchors (ratios x scales) need probabilities (N, %d, H, W) "
            "and shifts (N, %d, H, W)",
            s->nanchor, 2 * s->nanchor, 4 * s->nanchor);
    if (fire_blob_count(info) < 3 * score->dim[0] ||
        fire_blob_count(info) % score->dim[0] != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the third bottom must have height, width and scale for each "
                         "of the %lld images",
                         (long long)score->dim[0]);
    FIRE_TRY(fire_blob_reshape(l->top[0], 2, (int64_t[]){1, ROI_ROW}));
    return l->ntop < 2 ? FIRE_OK : fire_blob_reshape(l->top[1], 2, (int64_t[]){1, 1});
}

static void proposal_teardown(fire_layer_t *l)
{
    proposal_t *s = FIRE_STATE(l, proposal_t);

    fire_free(s->box);
    fire_free(s->list);
    fire_free(s->found);
}

/* ---- forward ---- */

/* All anchors of an image as boxes, and those that are large enough as a list. info:
 * height, width, scale. Returns their number. */
static int64_t move_anchors(fire_layer_t *l, const float *score, const float *delta,
                            const float *info)
{
    proposal_t    *s      = FIRE_STATE(l, proposal_t);
    const int64_t *dim    = l->bottom[SCORE]->dim;
    int64_t        places = dim[2] * dim[3], n = 0;
    float          least = s->set.least * info[2];

    for (int64_t i = 0; i < places * s->nanchor; i++) {
        int64_t     place = i / s->nanchor, k = i % s->nanchor;
        float       x = (float)(place % dim[3] * s->set.stride);
        float       y = (float)(place / dim[3] * s->set.stride);
        fire_bbox_t b = s->anchor[k];
        float       d[4];

        for (int j = 0; j < 4; j++)
            d[j] = delta[(4 * k + j) * places + place];
        b         = (fire_bbox_t){b.xmin + x, b.ymin + y, b.xmax + x, b.ymax + y};
        b         = fire_pixels_clip(fire_pixels_move(b, d), info[1], info[0]);
        s->box[i] = b;
        if (b.xmax - b.xmin + 1.0f >= least && b.ymax - b.ymin + 1.0f >= least)
            s->list[n++] = (fire_ranked_t){score[(s->nanchor + k) * places + place], i};
    }
    return n;
}

/* Append the proposals of one image to s->found. */
static fire_status_t propose(fire_layer_t *l, int64_t image, int64_t n)
{
    proposal_t *s = FIRE_STATE(l, proposal_t);

    fire_rank(s->list, n);
    if (s->set.before > 0 && n > s->set.before) n = s->set.before;
    n = fire_pixels_suppress(s->box, s->list, n, s->set.threshold, s->set.after);
    FIRE_TRY(fire_grow(&s->found, &s->cfound, (s->nfound + n) * (ROI_ROW + 1),
                       sizeof(*s->found)));
    for (int64_t i = 0; i < n; i++) {
        fire_bbox_t b   = s->box[s->list[i].index];
        float      *row = s->found + s->nfound++ * (ROI_ROW + 1);

        row[0] = (float)image;
        row[1] = b.xmin;
        row[2] = b.ymin;
        row[3] = b.xmax;
        row[4] = b.ymax;
        row[5] = s->list[i].score;
    }
    return FIRE_OK;
}

static fire_status_t write_tops(fire_layer_t *l)
{
    const proposal_t *s = FIRE_STATE(l, proposal_t);
    float            *roi, *score;

    FIRE_TRY(fire_blob_reshape(l->top[0], 2, (int64_t[]){s->nfound, ROI_ROW}));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &roi);
    for (int64_t i = 0; i < s->nfound * ROI_ROW; i++)
        roi[i] = s->found[i / ROI_ROW * (ROI_ROW + 1) + i % ROI_ROW];
    if (l->ntop < 2) return FIRE_OK;
    FIRE_TRY(fire_blob_reshape(l->top[1], 2, (int64_t[]){s->nfound, 1}));
    FIRE_OUT(l, l->top[1], FIRE_DATA, &score);
    for (int64_t i = 0; i < s->nfound; i++)
        score[i] = s->found[i * (ROI_ROW + 1) + ROI_ROW];
    return FIRE_OK;
}

static fire_status_t proposal_forward(fire_layer_t *l)
{
    proposal_t    *s     = FIRE_STATE(l, proposal_t);
    const int64_t *dim   = l->bottom[SCORE]->dim;
    int64_t        plane = dim[2] * dim[3], n = plane * s->nanchor;
    int64_t        row = dim[0] > 0 ? fire_blob_count(l->bottom[INFO]) / dim[0] : 0;
    const float   *score, *delta, *info;

    FIRE_IN(l, l->bottom[SCORE], FIRE_DATA, &score);
    FIRE_IN(l, l->bottom[DELTA], FIRE_DATA, &delta);
    FIRE_IN(l, l->bottom[INFO], FIRE_DATA, &info);
    FIRE_TRY(fire_grow(&s->box, &s->cbox, n, sizeof(*s->box)));
    FIRE_TRY(fire_grow(&s->list, &s->clist, n, sizeof(*s->list)));
    s->nfound = 0;
    for (int64_t image = 0; image < dim[0]; image++)
        FIRE_TRY(propose(l, image,
                         move_anchors(l, score + image * 2 * n, delta + image * 4 * n,
                                      info + image * row)));
    return write_tops(l);
}

const fire_kernel_t fire_proposal_ref = {
    .name    = "ref",
    .forward = proposal_forward,
};

static const fire_kernel_t *const proposal_kernels[] = {&fire_proposal_ref, NULL};

const fire_layer_ops_t fire_layer_proposal = {
    .type        = "Proposal",
    .bottoms     = {3, 3},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 7,
    .state_size  = sizeof(proposal_t),
    .setup       = proposal_setup,
    .reshape     = proposal_reshape,
    .teardown    = proposal_teardown,
    .kernels     = proposal_kernels,
};
