/* detections.h - lists of windows in image files, and the scores of each class that a
 * net gave them: what pycaffe's detect.py reads and writes. */
#ifndef FIRE_DATA_PICTURE_DETECTIONS_H
#define FIRE_DATA_PICTURE_DETECTIONS_H
#include "data/picture/picture.h"

/* A window of an image file. */
typedef struct fire_detection {
    const char *file; /* points into fire_detections.text */
    fire_rect_t window;
} fire_detection_t;

typedef struct fire_detections {
    fire_detection_t *row;
    int64_t           n, cap;
    char             *text; /* contents of the file read */
} fire_detections_t;

/* Read a .csv file. Its first line names the columns; filename, ymin, xmin, ymax and
 * xmax must be there, in any order, others are ignored. */
fire_status_t fire_detections_load(const char *path, fire_detections_t *d_p);
void          fire_detections_fini(fire_detections_t *d);

/* Save windows with scores: (d->n, classes). The name decides the format. .csv: columns
 * filename, ymin, xmin, ymax, xmax, class0, class1, ... .h5: datasets filename (text),
 * window (d->n, 4; in the same order) and prediction (d->n, classes). */
fire_status_t fire_detections_save(const char *path, const fire_detections_t *d,
                                   int64_t classes, const float *score);

/* The .h5 case; only in builds with HDF5. */
fire_status_t fire_detections_save_hdf5(const char *path, const fire_detections_t *d,
                                        int64_t classes, const float *score);
#endif
