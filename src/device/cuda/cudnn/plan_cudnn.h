/* plan_cudnn.h - execution plans of cuDNN: chosen by its advice or by measuring. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_PLAN_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_PLAN_CUDNN_H
#include "device/cuda/cudnn/configs_cudnn.h"

enum { FIRE_CUDNN_TENSORS = 8 };

/* Addresses of a graph's tensors, by unique id. */
typedef struct fire_cudnn_args {
    int     n;
    int64_t uid[FIRE_CUDNN_TENSORS];
    void   *ptr[FIRE_CUDNN_TENSORS];
} fire_cudnn_args_t;

typedef struct fire_cudnn_plan {
    cudnnBackendDescriptor_t plan;
    size_t                   workspace; /* bytes */
    float                    ms;        /* milliseconds of a run; 0: not measured */
    int choice; /* source * FIRE_CUDNN_CONFIGS + its index there: kept by tune.h */
} fire_cudnn_plan_t;

/* Finish the graph and choose a plan for it. FIRE_ERR_UNSUPPORTED where cuDNN has none
 * that the rules allow. Measuring writes the outputs among args. */
fire_status_t fire_cudnn_plan_make(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                                   const fire_cudnn_args_t *args,
                                   fire_cudnn_plan_t       *plan_p);
fire_status_t fire_cudnn_plan_run(fire_stream_t *s, const fire_cudnn_plan_t *p,
                                  const fire_cudnn_args_t *args);
void          fire_cudnn_plan_free(const fire_cudnn_t *calls, fire_cudnn_plan_t *p);
#endif
