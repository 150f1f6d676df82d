/* graph_cudnn.h - operations described to cuDNN as a graph of descriptors. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_GRAPH_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_GRAPH_CUDNN_H
#include "device/cuda/cudnn/cudnn.h"

enum { FIRE_CUDNN_DIMS = 5, FIRE_CUDNN_OPS = 4 };

/* A graph under construction. It owns all descriptors; fini() destroys them
 * together. */
typedef struct fire_cudnn_graph {
    fire_stream_t            *stream;
    const fire_cudnn_t       *calls;
    cudnnHandle_t             handle;
    int64_t                   n, cap;
    cudnnBackendDescriptor_t *made;
    int                       nop; /* operations, in the order of the data flow */
    cudnnBackendDescriptor_t  op[FIRE_CUDNN_OPS];
} fire_cudnn_graph_t;

typedef struct fire_cudnn_tensor {
    int64_t uid; /* name, for plans; 0: a value inside the graph, without memory */
    cudnnDataType_t type;
    int             ndim;
    int64_t         dim[FIRE_CUDNN_DIMS], stride[FIRE_CUDNN_DIMS]; /* elements */
} fire_cudnn_tensor_t;

fire_status_t fire_cudnn_graph_init(fire_stream_t *s, fire_cudnn_graph_t *g);
void          fire_cudnn_graph_fini(fire_cudnn_graph_t *g);

/* Add a descriptor: create it, set its attributes, then finish it. */
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
/* Finish the graph: a descriptor of all its operations. */
fire_status_t fire_cudnn_graph_seal(fire_cudnn_graph_t       *g,
                                    cudnnBackendDescriptor_t *graph_p);

#define FIRE_CUDNN_SET(g, d, name, type, n, value) \
    FIRE_TRY(fire_cudnn_graph_set((g), (d), (name), (type), (n), (value)))
#endif
