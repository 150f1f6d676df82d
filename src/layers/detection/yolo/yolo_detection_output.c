/* yolo_detection_output.c - YoloDetectionOutput: the detections of YOLO v2.
 *
 *   bottom 0, 1 (optional): (N, num_box * (5 + num_classes), H, W) predictions
 *   top 0:                  detections (output.h)
 *
 * The score of a box is its objectness times the probability of its best class. Anchors
 * (biases) are in places of the map. */
#include "layers/detection/yolo/output.h"

static const Caffe__YoloDetectionOutputParameter *settings(const fire_layer_t *l)
{
    return l->param->yolo_detection_output_param;
}

static fire_status_t output_setup(fire_layer_t *l)
{
    const Caffe__YoloDetectionOutputParameter *p = settings(l);

    if (p == NULL || !p->has_num_classes || p->num_classes == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "yolo_detection_output_param { num_classes } must be given and at least 1");
    if (p->coords != 4)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "coords %u: boxes have 4", p->coords);
    return fire_yolo_check_anchors(p->n_biases, p->num_box);
}

static fire_status_t map_of(const fire_layer_t *l, int bottom, fire_yolo_map_t *m)
{
    const Caffe__YoloDetectionOutputParameter *p = settings(l);

    return fire_yolo_map_of(l->bottom[bottom], p->num_box,
                            (int64_t)FIRE_YOLO_CLASS + p->num_classes, m);
}

static fire_status_t output_reshape(fire_layer_t *l)
{
    fire_yolo_output_t *s = l->state;
    fire_yolo_map_t     m = {0};

    for (int i = 0; i < l->nbottom; i++)
        FIRE_TRY(map_of(l, i, &m));
    FIRE_TRY(fire_grow(&s->work, &s->cwork, m.entries, sizeof(*s->work)));
    return fire_yolo_output_reshape(l);
}

/* One box at one place; x: its entries, `step` apart. */
static fire_status_t find(fire_layer_t *l, const fire_yolo_map_t *m, const float *x,
                          int64_t image, int64_t box, int64_t place)
{
    const Caffe__YoloDetectionOutputParameter *p = settings(l);
    fire_yolo_output_t                        *s = l->state;
    int64_t         step = m->height * m->width, best = FIRE_YOLO_CLASS;
    float           unit[2] = {(float)m->width, (float)m->height}, score;
    fire_yolo_box_t b;

    for (int64_t k = 0; k < m->entries; k++)
        s->work[k] = k < 2 || k == FIRE_YOLO_OBJECT ? fire_yolo_sigmoid(x[k * step])
                                                    : x[k * step];
    fire_yolo_softmax(p->num_classes, 1, s->work + FIRE_YOLO_CLASS);
    for (int64_t k = FIRE_YOLO_CLASS; k < m->entries; k++)
        if (s->work[k] > s->work[best]) best = k;
    score = s->work[FIRE_YOLO_OBJECT] * s->work[best];
    if (!(score >= p->confidence_threshold)) return FIRE_OK;
    b = fire_yolo_box_of(m, s->work, place, p->biases + 2 * box, unit);
    return fire_yolo_output_add(
        s, (fire_yolo_found_t){image, (int)(best - FIRE_YOLO_CLASS), score, b});
}

static fire_status_t output_forward(fire_layer_t *l)
{
    fire_yolo_output_t *s = l->state;
    fire_yolo_map_t     m;
    const float        *x;

    s->n = 0;
    for (int bottom = 0; bottom < l->nbottom; bottom++) {
        FIRE_TRY(map_of(l, bottom, &m));
        FIRE_IN(l, l->bottom[bottom], FIRE_DATA, &x);
        for (int64_t i = 0, step = m.height * m.width; i < m.images * m.boxes * step;
             i++) {
            int64_t image = i / step / m.boxes, box = i / step % m.boxes;

            FIRE_TRY(find(l, &m, x + fire_yolo_at(&m, image, box, i % step), image, box,
                          i % step));
        }
    }
    return fire_yolo_output_write(l, l->bottom[0]->dim[0], settings(l)->nms_threshold);
}

const fire_kernel_t fire_yolo_detection_output_ref = {
    .name    = "ref",
    .forward = output_forward,
};

static const fire_kernel_t *const output_kernels[] = {&fire_yolo_detection_output_ref,
                                                      NULL};

const fire_layer_ops_t fire_layer_yolo_detection_output = {
    .type        = "YoloDetectionOutput",
    .bottoms     = {1, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 3,
    .state_size  = sizeof(fire_yolo_output_t),
    .setup       = output_setup,
    .reshape     = output_reshape,
    .teardown    = fire_yolo_output_teardown,
    .kernels     = output_kernels,
};
