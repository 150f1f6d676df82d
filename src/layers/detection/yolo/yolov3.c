/* yolov3.c - Yolov3, the loss of one scale of YOLO v3 (Redmon and Farhadi, 2018), as
 * MobileNet-YOLO's Caffe has it.
 *
 *   bottom 0: (N, num * (5 + classes), H, W) predictions
 *   bottom 1: objects (yolo.h)
 *   top 0:    () loss
 *
 * Anchors (biases) are in pixels of an input that is anchors_scale times as large as the
 * map; mask says which of them this scale has. An object teaches the box of its anchor,
 * and those that resemble it by more than iou_thresh. Coordinates learn by squares or by
 * their overlap (iou_loss). Gradients: see loss.h. */
#include <math.h>

#include "layers/detection/yolo/iou.h"
#include "layers/detection/yolo/loss.h"

#define LOSS(name) CAFFE__YOLOV3_PARAMETER__IOU__LOSS__##name

/* The state of the layer. */
typedef struct yolov3 {
    fire_yolo_loss_t base;
    float            unit[2]; /* size of the input in pixels: width, height */
    float (*overlap)(fire_yolo_box_t, fire_yolo_box_t);
    float   missed; /* sum of 1 - overlap over the boxes that learned an object */
    int64_t taught; /* their number */
} yolov3_t;

static const Caffe__Yolov3Parameter *settings(const fire_layer_t *l)
{
    return l->param->yolov3_param;
}

static fire_status_t yolov3_setup(fire_layer_t *l)
{
    const Caffe__Yolov3Parameter *p = settings(l);
    yolov3_t                     *s = l->state;

    if (p == NULL || p->n_mask != p->num || p->num == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "yolov3_param needs `mask`: the numbers of the `num` anchors of "
            "this scale");
    FIRE_TRY(fire_yolo_check_anchors(p->n_biases, 1));
    for (size_t i = 0; i < p->n_mask; i++)
        if (p->mask[i] >= p->n_biases / 2)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "mask %u: there are %zu anchors, from 0 on", p->mask[i],
                             p->n_biases / 2);
    if (p->iou_loss == LOSS(DIOU) || p->iou_loss == LOSS(CIOU))
        return FIRE_FAIL(
            FIRE_ERR_UNSUPPORTED,
            "iou_loss DIOU and CIOU are not supported; GIOU, IOU and MSE are");
    s->overlap = p->iou_loss == LOSS(GIOU) ? fire_yolo_giou : fire_yolo_iou;
    return FIRE_OK;
}

static fire_status_t yolov3_reshape(fire_layer_t *l)
{
    const Caffe__Yolov3Parameter *p = settings(l);
    yolov3_t                     *s = l->state;

    FIRE_TRY(fire_yolo_loss_reshape(l, p->num, p->num_class));
    s->unit[0] = (float)(s->base.map.width * p->anchors_scale);
    s->unit[1] = (float)(s->base.map.height * p->anchors_scale);
    return FIRE_OK;
}

/* Sigmoid of all but width and height. */
static void activate(const fire_yolo_loss_t *s, int64_t at, const float *x)
{
    int64_t step = s->map.height * s->map.width;

    for (int64_t k = 0; k < s->map.entries; k++)
        s->p[at + k * step] =
            k == 2 || k == 3 ? x[at + k * step] : fire_yolo_sigmoid(x[at + k * step]);
}

static void teach_background(fire_layer_t *l, int64_t at, int64_t box, int64_t place)
{
    const Caffe__Yolov3Parameter *p    = settings(l);
    yolov3_t                     *s    = l->state;
    const fire_yolo_map_t        *m    = &s->base.map;
    int64_t                       step = m->height * m->width;
    fire_yolo_box_t               b =
        fire_yolo_box(m, s->base.p + at, place, p->biases + 2 * p->mask[box], s->unit);

    for (int64_t k = 0; k < m->entries; k++)
        s->base.delta[at + k * step] = 0.0f;
    if (fire_yolo_loss_best(&s->base, b, s->overlap) <= p->thresh)
        s->base.delta[at + FIRE_YOLO_OBJECT * step] =
            s->base.p[at + FIRE_YOLO_OBJECT * step];
}

