/* norm.h - y = act((x - mean) * inverse * gain + shift) per channel on the GPU, where
 * act is a ReLU or the identity: BatchNorm, Scale and ReLU in one pass over memory,
 * plus one for the batch's statistics. Backward reads x and dy, and computes the rest
 * again. At the end of a residual branch another array is added before act: y = act(...
 * + other). */
#ifndef FIRE_LAYERS_NORM_NORM_H
#define FIRE_LAYERS_NORM_NORM_H
#include "device/cuda/kernel/view.h"

typedef struct fire_gpu_norm {
    fire_gpu_view_t view;          /* of x */
    int64_t         height, width; /* of an image; used with channels last only */
    fire_dtype_t    dtype;
    float          *mean, *inverse; /* (channels); NULL: 0 and 1 */
    const float    *gain, *shift;   /* (channels); NULL: 1 and 0 */
    float          *sums;           /* (2, channels), scratch memory for backward */
    bool            measured;       /* mean and inverse are those of this batch */
    bool            relu;
    float           slope; /* of the ReLU */
    uint8_t        *mask; /* with `other`: where y > 0, one byte for each vector of x */
    bool            even_only; /* y is stored as FIRE_EVEN */
} fire_gpu_norm_t;

/* Running statistics on the GPU: each is s = decay * s + share * the batch's; weight:
 * + 1. mean NULL: there are none; weight NULL: mean and variance are no sums. */
typedef struct fire_gpu_statistics {
    float *mean, *variance, *weight;
    float  decay, share;
    bool   unbiased; /* the batch's variance is that of m - 1 */
} fire_gpu_statistics_t;

/* Elements that a thread takes at once. */
static inline size_t fire_gpu_norm_vector(const fire_gpu_norm_t *n)
{
    int64_t v = n->dtype == FIRE_F32 ? 4 : 8;

    return n->view.inner == 1 && n->view.channels % v == 0 ? (size_t)v : 1;
}

FIRE_BEGIN_C
/* Compute n->mean and n->inverse from x, and update the running statistics. */
fire_status_t fire_gpu_norm_measure(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    float eps, const void *x,
                                    const fire_gpu_statistics_t *into);
/* Compute n->mean and n->inverse from the running statistics. */
fire_status_t fire_gpu_norm_recall(fire_stream_t *s, const fire_gpu_norm_t *n,
                                   float eps, const fire_gpu_statistics_t *from);
/* other: NULL, or an array to add before act, normalised by `by` first unless that is
 * NULL. With `other` and a ReLU, n->mask is set for backward. */
fire_status_t fire_gpu_norm_forward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    const void *x, const void *other,
                                    const fire_gpu_norm_t *by, void *y);

/* Where to store gradients; NULL: not wanted. add_: += instead of =. dx may be dy. */
typedef struct fire_gpu_norm_to {
    float *dgain, *dshift;
    bool   add_gain, add_shift;
    void  *dx;
} fire_gpu_norm_to_t;

fire_status_t fire_gpu_norm_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                     const void *x, const void *dy,
                                     const fire_gpu_norm_to_t *to);

/* The gradient of y = act(norm + other) is the sum of what one or two readers of y
 * give. g: stores the gradient before act, which is that of `other`, too; may be one of
 * dy that has the same format. */
typedef struct fire_gpu_norm_sum {
    const void *dy[2];        /* dy[1]: NULL if there is one */
    bool        even_only[2]; /* dy[i] is stored as FIRE_EVEN; if all are, so is g */
    void       *g;
} fire_gpu_norm_sum_t;

static inline bool fire_gpu_norm_sum_is_even(const fire_gpu_norm_sum_t *s)
{
    return s->even_only[0] && (s->dy[1] == NULL || s->even_only[1]);
}

fire_status_t fire_gpu_norm_branch_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                            const void                *x,
                                            const fire_gpu_norm_sum_t *from,
                                            const fire_gpu_norm_to_t  *to);
FIRE_END_C
#endif
