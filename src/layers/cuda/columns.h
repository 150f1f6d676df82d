/* columns.h - patches of images as columns, and back, on the GPU; float32. */
#ifndef FIRE_LAYERS_CUDA_COLUMNS_H
#define FIRE_LAYERS_CUDA_COLUMNS_H
#include "device/gpu.h"

enum { FIRE_GPU_SPATIAL = 8 };

/* images x channels x in[] <-> images x channels x kernel[] x out[] */
typedef struct fire_gpu_columns {
    int     axes;
    int64_t images, channels;
    int64_t in[FIRE_GPU_SPATIAL], out[FIRE_GPU_SPATIAL];
    int64_t kernel[FIRE_GPU_SPATIAL], stride[FIRE_GPU_SPATIAL];
    int64_t pad[FIRE_GPU_SPATIAL], dilation[FIRE_GPU_SPATIAL];
} fire_gpu_columns_t;

FIRE_BEGIN_C
fire_status_t fire_gpu_im2col(fire_stream_t *s, const fire_gpu_columns_t *c,
                              const float *image, float *columns);
/* Adds up what im2col() spread; overwrites the images. */
fire_status_t fire_gpu_col2im(fire_stream_t *s, const fire_gpu_columns_t *c,
                              const float *columns, float *image);
FIRE_END_C
#endif