static float finite_within(float x, float most)
{
    return isfinite(x) ? fmaxf(fminf(x, most), -most) : 0.0f;
}

/* Deltas of x, y, w, h by the slope of the overlap. */
static void teach_overlap(fire_layer_t *l, int64_t at, fire_yolo_box_t box,
                          fire_yolo_box_t truth)
{
    const Caffe__Yolov3Parameter *p    = settings(l);
    yolov3_t                     *s    = l->state;
    int64_t                       step = s->base.map.height * s->base.map.width;
    float                         slope[4];

    fire_yolo_overlap_slope(p->iou_loss == LOSS(GIOU), box, truth, slope);
    for (int k = 0; k < 4; k++) {
        float *delta = s->base.delta + at + k * step;
        float  d     = slope[k] * p->iou_normalizer;

        if (k >= 2) d *= expf(s->base.p[at + k * step]);
        *delta = (p->accumulate ? *delta : 0.0f) - finite_within(d, p->max_delta);
    }
}

/* A box that learned another object already (its delta is not 0) learns this class in
 * addition. */
static void teach_class(fire_layer_t *l, int64_t at, int label)
{
    const Caffe__Yolov3Parameter *p    = settings(l);
    const fire_yolo_loss_t       *s    = l->state;
    int64_t                       step = s->map.height * s->map.width;
    bool                          more = s->delta[at + label * step] != 0.0f;
    float                         sure = s->p[at + label * step] + 1e-15f;
    float focal = -0.5f * (1.0f - sure) * (2.0f * sure * logf(sure) + sure - 1.0f);

    for (int64_t k = 0; k < (int64_t)p->num_class; k++) {
        float want = k == label ? 1.0f : 0.0f;

        if (more && k != label) continue;
        if (more || !p->use_focal_loss)
            want = want * (1.0f - p->label_smooth_eps) + 0.5f * p->label_smooth_eps;
        s->delta[at + k * step] = -p->class_scale * (want - s->p[at + k * step]);
        if (!more && p->use_focal_loss) s->delta[at + k * step] *= focal;
    }
}

/* One box learns an object. */
static void teach_box(fire_layer_t *l, int64_t image, int64_t box, int64_t place,
                      const fire_yolo_truth_t *t)
{
    const Caffe__Yolov3Parameter *p      = settings(l);
    yolov3_t                     *s      = l->state;
    const fire_yolo_map_t        *m      = &s->base.map;
    const float                  *anchor = p->biases + 2 * p->mask[box];
    int64_t step = m->height * m->width, at = fire_yolo_at(m, image, box, place);
    fire_yolo_box_t b     = fire_yolo_box(m, s->base.p + at, place, anchor, s->unit);
    float           scale = p->coord_scale * (2.0f - t->box.w * t->box.h);
    float           want  = 1.0f - s->base.p[at + FIRE_YOLO_OBJECT * step];

    s->missed += 1.0f - s->overlap(b, t->box);
    s->taught++;
    if (p->iou_loss == LOSS(MSE))
        fire_yolo_loss_box(&s->base, at, place, t->box, anchor, s->unit, scale);
    else
        teach_overlap(l, at, b, t->box);
    s->base.delta[at + FIRE_YOLO_OBJECT * step] =
        -want * (p->use_logic_gradient ? p->object_scale : 1.0f);
    teach_class(l, at + FIRE_YOLO_CLASS * step, t->label);
}

/* How well the shape of an anchor fits an object. */
static float resemblance(const fire_layer_t *l, size_t anchor,
                         const fire_yolo_truth_t *t)
{
    const yolov3_t *s = l->state;
    const float    *a = settings(l)->biases + 2 * anchor;

    return s->overlap(
        (fire_yolo_box_t){0.0f, 0.0f, a[0] / s->unit[0], a[1] / s->unit[1]},
        (fire_yolo_box_t){0.0f, 0.0f, t->box.w, t->box.h});
}

