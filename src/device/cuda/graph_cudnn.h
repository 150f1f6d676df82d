/* graph_cudnn.h - operations described to cuDNN as a graph, and plans that run them. */
#ifndef FIRE_DEVICE_CUDA_GRAPH_CUDNN_H
#define FIRE_DEVICE_CUDA_GRAPH_CUDNN_H
#include "device/cuda/cudnn.h"

enum { FIRE_CUDNN_DIMS = 5, FIRE_CUDNN_OPS = 4, FIRE_CUDNN_TENSORS = 8 };

/* Descriptors of one graph; they go together. */
typedef struct fire_cudnn_graph {
    fire_stream_t           *stream;
    const fire_cudnn_t      *calls;
    cudnnHandle_t            handle;
    int                      n, nop;
    cudnnBackendDescriptor_t made[256];
    cudnnBackendDescriptor_t op[FIRE_CUDNN_OPS];
} fire_cudnn_graph_t;

typedef struct fire_cudnn_tensor {
    int64_t         uid; /* 0: only inside of the graph */
    cudnnDataType_t type;
    int             ndim;
    int64_t         dim[FIRE_CUDNN_DIMS], stride[FIRE_CUDNN_DIMS];
} fire_cudnn_tensor_t;

/* What plans may do. */
typedef struct fire_cudnn_rules {
    bool deterministic, exact, tensor_cores;
    /* Run the best few of those that cuDNN advises, and take the fastest; key: a word for
     * the problem and the rules, under which the choice is kept (tune.h). unadvised: run
     * others that use tensor cores, too. */
    bool        measure, unadvised;
    const char *key;
} fire_cudnn_rules_t;

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

fire_status_t fire_cudnn_graph_init(fire_stream_t *s, fire_cudnn_graph_t *g);
void          fire_cudnn_graph_fini(fire_cudnn_graph_t *g);

/* A descriptor that lives as long as the graph: set its attributes, then finish it. */
fire_status_t fire_cudnn_graph_add(fire_cudnn_graph_t          *g,
                                   cudnnBackendDescriptorType_t type,
                                   cudnnBackendDescriptor_t    *d_p);
fire_status_t fire_cudnn_graph_set(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t d,
                                   cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, int64_t n,
                                   const void *value);
fire_status_t fire_cudnn_graph_finish(fire_cudnn_graph_t      *g,
                                      cudnnBackendDescriptor_t d);
fire_status_t fire_cudnn_graph_tensor(fire_cudnn_graph_t        *g,
                                      const fire_cudnn_tensor_t *t,
                                      cudnnBackendDescriptor_t  *d_p);

/* FIRE_ERR_UNSUPPORTED where cuDNN has no plan that the rules allow. Outputs among the
 * args are written if plans are measured. */
fire_status_t fire_cudnn_plan_make(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                                   const fire_cudnn_args_t *args,
                                   fire_cudnn_plan_t       *plan_p);
fire_status_t fire_cudnn_plan_run(fire_stream_t *s, const fire_cudnn_plan_t *p,
                                  const fire_cudnn_args_t *args);
void          fire_cudnn_plan_free(const fire_cudnn_t *calls, fire_cudnn_plan_t *p);
#endif
