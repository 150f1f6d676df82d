/* cublas.c - matrix products by cuBLAS, opened when the first is asked for. */
#include "device/cuda/cublas.h"

#include <cublas_v2.h>
#include <limits.h>

#include "device/cuda/libs.h"

/* clang-format off */
#define CALLS(X)                                               \
    X(Create_v2) X(Destroy_v2) X(SetStream_v2)                 \
    X(SetWorkspace_v2) X(GemmEx) X(GemmStridedBatchedEx)
/* clang-format on */

#define X(name) __typeof__(&cublas##name) name;
typedef struct calls {
    CALLS(X)
} calls_t;
#undef X

static calls_t cublas;

#define X(name) {"cublas" #name, &cublas.name},
static const fire_cuda_call_t calls[] = {CALLS(X){0}};
#undef X
static fire_cuda_lib_t library = {
    .file = "libcublas.so." FIRE_CUDA_WORD(CUBLAS_VER_MAJOR), .call = calls};

#define CUBLAS(call) cublas_status((call), #call, __FILE__, __LINE__)

static fire_status_t cublas_status(cublasStatus_t rc, const char *what,
                                   const char *file, int line)
{
    if (rc == CUBLAS_STATUS_SUCCESS) return FIRE_OK;
    fire_error_set(FIRE_ERR_DEVICE, file, line, "cuBLAS: %s: code %d", what, (int)rc);
    return FIRE_ERR_DEVICE;
}

/* We give cuBLAS its scratch memory: then it allocates none while a graph is recorded,
 * and always chooses the same algorithms, so that sums have the same bits on every
 * run. */
enum { SCRATCH = 32 << 20 };

static fire_status_t set_up(fire_cuda_work_queue_t *queue)
{
    FIRE_TRY(fire_cuda_alloc(SCRATCH, &queue->cublas_scratch.memory));
    queue->cublas_scratch.bytes = SCRATCH;
    FIRE_TRY(CUBLAS(cublas.Create_v2((cublasHandle_t *)&queue->cublas)));
    FIRE_TRY(CUBLAS(cublas.SetStream_v2(queue->cublas, queue->stream)));
    return CUBLAS(
        cublas.SetWorkspace_v2(queue->cublas, queue->cublas_scratch.memory, SCRATCH));
}

/* All or nothing: a handle that is not tied to the queue would run concurrently to
 * it. */
static fire_status_t open_handle(fire_cuda_work_queue_t *queue)
{
    fire_status_t st;

    if (queue->cublas != NULL) return FIRE_OK;
    FIRE_TRY(fire_cuda_lib_open(&library));
    st = set_up(queue);
    if (st < 0) fire_cublas_close(queue);
    return st;
}

void fire_cublas_close(fire_cuda_work_queue_t *queue)
{
    if (queue->cublas != NULL) cublas.Destroy_v2(queue->cublas);
    fire_cuda_free(queue->cublas_scratch.memory);
    queue->cublas         = NULL;
    queue->cublas_scratch = (fire_cuda_scratch_t){0};
}

static cudaDataType type_of(fire_dtype_t t)
{
    return t == FIRE_F32 ? CUDA_R_32F : t == FIRE_BF16 ? CUDA_R_16BF : CUDA_R_16F;
}

/* cuBLAS stores matrices by columns, so our C is its C': it computes C' = op(B)'
 * op(A)'. */
fire_status_t fire_cuda_gemm_run(fire_stream_t *s, const fire_cuda_gemm_t *g,
                                 const void *a, const void *b, void *c)
{
    cublasOperation_t   op_a = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t   op_b = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    int                 lda  = (int)(g->transpose_a ? g->m : g->k);
    int                 ldb  = (int)(g->transpose_b ? g->k : g->n);
    cudaDataType        type = type_of(g->type), c_type = type_of(g->c_type);
    cublasComputeType_t compute =
        g->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;

    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->batch > INT_MAX)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "a matrix product is larger than %d along one axis", INT_MAX);
    FIRE_TRY(open_handle(&s->main));
    if (g->batch > 1)
        return CUBLAS(cublas.GemmStridedBatchedEx(
            s->main.cublas, op_b, op_a, (int)g->n, (int)g->m, (int)g->k, &g->alpha, b,
            type, ldb, g->b_step, a, type, lda, g->a_step, &g->beta, c, c_type,
            (int)g->n, g->c_step, (int)g->batch, compute, CUBLAS_GEMM_DEFAULT));
    return CUBLAS(cublas.GemmEx(s->main.cublas, op_b, op_a, (int)g->n, (int)g->m,
                                (int)g->k, &g->alpha, b, type, ldb, a, type, lda,
                                &g->beta, c, c_type, (int)g->n, compute,
                                CUBLAS_GEMM_DEFAULT));
}