static void teach_object(fire_layer_t *l, int64_t image, const fire_yolo_truth_t *t)
{
    const Caffe__Yolov3Parameter *p     = settings(l);
    int64_t                       place = fire_yolo_loss_place(l->state, t);
    size_t                        which = SIZE_MAX;
    float                         best  = 0.0f;

    for (size_t i = 0; i < p->n_biases / 2; i++) {
        float r = resemblance(l, i, t);

        if (r <= best) continue;
        best  = r;
        which = i;
    }
    for (size_t i = 0; i < p->n_mask && place >= 0; i++)
        if (p->mask[i] == which) teach_box(l, image, (int64_t)i, place, t);
    for (size_t i = 0; i < p->n_mask && place >= 0 && p->iou_thresh < 1.0f; i++)
        if (p->mask[i] != which && resemblance(l, p->mask[i], t) > p->iou_thresh)
            teach_box(l, image, (int64_t)i, place, t);
}

/* With squares the deltas' squares; with overlaps those of objectness and classes, and
 * how much the overlaps miss. */
static float total(const fire_layer_t *l)
{
    const Caffe__Yolov3Parameter *p   = settings(l);
    const yolov3_t               *s   = l->state;
    const fire_yolo_map_t        *m   = &s->base.map;
    int64_t                       row = m->entries * m->height * m->width;
    int64_t                       box = FIRE_YOLO_OBJECT * m->height * m->width;
    float                         sum = 0.0f;

    if (p->iou_loss == LOSS(MSE)) return fire_yolo_loss_sum(&s->base);
    for (int64_t i = 0; i < m->images * m->boxes * row; i++)
        if (i % row >= box) sum += s->base.delta[i] * s->base.delta[i];
    if (s->taught > 0) sum += p->iou_normalizer * s->missed / (float)s->taught;
    return sum;
}

/* With use_logic_gradient the deltas are those behind the sigmoids. */
static void through_sigmoids(fire_yolo_loss_t *s)
{
    const fire_yolo_map_t *m    = &s->map;
    int64_t                step = m->height * m->width;
    int64_t                n    = m->images * m->boxes * m->entries * step;

    for (int64_t i = 0; i < n; i++) {
        int64_t entry = i / step % m->entries;

        if (entry != 2 && entry != 3) s->delta[i] *= s->p[i] * (1.0f - s->p[i]);
    }
}

static fire_status_t yolov3_forward(fire_layer_t *l)
{
    yolov3_t              *s    = l->state;
    const fire_yolo_map_t *m    = &s->base.map;
    int64_t                step = m->height * m->width;
    const float           *x, *label;
    float                 *top;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    s->missed = 0.0f;
    s->taught = 0;
    for (int64_t image = 0; image < m->images; image++) {
        FIRE_TRY(fire_yolo_truths_read(l->bottom[1], label, image, m->images,
                                       settings(l)->num_class, &s->base.truths));
        for (int64_t i = 0; i < m->boxes * step; i++) {
            int64_t at = fire_yolo_at(m, image, i / step, i % step);

            activate(&s->base, at, x);
            teach_background(l, at, i / step, i % step);
        }
        for (int64_t i = 0; i < s->base.truths.n; i++)
            teach_object(l, image, &s->base.truths.list[i]);
    }
    top[0] = total(l) / (float)m->images;
    if (settings(l)->use_logic_gradient) through_sigmoids(&s->base);
    return FIRE_OK;
}

const fire_kernel_t fire_yolov3_ref = {
    .name     = "ref",
    .forward  = yolov3_forward,
    .backward = fire_yolo_loss_backward,
};

static const fire_kernel_t *const yolov3_kernels[] = {&fire_yolov3_ref, NULL};

const fire_layer_ops_t fire_layer_yolov3 = {
    .type        = "Yolov3",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .no_gradient = 1 << 1,
    .state_size  = sizeof(yolov3_t),
    .setup       = yolov3_setup,
    .reshape     = yolov3_reshape,
    .teardown    = fire_yolo_loss_teardown,
    .kernels     = yolov3_kernels,
};
