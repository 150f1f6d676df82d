/* match.h - which box is responsible for which object. */
#ifndef FIRE_LAYERS_DETECTION_MATCH_H
#define FIRE_LAYERS_DETECTION_MATCH_H
#include "device/cpu/blas.h"
#include "layers/detection/bbox.h"

enum { FIRE_MATCH_NONE = -1, FIRE_MATCH_IGNORED = -2 };

typedef struct fire_match_rule {
    bool  one_each;    /* an object gets its best box only */
    float least;       /* otherwise every box that overlaps this much */
    bool  inside_only; /* boxes that leave the image are ignored */
} fire_match_rule_t;

/* First each object takes the free box that overlaps it most, the best pair first; then,
 * unless one_each, each box left takes the object it overlaps most. index[i]: object of
 * box i, or one of the above; overlap[i]: largest with any object. */
fire_status_t fire_match(const fire_match_rule_t *rule, const fire_object_t *object,
                         int64_t nobject, const fire_bbox_t *box, int64_t nbox,
                         fire_scratch_t *work, int32_t *index, float *overlap);
#endif
