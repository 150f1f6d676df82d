/* libs.h - cuBLAS and cuDNN, opened at run time. fire_cublas->Sgemm_v2(...) calls
 * cublasSgemm_v2, fire_cudnn->... alike. Looked for, in this order: in the folders of
 * FIRE_CUDA_LIBS (separated by colons), where the dynamic linker looks, and in the
 * nvidia/{cublas,cudnn,cu13,nccl}/lib folders beside a python3's packages. */
#ifndef FIRE_DEVICE_CUDA_LIBS_H
#define FIRE_DEVICE_CUDA_LIBS_H
#include <cublas_v2.h>
#include <cudnn.h>

#include "device/cuda/cuda.h"

FIRE_BEGIN_C
/* clang-format off */
#define FIRE_CUBLAS_CALLS(X)                                     \
    X(Create_v2) X(Destroy_v2) X(SetStream_v2) X(SetMathMode)    \
    X(SetWorkspace_v2) X(Sgemm_v2) X(GemmEx)                     \
    X(GemmStridedBatchedEx) X(Sgemv_v2)

#define FIRE_CUDNN_CALLS(X)                                      \
    X(Create) X(Destroy) X(SetStream) X(GetErrorString)          \
    X(GetVersion) X(BackendCreateDescriptor)                     \
    X(BackendDestroyDescriptor) X(BackendSetAttribute)           \
    X(BackendGetAttribute) X(BackendFinalize) X(BackendExecute)
/* clang-format on */

typedef struct fire_cublas {
#define X(name) __typeof__(&cublas##name) name;
    FIRE_CUBLAS_CALLS(X)
#undef X
} fire_cublas_t;

typedef struct fire_cudnn {
#define X(name) __typeof__(&cudnn##name) name;
    FIRE_CUDNN_CALLS(X)
#undef X
} fire_cudnn_t;

/* The tables, opened on first use; an error names what was tried. The worker's handle
 * comes along, tied to its queue. */
fire_status_t fire_cublas_get(fire_stream_t *s, const fire_cublas_t **calls_p,
                              cublasHandle_t *handle_p);
fire_status_t fire_cudnn_get(fire_stream_t *s, const fire_cudnn_t **calls_p,
                             cudnnHandle_t *handle_p);
void          fire_cuda_libs_close(fire_stream_t *s);

fire_status_t fire_cublas_status(cublasStatus_t rc, const char *what, const char *file,
                                 int line);
fire_status_t fire_cudnn_status(cudnnStatus_t rc, const char *what, const char *file,
                                int line);
#define FIRE_CUBLAS(call) fire_cublas_status((call), #call, __FILE__, __LINE__)
#define FIRE_CUDNN(call)  fire_cudnn_status((call), #call, __FILE__, __LINE__)
FIRE_END_C
#endif
