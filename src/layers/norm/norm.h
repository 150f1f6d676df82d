/* norm.h - y = act((x - mean) * inverse * gain + shift) per channel on the GPU, where act
 * is nothing or a ReLU: BatchNorm, Scale and ReLU in one pass over memory, with one more
 * before it where mean and inverse are the batch's own. Backward needs x alone. At the
 * end of a residual branch act is of a sum: y = act(... + other). */
#ifndef FIRE_LAYERS_NORM_NORM_H
#define FIRE_LAYERS_NORM_NORM_H
#include "device/cuda/kernel/view.h"

typedef struct fire_gpu_norm {
    fire_gpu_view_t view;
    int64_t         height, width; /* of an image, channels last */
    fire_dtype_t    dtype;
    float          *mean, *inverse; /* [channels]; NULL: 0 and 1 */
    const float    *gain, *shift;   /* [channels]; NULL: 1 and 0 */
    float          *sums;           /* [2 * channels] for backward */
    bool            measured;       /* mean and inverse are of this batch */
    bool            relu;
    float           slope;
    uint8_t        *mask; /* of a sum: a bit for each element, a byte for each vector */
    bool            thin; /* y is wanted at even rows and columns alone: FIRE_EVEN */
} fire_gpu_norm_t;

/* Where the batch's statistics go: s = decay * s + ...; weight counts them. */
typedef struct fire_gpu_statistics {
    float *mean, *variance, *weight;
    float  decay;
} fire_gpu_statistics_t;

/* Elements of a vector that kernels take at once. */
static inline size_t fire_gpu_norm_vector(const fire_gpu_norm_t *n)
{
    int64_t v = n->dtype == FIRE_F32 ? 4 : 8;

    return n->view.inner == 1 && n->view.channels % v == 0 ? (size_t)v : 1;
}

FIRE_BEGIN_C
/* mean and inverse from x, and from them the running statistics. */
fire_status_t fire_gpu_norm_measure(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    float eps, const void *x,
                                    const fire_gpu_statistics_t *into);
/* mean and inverse from running statistics. */
fire_status_t fire_gpu_norm_recall(fire_stream_t *s, const fire_gpu_norm_t *n,
                                   float eps, const fire_gpu_statistics_t *from);
/* other: NULL, or what is added before the activation; with `by`, normalised by that.
 * Then backward wants to know where the sum was positive: n->mask. */
fire_status_t fire_gpu_norm_forward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    const void *x, const void *other,
                                    const fire_gpu_norm_t *by, void *y);

/* Where gradients go. dgain, dshift: NULL if not wanted, else overwritten, or added to
 * where `add` says so. dx: NULL, or dy itself. */
typedef struct fire_gpu_norm_to {
    float *dgain, *dshift;
    bool   add_gain, add_shift;
    void  *dx;
} fire_gpu_norm_to_t;

fire_status_t fire_gpu_norm_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                     const void *x, const void *dy,
                                     const fire_gpu_norm_to_t *to);

/* Where the gradient of act(norm + other) comes from: from one reader or two. It is left
 * in g, which is also that of `other` and may be any dy that is like it. */
typedef struct fire_gpu_norm_sum {
    const void *dy[2];   /* dy[1]: NULL if there is one */
    bool        thin[2]; /* as FIRE_EVEN; where all are, g is so, too */
    void       *g;
} fire_gpu_norm_sum_t;

static inline bool fire_gpu_norm_sum_is_thin(const fire_gpu_norm_sum_t *s)
{
    return s->thin[0] && (s->dy[1] == NULL || s->thin[1]);
}

fire_status_t fire_gpu_norm_branch_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                            const void                *x,
                                            const fire_gpu_norm_sum_t *from,
                                            const fire_gpu_norm_to_t  *to);
FIRE_END_C
#endif
