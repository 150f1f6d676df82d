/* fields.h - what the layers of MS-CNN (Cai and others, 2016) and Cascade R-CNN (Cai and
 * Vasconcelos, 2018) share. A map looks for objects of about one size, its "field": each
 * place predicts how its object differs from a field around the place. Boxes are in
 * pixels. */
#ifndef FIRE_LAYERS_DETECTION_MSCNN_FIELDS_H
#define FIRE_LAYERS_DETECTION_MSCNN_FIELDS_H
#include "layers/detection/bbox.h"

/* How boxes were normalised for training: value = prediction * std + mean. */
typedef struct fire_bbox_reg {
    float mean[4], std[4];
} fire_bbox_reg_t;

/* Read bbox_reg_param (NULL: nothing was done). */
fire_status_t fire_bbox_reg_read(const Caffe__BBoxRegParameter *p,
                                 fire_bbox_reg_t               *r_p);

/* What two boxes share, divided by: their union, the smaller one, the first one. */
typedef enum fire_field_share {
    FIRE_SHARE_UNION,
    FIRE_SHARE_LESSER,
    FIRE_SHARE_FIRST
} fire_field_share_t;
/* nms_type: "IOU", "IOMU", "IOFU". */
fire_status_t fire_share_read(const char *nms_type, fire_field_share_t *s_p);

/* What was found: a box of an image, and its score. */
typedef struct fire_field_box {
    int64_t     image;
    float       score;
    fire_bbox_t box;
} fire_field_box_t;

/* Settings of BoxOutput and BoxGroupOutput. */
typedef struct fire_field_rules {
    fire_bbox_reg_t reg;
    float shift, zoom; /* a centre moves by at most shift fields, a size changes
                                  * by at most exp(zoom) */
    float least_score, least_size, threshold;
    fire_field_share_t share;
    int64_t before, after; /* boxes that suppression takes and gives; 0: all */
    float   end;           /* 1: both ends of a box are inside (Cascade R-CNN) */
} fire_field_rules_t;

/* The state of such a layer. */
typedef struct fire_fields {
    fire_field_rules_t rules;
    fire_field_box_t  *found;
    fire_ranked_t     *list;
    int64_t            n, cfound, clist;
} fire_fields_t;

/* One place of a map: `delta` has four predictions, `step` apart. field, stride: width and
 * height. extent: width and height of the map. Adds a box unless it is too small. */
fire_status_t fire_fields_add(fire_fields_t *s, int64_t image, float score,
                              const float *delta, int64_t step, const float *field,
                              float stride, const int64_t *extent, int64_t place);
/* Tops before forward: (1, 5, 1, 1) and (1, 6, 1, 1). */
fire_status_t fire_fields_reshape(fire_layer_t *l);
/* Suppress within each image; write top 0, (R, 5, 1, 1): image, x1, y1, x2, y2, and top 1
 * (optional), (R, 6, 1, 1): the same and the score. Without any box, the forks' (0, 1, 1,
 * 10, 10) and zeros. */
fire_status_t fire_fields_write(fire_layer_t *l, int64_t images);
void          fire_fields_teardown(fire_layer_t *l);
#endif
