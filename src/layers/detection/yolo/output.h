/* output.h - what YoloDetectionOutput and Yolov3DetectionOutput share: the boxes found so
 * far, and the top that is made of them. */
#ifndef FIRE_LAYERS_DETECTION_YOLO_OUTPUT_H
#define FIRE_LAYERS_DETECTION_YOLO_OUTPUT_H
#include "layers/detection/yolo/yolo.h"

typedef struct fire_yolo_found {
    int64_t         image;
    int             label; /* from 0 on */
    float           score;
    fire_yolo_box_t box;
} fire_yolo_found_t;

/* The state of such a layer, or its beginning. work: one box's entries. */
typedef struct fire_yolo_output {
    fire_yolo_found_t *found;
    fire_ranked_t     *list;
    float             *work;
    int64_t            n, cfound, clist, cwork;
} fire_yolo_output_t;

fire_status_t fire_yolo_output_add(fire_yolo_output_t *s, fire_yolo_found_t f);
/* The top's shape before forward: (1, 1, 1, 7). */
fire_status_t fire_yolo_output_reshape(fire_layer_t *l);
/* Of each image, drop boxes that overlap a better one, of whatever class, by the threshold
 * or more. Write top 0: (1, 1, D, 7), rows of image, class + 1, score, xmin, ymin, xmax,
 * ymax, best first; where nothing was found a row of image and six times -1 for each. */
fire_status_t fire_yolo_output_write(fire_layer_t *l, int64_t images, float threshold);
void          fire_yolo_output_teardown(fire_layer_t *l);
#endif
