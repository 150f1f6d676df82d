/* match.h - assigns boxes to objects for MultiBoxLoss. */
#ifndef FIRE_LAYERS_DETECTION_MATCH_H
#define FIRE_LAYERS_DETECTION_MATCH_H
#include "device/cpu/blas.h"
#include "layers/detection/bbox.h"

enum { FIRE_MATCH_NONE = -1, FIRE_MATCH_IGNORED = -2 };

typedef struct fire_match_rule {
    bool  one_each;    /* BIPARTITE: an object gets only its best box */
    float least;       /* otherwise also every box that overlaps it at least so much */
    bool  inside_only; /* boxes that extend beyond the image are ignored */
} fire_match_rule_t;

/* First each object gets the free box that overlaps it most, the best pair first. Then,
 * unless one_each, each box left is assigned to the object it overlaps most. index[i] =
 * object of box i, FIRE_MATCH_NONE or FIRE_MATCH_IGNORED; overlap[i] = largest overlap
 * of box i with any object. `work`: scratch memory for nobject * (nbox + 1) floats. */
fire_status_t fire_match(const fire_match_rule_t *rule, const fire_object_t *object,
                         int64_t nobject, const fire_bbox_t *box, int64_t nbox,
                         fire_scratch_t *work, int32_t *index, float *overlap);
#endif
