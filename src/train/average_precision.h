/* average_precision.h - mean average precision of a detector, from the tops of
 * DetectionEvaluate layers. */
#ifndef FIRE_TRAIN_AVERAGE_PRECISION_H
#define FIRE_TRAIN_AVERAGE_PRECISION_H
#include "base/error.h"

/* How precision is averaged over recall (ap_version): area below the curve, at eleven
 * recalls (Pascal VOC 2007), area below the curve made monotonic (VOC 2012). */
typedef enum fire_precision {
    FIRE_PRECISION_INTEGRAL,
    FIRE_PRECISION_11POINT,
    FIRE_PRECISION_MAX_INTEGRAL
} fire_precision_t;

fire_status_t fire_precision_find(const char *name, fire_precision_t *how_p);

typedef struct fire_average_precision fire_average_precision_t;

fire_status_t fire_average_precision_create(fire_precision_t           how,
                                            fire_average_precision_t **d_p);
void fire_average_precision_destroy(fire_average_precision_t *d); /* NULL is allowed */

/* Add the rows of one batch: n floats, 5 per row. */
fire_status_t fire_average_precision_add(fire_average_precision_t *d, int64_t n,
                                         const float *x);
/* Mean over all classes that have objects; 0 if none has. */
fire_status_t fire_average_precision_mean(fire_average_precision_t *d, double *mean_p);
#endif
