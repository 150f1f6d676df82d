/* labels.h - labels as kernels read them; see loss.h. */
#ifndef FIRE_LAYERS_CUDA_LABELS_H
#define FIRE_LAYERS_CUDA_LABELS_H
#include "device/cuda/cuda.h"
#include "layers/loss/loss.h"

typedef struct fire_labels {
    bool              has_ignore;
    int               ignore;
    fire_cuda_blame_t blame; /* for those that are no class; all 0: in silence */
} fire_labels_t;

enum { FIRE_LABEL_WRONG = -2 }; /* beside FIRE_LABEL_IGNORED */

__device__ static inline int fire_label_class(const fire_labels_t &l, float label,
                                              int classes)
{
    bool is_int = label > -2147483648.0f && label < 2147483648.0f;

    if (is_int && l.has_ignore && (int)label == l.ignore) return FIRE_LABEL_IGNORED;
    if (is_int && (int)label >= 0 && (int)label < classes) return (int)label;
    if (l.blame.who != 0) { /* any of those who say so */
        l.blame.wrong->label   = label;
        l.blame.wrong->classes = classes;
        l.blame.wrong->who     = l.blame.who;
    }
    return FIRE_LABEL_WRONG;
}
#endif
