/* cublas.c - cuBLAS for the emulator: matrix products by simple loops in float32, with
 * matrices stored by columns, as cuBLAS has them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cublas_v2.h"

static float to_float(const void *x, cudaDataType type, size_t i)
{
    uint32_t u;
    float    f;

    if (type == CUDA_R_32F) return ((const float *)x)[i];
    if (type == CUDA_R_16F) return (float)((const _Float16 *)x)[i];
    u = (uint32_t)((const uint16_t *)x)[i] << 16;
    memcpy(&f, &u, sizeof(f));
    return f;
}

static void from_float(float f, void *x, cudaDataType type, size_t i)
{
    uint32_t u;

    if (type == CUDA_R_32F) {
        ((float *)x)[i] = f;
        return;
    }
    if (type == CUDA_R_16F) {
        ((_Float16 *)x)[i] = (_Float16)f;
        return;
    }
    memcpy(&u, &f, sizeof(u));
    ((uint16_t *)x)[i] = (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

/* op(x) as a dense row-major array of float32 with `rows` rows. The caller frees it. */
static float *unpack(const void *x, cudaDataType type, cublasOperation_t op, int rows,
                     int columns, int ld)
{
    float *out = malloc((size_t)rows * (size_t)columns * sizeof(*out));

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[(size_t)i * columns + j] = to_float(
                x, type, op == CUBLAS_OP_N ? (size_t)j * ld + i : (size_t)i * ld + j);
    return out;
}

static void product(int m, int n, int k, float alpha, const float *a, const float *b,
                    float beta, void *c, cudaDataType type, int ldc)
{
    float *row = malloc((size_t)n * sizeof(*row));

    for (int i = 0; i < m; i++) {
        memset(row, 0, (size_t)n * sizeof(*row));
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                row[j] += a[(size_t)i * k + l] * b[(size_t)l * n + j];
        for (int j = 0; j < n; j++) {
            size_t at  = (size_t)j * ldc + i;
            float  old = beta != 0 ? beta * to_float(c, type, at) : 0;

            from_float(alpha * row[j] + old, c, type, at);
        }
    }
    free(row);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa,
                            cublasOperation_t opb, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType atype,
                            int lda, const void *b, cudaDataType btype, int ldb,
                            const void *beta, void *c, cudaDataType ctype, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    float *x, *y;

    (void)handle, (void)compute, (void)algo;
    emulator_enter();
    x = unpack(a, atype, opa, m, k, lda);
    y = unpack(b, btype, opb, k, n, ldb);
    product(m, n, k, *(const float *)alpha, x, y, *(const float *)beta, c, ctype, ldc);
    free(x);
    free(y);
    emulator_leave();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
    int k, const void *alpha, const void *a, cudaDataType atype, int lda,
    long long astride, const void *b, cudaDataType btype, int ldb, long long bstride,
    const void *beta, void *c, cudaDataType ctype, int ldc, long long cstride,
    int batch, cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
    for (int i = 0; i < batch; i++) {
        cublasStatus_t rc = cublasGemmEx(
            handle, opa, opb, m, n, k, alpha,
            (const char *)a + i * astride * (atype == CUDA_R_32F ? 4 : 2), atype, lda,
            (const char *)b + i * bstride * (btype == CUDA_R_32F ? 4 : 2), btype, ldb,
            beta, (char *)c + i * cstride * (ctype == CUDA_R_32F ? 4 : 2), ctype, ldc,
            compute, algo);

        if (rc != CUBLAS_STATUS_SUCCESS) return rc;
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = malloc(1);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    (void)handle, (void)stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *memory, size_t bytes)
{
    (void)handle, (void)memory, (void)bytes;
    return CUBLAS_STATUS_SUCCESS;
}
