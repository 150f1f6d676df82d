/* detections.h - windows in images and, once a net has seen them, a score of each class:
 * what detect.py reads and writes. */
#ifndef FIRE_DATA_PICTURE_DETECTIONS_H
#define FIRE_DATA_PICTURE_DETECTIONS_H
#include "data/picture/picture.h"

typedef struct fire_detection {
    const char *file;
    fire_rect_t window;
} fire_detection_t;

typedef struct fire_detections {
    fire_detection_t *row;
    int64_t           n, cap;
    char             *text; /* holds the names of files */
} fire_detections_t;

/* A .csv whose first line names the columns filename, ymin, xmin, ymax and xmax, in any
 * order; other columns are left out. */
fire_status_t fire_detections_load(const char *path, fire_detections_t *d_p);
void          fire_detections_fini(fire_detections_t *d);

/* `classes` scores for each row. By the name of the file: .csv with the columns filename,
 * ymin, xmin, ymax, xmax, class0, class1 ...; .h5 with the datasets filename (text),
 * window (rows x 4, in this order) and prediction (rows x classes). */
fire_status_t fire_detections_save(const char *path, const fire_detections_t *d,
                                   int64_t classes, const float *score);

/* Where HDF5 is in the build. */
fire_status_t fire_detections_save_hdf5(const char *path, const fire_detections_t *d,
                                        int64_t classes, const float *score);
#endif
