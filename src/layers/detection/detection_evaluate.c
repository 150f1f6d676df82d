/* detection_evaluate.c - DetectionEvaluate: which detections are right, for average
 * precision.
 *
 *   bottom 0: (1, 1, D, 7) detections, rows as DetectionOutput's top
 *   bottom 1: (1, 1, G, 8) objects, rows as in bbox.h
 *   top 0:    (1, 1, classes + D, 5); first a row for each class except background:
 *             -1, label, number of objects, -1, -1; then a row for each detection, by
 *             image, class and descending score: image, label, score, true positive,
 *             false positive
 *
 * A detection is a true positive if its best overlap with an object of its class and
 * image reaches overlap_threshold and no better detection found that object. Both flags
 * are 0 for one that found a difficult object, if those do not count. Rows of bottom 0
 * that are no detections (image -1) leave rows of zeros at the end. With
 * name_size_file, boxes are compared in pixels; images must come in the order of that
 * file. */
#include <stdlib.h>
#include <string.h>

#include "layers/detection/bbox.h"
#include "layers/detection/image_sizes.h"

enum { DETECTION_ROW = 7, ROW = 5, DETECTIONS = 0, OBJECTS = 1 };

typedef struct detection {
    int64_t     image;
    int         label;
    float       score;
    fire_bbox_t box;
} detection_t;

/* The state of the layer; cX is the capacity of X. */
typedef struct evaluate {
    fire_object_t *object;
    detection_t   *detection; /* sorted by image, label, descending score */
    bool          *found;     /* [object] a detection found it already */
    int64_t        cobject, cdetection, cfound, nobject, ndetection;

    fire_image_sizes_t sizes; /* empty: boxes are compared in units of the image */
    int64_t            first; /* index into `sizes` of image 0 of this pass */
} evaluate_t;

static fire_status_t evaluate_setup(fire_layer_t *l)
{
    const Caffe__DetectionEvaluateParameter *p = l->param->detection_evaluate_param;

    if (p == NULL || p->num_classes == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "detection_evaluate_param { num_classes } must be given and at "
            "least 1");
    if (p->name_size_file == NULL) return FIRE_OK;
    return fire_image_sizes_read(p->name_size_file, &FIRE_STATE(l, evaluate_t)->sizes);
}

/* Number of classes except background. */
static int64_t count_classes(const fire_layer_t *l)
{
    const Caffe__DetectionEvaluateParameter *p = l->param->detection_evaluate_param;

    return (int64_t)p->num_classes - (p->background_label_id < p->num_classes);
}

static fire_status_t evaluate_reshape(fire_layer_t *l)
{
    int64_t ndetection = l->bottom[DETECTIONS]->count / DETECTION_ROW;

    if (l->bottom[DETECTIONS]->count % DETECTION_ROW != 0 ||
        l->bottom[OBJECTS]->count % FIRE_OBJECT_ROW != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must have rows of %d (detections) and %d "
                         "(objects) numbers",
                         DETECTION_ROW, FIRE_OBJECT_ROW);
    return fire_blob_reshape(l->top[0], 4,
                             (int64_t[]){1, 1, count_classes(l) + ndetection, ROW});
}

static void evaluate_teardown(fire_layer_t *l)
{
    evaluate_t *s = FIRE_STATE(l, evaluate_t);

    fire_free(s->object);
    fire_free(s->detection);
    fire_free(s->found);
    fire_free(s->sizes.size);
}

/* For qsort(). */
static int by_image_label_score(const void *a, const void *b)
{
    const detection_t *x = a, *y = b;

    if (x->image != y->image) return x->image < y->image ? -1 : 1;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return x->score > y->score ? -1 : x->score < y->score;
}

/* Convert all boxes to pixels. The next pass begins with the image after the last one
 * of this pass. */
static void boxes_to_pixels(evaluate_t *s)
{
    int64_t last = -1;

    for (int64_t i = 0; i < s->ndetection + s->nobject; i++) {
        bool         found = i < s->ndetection;
        int64_t      k     = found ? i : i - s->ndetection;
        int64_t      image = found ? s->detection[k].image : s->object[k].image;
        fire_bbox_t *box   = found ? &s->detection[k].box : &s->object[k].box;

        *box =
            fire_bbox_in_pixels(*box, s->sizes.size[(s->first + image) % s->sizes.n]);
        if (image > last) last = image;
    }
    s->first = (s->first + last + 1) % s->sizes.n;
}

