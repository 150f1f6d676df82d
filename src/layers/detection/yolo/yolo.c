/* yolo.c - see yolo.h; in the arithmetic of darknet's code. */
#include "layers/detection/yolo/yolo.h"

#include <math.h>

/* Length that two intervals, given by middle and size, have in common; negative: gap. */
static float common(float a, float size_a, float b, float size_b)
{
    float low  = fmaxf(a - size_a / 2.0f, b - size_b / 2.0f);
    float high = fminf(a + size_a / 2.0f, b + size_b / 2.0f);

    return high - low;
}

float fire_yolo_iou(fire_yolo_box_t a, fire_yolo_box_t b)
{
    float w = common(a.x, a.w, b.x, b.w), h = common(a.y, a.h, b.y, b.h);

    if (w < 0.0f || h < 0.0f) return 0.0f;
    return w * h / (a.w * a.h + b.w * b.h - w * h);
}

float fire_yolo_sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

fire_status_t fire_yolo_map_of(const fire_blob_t *x, int64_t boxes, int64_t entries,
                               fire_yolo_map_t *m_p)
{
    char shape[FIRE_SHAPE_TEXT];

    if (x->ndim != 4 || x->dim[1] != boxes * entries || boxes == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "predictions must be (N, %lld, H, W): %lld boxes with %lld "
                         "entries; they are %s",
                         (long long)(boxes * entries), (long long)boxes,
                         (long long)entries,
                         fire_blob_shape_string(x, shape, sizeof(shape)));
    *m_p = (fire_yolo_map_t){x->dim[0], boxes, entries, x->dim[2], x->dim[3]};
    return FIRE_OK;
}

fire_yolo_box_t fire_yolo_box_of(const fire_yolo_map_t *m, const float entry[4],
                                 int64_t place, const float *anchor, const float *unit)
{
    return (fire_yolo_box_t){((float)(place % m->width) + entry[0]) / (float)m->width,
                             ((float)(place / m->width) + entry[1]) / (float)m->height,
                             expf(entry[2]) * anchor[0] / unit[0],
                             expf(entry[3]) * anchor[1] / unit[1]};
}

fire_yolo_box_t fire_yolo_box(const fire_yolo_map_t *m, const float *entry,
                              int64_t place, const float *anchor, const float *unit)
{
    int64_t step   = m->height * m->width;
    float   own[4] = {entry[0], entry[step], entry[2 * step], entry[3 * step]};

    return fire_yolo_box_of(m, own, place, anchor, unit);
}

void fire_yolo_softmax(int64_t n, int64_t step, float *x)
{
    float most = x[0], sum = 0.0f;

    for (int64_t i = 1; i < n; i++)
        most = fmaxf(most, x[i * step]);
    for (int64_t i = 0; i < n; i++)
        sum += x[i * step] = expf(x[i * step] - most);
    for (int64_t i = 0; i < n; i++)
        x[i * step] /= sum;
}

fire_status_t fire_yolo_check_anchors(size_t n, int64_t need)
{
    if (n % 2 == 0 && (int64_t)n >= 2 * need) return FIRE_OK;
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "%zu values of biases: %lld anchors need a width and a height each", n,
        (long long)need);
}

/* ---- objects ---- */

enum { ROW = 5 };

static int64_t row_of(const fire_blob_t *label)
{
    return label->ndim > 0 ? label->dim[label->ndim - 1] : 0;
}

fire_status_t fire_yolo_truths_check(const fire_blob_t *label, int64_t images)
{
    int64_t row = row_of(label);
    char    shape[FIRE_SHAPE_TEXT];

    if (row == FIRE_OBJECT_ROW || (row == ROW && label->dim[0] == images))
        return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "labels must be (N, objects, %d) with the N = %lld of the "
                     "predictions, or (1, 1, objects, %d) as AnnotatedData gives them; "
                     "they are %s",
                     ROW, (long long)images, FIRE_OBJECT_ROW,
                     fire_blob_shape_string(label, shape, sizeof(shape)));
}

static fire_status_t add(fire_yolo_truths_t *t, float label, int64_t classes,
                         bool difficult, fire_yolo_box_t box)
{
    if (!(label >= 0.0f && label < (float)classes))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "an object has class %g; there are %lld, from 0 on",
                         (double)label, (long long)classes);
    FIRE_TRY(fire_grow(&t->list, &t->cap, t->n + 1, sizeof(*t->list)));
    t->list[t->n++] = (fire_yolo_truth_t){(int)label, difficult, box};
    return FIRE_OK;
}

/* Rows of SSD, of all images together. */
static fire_status_t read_annotated(const float *row, int64_t n, int64_t image,
                                    int64_t classes, fire_yolo_truths_t *t)
{
    for (int64_t i = 0; i < n; i++, row += FIRE_OBJECT_ROW) {
        fire_yolo_box_t b = {(row[3] + row[5]) / 2.0f, (row[4] + row[6]) / 2.0f,
                             row[5] - row[3], row[6] - row[4]};

        if (row[0] == (float)image)
            FIRE_TRY(add(t, row[1] - 1.0f, classes, row[7] != 0.0f, b));
    }
    return FIRE_OK;
}

fire_status_t fire_yolo_truths_read(const fire_blob_t *blob, const float *label,
                                    int64_t image, int64_t images, int64_t classes,
                                    fire_yolo_truths_t *t)
{
    int64_t      n = fire_blob_count(blob) / row_of(blob);
    const float *row;

    t->n = 0;
    if (row_of(blob) == FIRE_OBJECT_ROW)
        return read_annotated(label, n, image, classes, t);
    n /= images;
    row = label + image * n * ROW;
    for (int64_t i = 0; i < n && row[3] != 0.0f; i++, row += ROW)
        FIRE_TRY(add(t, row[0], classes, false,
                     (fire_yolo_box_t){row[1], row[2], row[3], row[4]}));
    return FIRE_OK;
}
