/* loss.h - what the losses of YOLO share. As in darknet, a loss is the sum of the squares
 * of "deltas", and the gradient of a prediction is its delta: not the slope of the loss,
 * but that of the cross entropies and squares that the deltas come from. */
#ifndef FIRE_LAYERS_DETECTION_YOLO_LOSS_H
#define FIRE_LAYERS_DETECTION_YOLO_LOSS_H
#include "layers/detection/yolo/yolo.h"

/* The state of such a layer, or its beginning. p: predictions after their activation.
 * Both arrays are as large as bottom 0. */
typedef struct fire_yolo_loss {
    fire_yolo_map_t    map;
    fire_yolo_truths_t truths;
    float             *p, *delta;
    int64_t            cp, cdelta;
} fire_yolo_loss_t;

/* Reshape: bottom 0 predictions, bottom 1 labels, top 0 a number. */
fire_status_t fire_yolo_loss_reshape(fire_layer_t *l, int64_t boxes, int64_t classes);
/* Backward: the deltas, divided by the number of images. */
fire_status_t fire_yolo_loss_backward(fire_layer_t *l);
void          fire_yolo_loss_teardown(fire_layer_t *l);

/* The best overlap of a box with an object of the image. */
float fire_yolo_loss_best(const fire_yolo_loss_t *s, fire_yolo_box_t box,
                          float (*overlap)(fire_yolo_box_t, fire_yolo_box_t));
/* The place whose cell holds the centre of an object; -1: it is outside of the image. */
int64_t fire_yolo_loss_place(const fire_yolo_loss_t *s, const fire_yolo_truth_t *t);
/* Deltas of x, y, w, h, as squares have them, for an object. unit: see fire_yolo_box(). */
void fire_yolo_loss_box(const fire_yolo_loss_t *s, int64_t at, int64_t place,
                        fire_yolo_box_t truth, const float *anchor, const float *unit,
                        float scale);
/* The sum of the squares of all deltas. */
float fire_yolo_loss_sum(const fire_yolo_loss_t *s);
#endif
