/* cublas_v2.h - the part of cuBLAS that this program uses, for the emulator. */
#ifndef EMULATOR_CUBLAS_V2_H
#define EMULATOR_CUBLAS_V2_H
#include "cuda_runtime_api.h"

#define CUBLAS_VER_MAJOR 13

#ifdef __cplusplus
extern "C" {
#endif
typedef enum {
    CUBLAS_STATUS_SUCCESS       = 0,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T } cublasOperation_t;
typedef enum {
    CUBLAS_COMPUTE_32F           = 68,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14 } cudaDataType;
typedef cudaDataType            cudaDataType_t;
typedef struct emulated_cublas *cublasHandle_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *memory, size_t bytes);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
    int k, const void *alpha, const void *a, cudaDataType atype, int lda,
    long long astride, const void *b, cudaDataType btype, int ldb, long long bstride,
    const void *beta, void *c, cudaDataType ctype, int ldc, long long cstride,
    int batch, cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa,
                            cublasOperation_t opb, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType atype,
                            int lda, const void *b, cudaDataType btype, int ldb,
                            const void *beta, void *c, cudaDataType ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algo);
#ifdef __cplusplus
}
#endif
#endif
