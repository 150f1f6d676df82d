/* yolov3_detection_output.c - Yolov3DetectionOutput: the detections of all scales of YOLO
 * v3, as MobileNet-YOLO's Caffe has it.
 *
 *   bottoms: (N, num_box * (5 + num_classes), H, W) predictions of mask_group_num scales
 *   top 0:   detections (output.h), one for each class above confidence_threshold
 *
 * Anchors (biases) are in pixels of an input that is anchors_scale times as large as the
 * scale's map; each scale has its share of mask. With gaussian_box a box has 9 entries
 * before its classes: x, y, w, h, each followed by how unsure it is, and the objectness. */
#include "layers/detection/yolo/output.h"

static const Caffe__Yolov3DetectionOutputParameter *settings(const fire_layer_t *l)
{
    return l->param->yolov3_detection_output_param;
}

static fire_status_t output_setup(fire_layer_t *l)
{
    const Caffe__Yolov3DetectionOutputParameter *p = settings(l);

    if (p == NULL || !p->has_num_classes || p->num_classes == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "yolov3_detection_output_param { num_classes } must be given and "
            "at least 1");
    if (l->nbottom != (int)p->mask_group_num ||
        p->n_mask != (size_t)l->nbottom * p->num_box ||
        p->n_anchors_scale != (size_t)l->nbottom)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d bottoms (scales) need mask_group_num %d, anchors_scale %d "
                         "times and mask %lld times: num_box %u for each",
                         l->nbottom, l->nbottom, l->nbottom,
                         (long long)l->nbottom * p->num_box, p->num_box);
    FIRE_TRY(fire_yolo_check_anchors(p->n_biases, 1));
    for (size_t i = 0; i < p->n_mask; i++)
        if (p->mask[i] >= p->n_biases / 2)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "mask %u: there are %zu anchors, from 0 on", p->mask[i],
                             p->n_biases / 2);
    return FIRE_OK;
}

/* Entries of a box before those of the classes. */
static int64_t first_class(const fire_layer_t *l)
{
    return settings(l)->gaussian_box ? 9 : FIRE_YOLO_CLASS;
}

static fire_status_t map_of(const fire_layer_t *l, int bottom, fire_yolo_map_t *m)
{
    const Caffe__Yolov3DetectionOutputParameter *p = settings(l);

    return fire_yolo_map_of(l->bottom[bottom], p->num_box,
                            first_class(l) + p->num_classes, m);
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

/* x, y, w, h of the entries in s->work, and how sure there is an object. */
static float read_box(const fire_layer_t *l, float box[4])
{
    const float *x     = FIRE_STATE(l, fire_yolo_output_t)->work;
    int          apart = settings(l)->gaussian_box ? 2 : 1;
    float        sure  = 4.0f;

    for (int k = 0; k < 4; k++) {
        box[k] = k < 2 ? fire_yolo_sigmoid(x[k * apart]) : x[k * apart];
        if (apart == 2) sure -= fire_yolo_sigmoid(x[2 * k + 1]);
    }
    return fire_yolo_sigmoid(x[4 * apart]) * sure / 4.0f;
}

/* One box at one place; s->work has its entries. */
static fire_status_t find(fire_layer_t *l, const fire_yolo_map_t *m, int bottom,
                          int64_t image, int64_t box, int64_t place)
{
    const Caffe__Yolov3DetectionOutputParameter *p = settings(l);
    fire_yolo_output_t                          *s = l->state;
    uint32_t        anchor = p->mask[(int64_t)bottom * p->num_box + box];
    float           unit[] = {(float)(m->width * p->anchors_scale[bottom]),
                              (float)(m->height * p->anchors_scale[bottom])};
    float           entry[4], object = read_box(l, entry);
    fire_yolo_box_t b = fire_yolo_box_of(m, entry, place, p->biases + 2 * anchor, unit);

    for (int c = 0; c < (int)p->num_classes; c++) {
        float score = object * fire_yolo_sigmoid(s->work[first_class(l) + c]);

        if (score > p->confidence_threshold)
            FIRE_TRY(fire_yolo_output_add(s, (fire_yolo_found_t){image, c, score, b}));
    }
    return FIRE_OK;
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
            int64_t at = fire_yolo_at(&m, image, box, i % step);

            for (int64_t k = 0; k < m.entries; k++)
                s->work[k] = x[at + k * step];
            FIRE_TRY(find(l, &m, bottom, image, box, i % step));
        }
    }
    return fire_yolo_output_write(l, l->bottom[0]->dim[0], settings(l)->nms_threshold);
}

const fire_kernel_t fire_yolov3_detection_output_ref = {
    .name    = "ref",
    .forward = output_forward,
};

static const fire_kernel_t *const output_kernels[] = {&fire_yolov3_detection_output_ref,
                                                      NULL};

const fire_layer_ops_t fire_layer_yolov3_detection_output = {
    .type        = "Yolov3DetectionOutput",
    .bottoms     = {1, 8},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 255,
    .state_size  = sizeof(fire_yolo_output_t),
    .setup       = output_setup,
    .reshape     = output_reshape,
    .teardown    = fire_yolo_output_teardown,
    .kernels     = output_kernels,
};
