/* account.c - counts the device memory that this process holds. CUDA only reports what
 * is free on the GPU, which other processes change too. */
#include <pthread.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"

enum { MOST_GPUS = 64 };

/* One allocation. */
typedef struct piece {
    void  *ptr;
    size_t bytes;
    int    gpu; /* index of the GPU */
} piece_t;

/* Global, as device memory belongs to the process; all of it is guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static piece_t        *piece;
static int64_t         npiece, cap;
static size_t          now[MOST_GPUS], peak[MOST_GPUS];

/* Called with the lock held. */
static fire_status_t note(void *ptr, size_t bytes)
{
    int gpu = 0;

    FIRE_TRY(FIRE_CUDA(cudaGetDevice(&gpu)));
    gpu %= MOST_GPUS;
    FIRE_TRY(fire_grow(&piece, &cap, npiece + 1, sizeof(*piece)));
    piece[npiece++] = (piece_t){ptr, bytes, gpu};
    now[gpu] += bytes;
    if (now[gpu] > peak[gpu]) peak[gpu] = now[gpu];
    return FIRE_OK;
}

fire_status_t fire_cuda_alloc(size_t bytes, void **ptr_p)
{
    void         *ptr;
    fire_status_t st;

    FIRE_TRY(FIRE_CUDA(cudaMalloc(&ptr, bytes)));
    pthread_mutex_lock(&lock);
    st = note(ptr, bytes);
    pthread_mutex_unlock(&lock);
    if (st < 0)
        cudaFree(ptr);
    else
        *ptr_p = ptr;
    return st;
}

/* Searches from the newest: that is mostly the one to be freed. */
void fire_cuda_free(void *ptr)
{
    if (ptr == NULL) return;
    pthread_mutex_lock(&lock);
    for (int64_t i = npiece - 1; i >= 0; i--)
        if (piece[i].ptr == ptr) {
            now[piece[i].gpu] -= piece[i].bytes;
            piece[i] = piece[--npiece];
            break;
        }
    if (npiece == 0) {
        fire_free(piece);
        piece = NULL;
        cap   = 0;
    }
    pthread_mutex_unlock(&lock);
    cudaFree(ptr);
}

void fire_cuda_count_bytes(int64_t bytes)
{
    int gpu = 0;

    cudaGetDevice(&gpu);
    gpu %= MOST_GPUS;
    pthread_mutex_lock(&lock);
    now[gpu] += (size_t)bytes;
    if (now[gpu] > peak[gpu]) peak[gpu] = now[gpu];
    pthread_mutex_unlock(&lock);
}

static size_t scratch_of(const fire_cuda_work_queue_t *queue)
{
    return queue->workspace.bytes + queue->scratch.bytes + queue->cublas_scratch.bytes;
}

fire_gpu_usage_t fire_gpu_usage(const fire_stream_t *s)
{
    int              gpu = s->device % MOST_GPUS;
    size_t           left;
    fire_gpu_usage_t u = {0};

    if (cudaMemGetInfo(&left, &u.all) != cudaSuccess) u.all = 0;
    pthread_mutex_lock(&lock);
    u.now  = now[gpu];
    u.peak = peak[gpu];
    pthread_mutex_unlock(&lock);
    u.workspace = scratch_of(&s->main) + scratch_of(&s->side) + s->squares.bytes;
    return u;
}
