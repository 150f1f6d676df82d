/* norm.h - y = act((x - mean) * inverse * gain + shift) per channel on the GPU, where act
 * is nothing or a ReLU: BatchNorm, Scale and ReLU in one pass over memory, with one more
 * before it where mean and inverse are the batch's own. Backward needs x alone. */
#ifndef FIRE_LAYERS_CUDA_NORM_H
#define FIRE_LAYERS_CUDA_NORM_H
#include "layers/cuda/layer_cuda.h"

typedef struct fire_gpu_norm {
    fire_gpu_view_t view;
    fire_dtype_t    dtype;
    float          *mean, *inverse; /* [channels]; NULL: 0 and 1 */
    const float    *gain, *shift;   /* [channels]; NULL: 1 and 0 */
    float          *sums;           /* [2 * channels] for backward */
    bool            measured;       /* mean and inverse are of this batch */
    bool            relu;
    float           slope;
} fire_gpu_norm_t;

/* Where the batch's statistics go: s = decay * s + ...; weight counts them. */
typedef struct fire_gpu_statistics {
    float *mean, *variance, *weight;
    float  decay;
} fire_gpu_statistics_t;

FIRE_BEGIN_C
/* mean and inverse from x, and from them the running statistics. */
fire_status_t fire_gpu_norm_measure(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    float eps, const void *x,
                                    const fire_gpu_statistics_t *into);
/* mean and inverse from running statistics. */
fire_status_t fire_gpu_norm_recall(fire_stream_t *s, const fire_gpu_norm_t *n,
                                   float eps, const fire_gpu_statistics_t *from);
fire_status_t fire_gpu_norm_forward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                    const void *x, void *y);
/* dgain, dshift: NULL if not wanted, else added to, or overwritten without `add`. dx:
 * NULL, or dy itself. */
fire_status_t fire_gpu_norm_backward(fire_stream_t *s, const fire_gpu_norm_t *n,
                                     const void *x, const void *dy, bool add,
                                     float *dgain, float *dshift, void *dx);
FIRE_END_C
#endif
