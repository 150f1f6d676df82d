/* labels.h - reading labels in GPU kernels; the rules are those of loss.h. */
#ifndef FIRE_LAYERS_LOSS_LABELS_H
#define FIRE_LAYERS_LOSS_LABELS_H
#include "device/cuda/cuda.h"
#include "layers/loss/loss.h"

typedef struct fire_labels {
    bool has_ignore;
    int  ignore;
    /* where to report a label that is no class; {0}: nowhere */
    fire_cuda_reporter_t reporter;
} fire_labels_t;

/* Report a wrong label or index; the host reads it after the pass and fails. */
__device__ static inline void fire_report_fault(const fire_cuda_reporter_t &b,
                                                bool is_index, float value,
                                                int64_t classes)
{
    if (b.layer == 0) return;
    b.fault->label    = value; /* of any wrong item, if there are several */
    b.fault->classes  = (int)classes;
    b.fault->is_index = is_index;
    b.fault->layer    = b.layer;
}

enum { FIRE_LABEL_WRONG = -2 }; /* a label that is no class; see FIRE_LABEL_IGNORED */

/* The class of a label, FIRE_LABEL_IGNORED, or FIRE_LABEL_WRONG after reporting it. */
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
