/* region_loss.c - RegionLoss, the loss of YOLO v2 (Redmon and Farhadi, 2017), as forks of
 * Caffe have it.
 *
 *   bottom 0: (N, num * (5 + classes), H, W) predictions
 *   bottom 1: objects (yolo.h)
 *   top 0:    () loss
 *
 * Anchors (biases) are in places of the map. Every object teaches the box of its cell
 * whose anchor resembles it most; boxes that overlap no object by more than thresh learn
 * that there is none. Gradients: see loss.h. */
#include "layers/detection/yolo/loss.h"

static const Caffe__RegionLossParameter *settings(const fire_layer_t *l)
{
    static const Caffe__RegionLossParameter defaults =
        CAFFE__REGION_LOSS_PARAMETER__INIT;

    return l->param->region_loss_param != NULL ? l->param->region_loss_param
                                               : &defaults;
}

static fire_status_t region_loss_setup(fire_layer_t *l)
{
    const Caffe__RegionLossParameter *p = settings(l);

    if (p->coords != 4)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "coords %u: boxes have 4", p->coords);
    if (p->softmax_tree != NULL && p->softmax_tree[0] != '\0')
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "softmax_tree (classes of YOLO9000) is not supported");
    return fire_yolo_check_anchors(p->n_biases, p->num);
}

static fire_status_t region_loss_reshape(fire_layer_t *l)
{
    const Caffe__RegionLossParameter *p = settings(l);

    return fire_yolo_loss_reshape(l, p->num, p->num_class);
}

/* Sigmoid of x, y and the objectness, softmax of the classes. */
static void activate(const fire_yolo_loss_t *s, int64_t at, const float *x)
{
    int64_t step = s->map.height * s->map.width;

    for (int64_t k = 0; k < s->map.entries; k++) {
        bool bounded = k < 2 || k == FIRE_YOLO_OBJECT;

        s->p[at + k * step] =
            bounded ? fire_yolo_sigmoid(x[at + k * step]) : x[at + k * step];
    }
    fire_yolo_softmax(s->map.entries - FIRE_YOLO_CLASS, step,
                      s->p + at + FIRE_YOLO_CLASS * step);
}

/* One box that is not known to hold an object. */
static void teach_background(fire_layer_t *l, int64_t at, int64_t box, int64_t place)
{
    const Caffe__RegionLossParameter *p    = settings(l);
    fire_yolo_loss_t                 *s    = l->state;
    int64_t                           step = s->map.height * s->map.width;
    float           unit[2] = {(float)s->map.width, (float)s->map.height};
    float           object  = s->p[at + FIRE_YOLO_OBJECT * step];
    fire_yolo_box_t b =
        fire_yolo_box(&s->map, s->p + at, place, p->biases + 2 * box, unit);

    for (int64_t k = 0; k < s->map.entries; k++)
        s->delta[at + k * step] = 0.0f;
    if (fire_yolo_loss_best(s, b, fire_yolo_iou) <= p->thresh)
        s->delta[at + FIRE_YOLO_OBJECT * step] =
            p->noobject_scale * object * object * (1.0f - object);
}

/* The box of a cell whose shape is most like an object's: the anchor's, or with
 * bias_match: 0 the predicted one. */
static int64_t best_box(const fire_layer_t *l, int64_t image, int64_t place,
                        fire_yolo_box_t truth)
{
    const Caffe__RegionLossParameter *p = settings(l);
    const fire_yolo_loss_t           *s = l->state;
    float   unit[2]                     = {(float)s->map.width, (float)s->map.height};
    float   best                        = 0.0f;
    int64_t which                       = 0;

    truth.x = truth.y = 0.0f;
    for (int64_t i = 0; i < s->map.boxes; i++) {
        const float    *anchor = p->biases + 2 * i;
        fire_yolo_box_t b      = {0.0f, 0.0f, anchor[0] / unit[0], anchor[1] / unit[1]};
        float           overlap;

        if (!p->bias_match) {
            b   = fire_yolo_box(&s->map, s->p + fire_yolo_at(&s->map, image, i, place),
                                place, anchor, unit);
            b.x = b.y = 0.0f;
        }
        overlap = fire_yolo_iou(b, truth);
        if (overlap <= best) continue;
        best  = overlap;
        which = i;
    }
    return which;
}

static void teach_object(fire_layer_t *l, int64_t image, const fire_yolo_truth_t *t)
{
    const Caffe__RegionLossParameter *p     = settings(l);
    fire_yolo_loss_t                 *s     = l->state;
    int64_t                           step  = s->map.height * s->map.width;
    int64_t                           place = fire_yolo_loss_place(s, t), box, at;
    float           unit[2] = {(float)s->map.width, (float)s->map.height}, object, want;
    float           scale   = p->coord_scale;
    fire_yolo_box_t b;

    if (place < 0) return;
    box = best_box(l, image, place, t->box);
    at  = fire_yolo_at(&s->map, image, box, place);
    b   = fire_yolo_box(&s->map, s->p + at, place, p->biases + 2 * box, unit);
    if (!p->rescore) scale *= 2.0f - t->box.w * t->box.h;
    fire_yolo_loss_box(s, at, place, t->box, p->biases + 2 * box, unit, scale);
    for (int k = 0; k < 2; k++) {
        float v = s->p[at + k * step];

        s->delta[at + k * step] *= v * (1.0f - v);
    }
    object = s->p[at + FIRE_YOLO_OBJECT * step];
    want   = p->rescore ? fire_yolo_iou(b, t->box) : 1.0f;
    s->delta[at + FIRE_YOLO_OBJECT * step] =
        -p->object_scale * (want - object) * object * (1.0f - object);
    at += FIRE_YOLO_CLASS * step;
    for (int64_t k = 0; k < (int64_t)p->num_class; k++)
        s->delta[at + k * step] =
            -p->class_scale * ((k == t->label ? 1.0f : 0.0f) - s->p[at + k * step]);
}

static fire_status_t region_loss_forward(fire_layer_t *l)
{
    fire_yolo_loss_t *s    = l->state;
    int64_t           step = s->map.height * s->map.width;
    const float      *x, *label;
    float            *top;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    for (int64_t image = 0; image < s->map.images; image++) {
        FIRE_TRY(fire_yolo_truths_read(l->bottom[1], label, image, s->map.images,
                                       settings(l)->num_class, &s->truths));
        for (int64_t i = 0; i < s->map.boxes * step; i++) {
            int64_t at = fire_yolo_at(&s->map, image, i / step, i % step);

            activate(s, at, x);
            teach_background(l, at, i / step, i % step);
        }
        for (int64_t i = 0; i < s->truths.n; i++)
            teach_object(l, image, &s->truths.list[i]);
    }
    top[0] = fire_yolo_loss_sum(s) / (float)s->map.images;
    return FIRE_OK;
}

const fire_kernel_t fire_region_loss_ref = {
    .name     = "ref",
    .forward  = region_loss_forward,
    .backward = fire_yolo_loss_backward,
};

static const fire_kernel_t *const region_loss_kernels[] = {&fire_region_loss_ref, NULL};

const fire_layer_ops_t fire_layer_region_loss = {
    .type        = "RegionLoss",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .no_gradient = 1 << 1,
    .state_size  = sizeof(fire_yolo_loss_t),
    .setup       = region_loss_setup,
    .reshape     = region_loss_reshape,
    .teardown    = fire_yolo_loss_teardown,
    .kernels     = region_loss_kernels,
};
