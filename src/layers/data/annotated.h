/* annotated.h - the state of AnnotatedData, shared by the layer and its load function. */
#ifndef FIRE_LAYERS_DATA_ANNOTATED_H
#define FIRE_LAYERS_DATA_ANNOTATED_H
#include "data/transform/transform.h"
#include "layers/data/feed.h"

/* A batch's label of an image: the number of objects, then FIRE_ANNOTATED_OBJECT floats
 * for each (label, instance, xmin, ymin, xmax, ymax, difficult). */
enum {
    FIRE_ANNOTATED_MAX    = 1000, /* objects of one image, at most */
    FIRE_ANNOTATED_OBJECT = 7,
    FIRE_ANNOTATED_WIDTH  = 1 + FIRE_ANNOTATED_MAX * FIRE_ANNOTATED_OBJECT,
};

/* The state of the layer; read-only once the prefetcher runs. */
typedef struct fire_annotated {
    fire_feed_t                           feed; /* must be first */
    fire_transform_t                      transform;
    const Caffe__TransformationParameter *t; /* transform_param, or NULL */
    const Caffe__AnnotatedDataParameter  *a; /* annotated_data_param, or NULL */
    const Caffe__ResizeParameter *fit; /* resize_param; NULL: images keep their size */
    fire_source_t                *source;
    fire_color_t                  color;
    bool                          mirror;  /* image and boxes together */
    bool                          shuffle; /* data_param's */
} fire_annotated_t;

/* The load function of the prefetcher; arg is a fire_annotated_t. */
fire_status_t fire_annotated_load_row(void *arg, fire_workspace_t *scratch,
                                      fire_batch_t *batch, int64_t row);
/* The extent of all rows: that of the first record after transformation. */
fire_status_t fire_annotated_infer_extent(const fire_annotated_t *d,
                                          fire_extent_t          *extent_p);
#endif
