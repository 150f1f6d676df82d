/* graph_cudnn.c - calls of cuDNN's backend interface that build a graph. */
#include "device/cuda/cudnn/graph_cudnn.h"

#include "base/alloc.h"

fire_status_t fire_cudnn_graph_init(fire_stream_t *s, fire_cudnn_graph_t *g)
{
    *g = (fire_cudnn_graph_t){.stream = s};
    return fire_cudnn_get(s, &g->calls, &g->handle);
}

void fire_cudnn_graph_fini(fire_cudnn_graph_t *g)
{
    while (g->n > 0)
        g->calls->BackendDestroyDescriptor(g->made[--g->n]);
    fire_free(g->made);
}

fire_status_t fire_cudnn_graph_add(fire_cudnn_graph_t          *g,
                                   cudnnBackendDescriptorType_t type,
                                   cudnnBackendDescriptor_t    *d_p)
{
    FIRE_TRY(fire_grow(&g->made, &g->cap, g->n + 1, sizeof(*g->made)));
    FIRE_TRY(FIRE_CUDNN(g->calls->BackendCreateDescriptor(type, &g->made[g->n])));
    *d_p = g->made[g->n++];
    return FIRE_OK;
}

fire_status_t fire_cudnn_graph_set(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t d,
                                   cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, int64_t n,
                                   const void *value)
{
    return FIRE_CUDNN(g->calls->BackendSetAttribute(d, name, type, n, value));
}

fire_status_t fire_cudnn_graph_finish(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t d)
{
    return FIRE_CUDNN(g->calls->BackendFinalize(d));
}

/* Tensors without a uid get a unique one of their own, as cuDNN demands. */
fire_status_t fire_cudnn_graph_tensor(fire_cudnn_graph_t        *g,
                                      const fire_cudnn_tensor_t *t,
                                      cudnnBackendDescriptor_t  *d_p)
{
    int64_t                  alignment = 16, uid = t->uid;
    bool                     inside = t->uid == 0;
    cudnnBackendDescriptor_t d;

    if (inside) uid = 1000 + g->n;
    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_TENSOR_DESCRIPTOR, &d));
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
                   &t->type);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, t->ndim,
                   t->dim);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, t->ndim,
                   t->stride);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
                   &alignment);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inside);
    FIRE_TRY(fire_cudnn_graph_finish(g, d));
    *d_p = d;
    return FIRE_OK;
}

fire_status_t fire_cudnn_graph_seal(fire_cudnn_graph_t       *g,
                                    cudnnBackendDescriptor_t *graph_p)
{
    cudnnBackendDescriptor_t d;

    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &d));
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
                   &g->handle);
    FIRE_CUDNN_SET(g, d, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                   g->nop, g->op);
    FIRE_TRY(fire_cudnn_graph_finish(g, d));
    *graph_p = d;
    return FIRE_OK;
}
