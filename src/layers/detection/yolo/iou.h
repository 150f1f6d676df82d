/* iou.h - overlaps of boxes as losses: intersection over union, and its generalisation for
 * boxes that do not touch (Rezatofighi and others, 2019), which subtracts the empty part
 * of the smallest box around both. */
#ifndef FIRE_LAYERS_DETECTION_YOLO_IOU_H
#define FIRE_LAYERS_DETECTION_YOLO_IOU_H
#include "layers/detection/yolo/yolo.h"

float fire_yolo_giou(fire_yolo_box_t a, fire_yolo_box_t b);

/* The slope of the overlap of a with b: to x, y, w, h of a. As darknet has it, twice as
 * large for w and h. */
void fire_yolo_overlap_slope(bool generalised, fire_yolo_box_t a, fire_yolo_box_t b,
                             float *slope);
#endif
