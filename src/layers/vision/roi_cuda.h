/* roi_cuda.h - GPU kernels of ROIPooling (max) and PSROIPooling (mean). Arrays are
 * float32 in device memory; a region of an image that does not exist gives NaN. */
#ifndef FIRE_LAYERS_VISION_ROI_CUDA_H
#define FIRE_LAYERS_VISION_ROI_CUDA_H
#include "layers/vision/roi.h"

FIRE_BEGIN_C
typedef struct fire_gpu_rois {
    int64_t      in[4], out[4]; /* (N, C, H, W) of the map and of the result */
    float        scale, pad;
    const float *roi; /* (regions, FIRE_ROI_ROW) */
} fire_gpu_roi_t;

static inline fire_gpu_roi_t fire_gpu_roi_view(const fire_layer_t *l, float scale,
                                               const float *roi)
{
    fire_gpu_roi_t r;

    for (int i = 0; i < 4; i++) {
        r.in[i]  = l->bottom[0]->dim[i];
        r.out[i] = l->top[0]->dim[i];
    }
    r.scale = scale;
    r.pad   = 0.0f;
    r.roi   = roi;
    return r;
}

/* index: place of each maximum in its plane; -1: empty bin. */
fire_status_t fire_gpu_roi_max(fire_stream_t *s, const fire_gpu_roi_t *r,
                               const float *x, float *y, int32_t *index);
fire_status_t fire_gpu_roi_max_back(fire_stream_t *s, const fire_gpu_roi_t *r,
                                    const int32_t *index, const float *dy, float *dx);
fire_status_t fire_gpu_roi_mean(fire_stream_t *s, const fire_gpu_roi_t *r,
                                const float *x, float *y);
fire_status_t fire_gpu_roi_mean_back(fire_stream_t *s, const fire_gpu_roi_t *r,
                                     const float *dy, float *dx);
FIRE_END_C
#endif
