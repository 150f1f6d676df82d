/* plan_cudnn.h - plans of cuDNN that run a graph: chosen by its advice or by the clock. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_PLAN_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_PLAN_CUDNN_H
#include "device/cuda/cudnn/configs_cudnn.h"

enum { FIRE_CUDNN_TENSORS = 8 };

/* Where the tensors of a graph are. */
typedef struct fire_cudnn_args {
    int     n;
    int64_t uid[FIRE_CUDNN_TENSORS];
    void   *ptr[FIRE_CUDNN_TENSORS];
} fire_cudnn_args_t;

typedef struct fire_cudnn_plan {
    cudnnBackendDescriptor_t plan;
    size_t                   workspace;
    float                    ms;     /* if it was measured */
    int                      choice; /* which of those that were advised */
} fire_cudnn_plan_t;

/* FIRE_ERR_UNSUPPORTED where cuDNN has no plan that the rules allow. Outputs among the
 * args are written if plans are measured. */
fire_status_t fire_cudnn_plan_make(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                                   const fire_cudnn_args_t *args,
                                   fire_cudnn_plan_t       *plan_p);
fire_status_t fire_cudnn_plan_run(fire_stream_t *s, const fire_cudnn_plan_t *p,
                                  const fire_cudnn_args_t *args);
void          fire_cudnn_plan_free(const fire_cudnn_t *calls, fire_cudnn_plan_t *p);
#endif