/* Read detections and objects of this pass. */
static fire_status_t read_bottoms(fire_layer_t *l)
{
    const Caffe__DetectionEvaluateParameter *p = l->param->detection_evaluate_param;
    evaluate_t                              *s = FIRE_STATE(l, evaluate_t);
    int64_t      ndetection = l->bottom[DETECTIONS]->count / DETECTION_ROW;
    int64_t      nobject    = l->bottom[OBJECTS]->count / FIRE_OBJECT_ROW;
    const float *row, *objects;

    FIRE_IN(l, l->bottom[DETECTIONS], FIRE_DATA, &row);
    FIRE_IN(l, l->bottom[OBJECTS], FIRE_DATA, &objects);
    FIRE_TRY(
        fire_grow(&s->detection, &s->cdetection, ndetection, sizeof(*s->detection)));
    FIRE_TRY(fire_grow(&s->object, &s->cobject, nobject, sizeof(*s->object)));
    FIRE_TRY(fire_grow(&s->found, &s->cfound, nobject, sizeof(*s->found)));
    FIRE_TRY(fire_objects_read(objects, nobject, (int)p->background_label_id, true,
                               s->object, &s->nobject));
    s->ndetection = 0;
    for (int64_t i = 0; i < ndetection; i++, row += DETECTION_ROW)
        if (row[0] >= 0.0f)
            s->detection[s->ndetection++] = (detection_t){
                (int64_t)row[0], (int)row[1], row[2], {row[3], row[4], row[5], row[6]}};
    for (int64_t i = 0; i < s->nobject; i++)
        s->found[i] = false;
    if (s->ndetection > 1)
        qsort(s->detection, (size_t)s->ndetection, sizeof(*s->detection),
              by_image_label_score);
    if (s->sizes.n > 0) boxes_to_pixels(s);
    return FIRE_OK;
}

/* Objects of a class that count. */
static int64_t count_objects(const fire_layer_t *l, int label)
{
    const evaluate_t *s   = FIRE_STATE(l, evaluate_t);
    bool              all = l->param->detection_evaluate_param->evaluate_difficult_gt;
    int64_t           n   = 0;

    for (int64_t i = 0; i < s->nobject; i++)
        n += s->object[i].label == label && (all || !s->object[i].difficult);
    return n;
}

/* The object of the detection's image and class that it overlaps most; -1 if none
 * reaches the threshold. */
static int64_t object_found(const fire_layer_t *l, const detection_t *d)
{
    const evaluate_t *s     = FIRE_STATE(l, evaluate_t);
    float             best  = -1.0f;
    int64_t           which = -1;

    for (int64_t i = 0; i < s->nobject; i++) {
        float overlap;

        if (s->object[i].image != d->image || s->object[i].label != d->label) continue;
        overlap = fire_bbox_overlap(d->box, s->object[i].box);
        if (overlap <= best) continue;
        best  = overlap;
        which = i;
    }
    return best >= l->param->detection_evaluate_param->overlap_threshold ? which : -1;
}

/* Write the row of a detection. */
static void write_verdict(const fire_layer_t *l, const detection_t *d, float *row)
{
    evaluate_t *s     = FIRE_STATE(l, evaluate_t);
    bool        all   = l->param->detection_evaluate_param->evaluate_difficult_gt;
    int64_t     which = object_found(l, d);

    row[0] = (float)d->image;
    row[1] = (float)d->label;
    row[2] = d->score;
    row[3] = row[4] = 0.0f;
    if (which >= 0 && s->object[which].difficult && !all) return;
    if (which >= 0 && !s->found[which])
        row[3] = 1.0f;
    else
        row[4] = 1.0f;
    if (which >= 0) s->found[which] = true;
}

/* The rows of the classes first, then those of the detections. */
static fire_status_t evaluate_forward(fire_layer_t *l)
{
    const Caffe__DetectionEvaluateParameter *p = l->param->detection_evaluate_param;
    evaluate_t                              *s = FIRE_STATE(l, evaluate_t);
    float                                   *y;

    FIRE_TRY(read_bottoms(l));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    memset(y, 0, (size_t)l->top[0]->count * sizeof(*y));
    for (uint32_t label = 0; label < p->num_classes; label++) {
        if (label == p->background_label_id) continue;
        *y++ = -1.0f;
        *y++ = (float)label;
        *y++ = (float)count_objects(l, (int)label);
        *y++ = -1.0f;
        *y++ = -1.0f;
    }
    for (int64_t i = 0; i < s->ndetection; i++, y += ROW)
        write_verdict(l, &s->detection[i], y);
    return FIRE_OK;
}

const fire_kernel_t fire_detection_evaluate_ref = {
    .name    = "ref",
    .forward = evaluate_forward,
};

static const fire_kernel_t *const evaluate_kernels[] = {&fire_detection_evaluate_ref,
                                                        NULL};

const fire_layer_ops_t fire_layer_detection_evaluate = {
    .type        = "DetectionEvaluate",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 3,
    .state_size  = sizeof(evaluate_t),
    .setup       = evaluate_setup,
    .reshape     = evaluate_reshape,
    .teardown    = evaluate_teardown,
    .kernels     = evaluate_kernels,
};
