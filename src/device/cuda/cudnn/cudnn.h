/* cudnn.h - cuDNN's graph interface, opened at run time: a table of pointers to its
 * functions, named as they are without "cudnn". */
#ifndef FIRE_DEVICE_CUDA_CUDNN_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_CUDNN_H
#include "device/cuda/cuda.h"

#include <cudnn_graph.h>

FIRE_BEGIN_C
/* clang-format off */
#define FIRE_CUDNN_CALLS(X)                                      \
    X(Create) X(Destroy) X(SetStream) X(GetErrorString)          \
    X(GetVersion) X(BackendCreateDescriptor)                     \
    X(BackendDestroyDescriptor) X(BackendSetAttribute)           \
    X(BackendGetAttribute) X(BackendFinalize) X(BackendExecute)
/* clang-format on */

#define X(name) __typeof__(&cudnn##name) name;
typedef struct fire_cudnn {
    FIRE_CUDNN_CALLS(X)
} fire_cudnn_t;
#undef X

/* The table, and the handle of this worker, tied to its queue. Fails where libcudnn is
 * not installed. */
fire_status_t fire_cudnn_get(fire_stream_t *s, const fire_cudnn_t **calls_p,
                             cudnnHandle_t *handle_p);

/* A cuDNN call as a status, with its text and place in the message. */
fire_status_t fire_cudnn_status(cudnnStatus_t rc, const char *what, const char *file,
                                int line);
#define FIRE_CUDNN(call) fire_cudnn_status((call), #call, __FILE__, __LINE__)
FIRE_END_C
#endif
