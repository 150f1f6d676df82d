/* labels.h - labels as kernels read them; see loss.h. */
#ifndef FIRE_LAYERS_LOSS_LABELS_H
#define FIRE_LAYERS_LOSS_LABELS_H
#include "device/cuda/cuda.h"
#include "layers/loss/loss.h"

typedef struct fire_labels {
    bool                 has_ignore;
    int                  ignore;
    fire_cuda_reporter_t reporter; /* for those that are no class; all 0: in silence */
} fire_labels_t;

__device__ static inline void fire_report_fault(const fire_cuda_reporter_t &b,
                                                bool is_index, float value,
                                                int64_t classes)
{
    if (b.layer == 0) return;
    b.fault->label    = value; /* of any of those who complain */
    b.fault->classes  = (int)classes;
    b.fault->is_index = is_index;
    b.fault->layer    = b.layer;
}

enum { FIRE_LABEL_WRONG = -2 }; /* beside FIRE_LABEL_IGNORED */

__device__ static inline int fire_label_class(const fire_labels_t &l, float label,
                                              int classes)
{
    bool is_int = label > -2147483648.0f && label < 2147483648.0f;

    if (is_int && l.has_ignore && (int)label == l.ignore) return FIRE_LABEL_IGNORED;
    if (is_int && (int)label >= 0 && (int)label < classes) return (int)label;
    fire_report_fault(l.reporter, false, label, classes);
    return FIRE_LABEL_WRONG;
}
#endif
