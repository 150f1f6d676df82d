/* nccl.c - NCCL for ranks that are threads of one process. The library that is tested
 * opens it by its name, as it opens the real one. */
#include "nccl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
    int               ranks, left;
    pthread_barrier_t barrier;
    float           **data;
} group_t;

struct emulated_comm {
    group_t *group;
    int      rank;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static group_t        *made[64];
static int             nmade;

/* Fails where a test asks for it, as for want of a network. */
ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    if (getenv("EMULATOR_NO_NETWORK") != NULL) return ncclSystemError;
    pthread_mutex_lock(&lock);
    memcpy(id->internal, &nmade, sizeof(nmade));
    made[nmade++ % 64] = NULL;
    pthread_mutex_unlock(&lock);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    int       which;
    group_t **g;

    memcpy(&which, id.internal, sizeof(which));
    *comm = calloc(1, sizeof(**comm));
    pthread_mutex_lock(&lock);
    g = &made[which % 64];
    if (*g == NULL) {
        *g          = calloc(1, sizeof(**g));
        (*g)->ranks = (*g)->left = ranks;
        (*g)->data               = calloc((size_t)ranks, sizeof(float *));
        pthread_barrier_init(&(*g)->barrier, NULL, (unsigned)ranks);
    }
    (*comm)->group = *g;
    (*comm)->rank  = rank;
    pthread_mutex_unlock(&lock);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    group_t *g = comm->group;

    pthread_mutex_lock(&lock);
    if (--g->left == 0) {
        pthread_barrier_destroy(&g->barrier);
        free(g->data);
        free(g);
    }
    pthread_mutex_unlock(&lock);
    free(comm);
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *src, void *dst, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream)
{
    group_t *g = comm->group;
    float   *sum;

    if (type != ncclFloat || op != ncclSum) return ncclInvalidArgument;
    sum                 = calloc(count + 1, sizeof(*sum));
    g->data[comm->rank] = malloc((count + 1) * sizeof(float));
    cudaMemcpyAsync(g->data[comm->rank], src, count * sizeof(float),
                    cudaMemcpyDeviceToHost, stream);
    pthread_barrier_wait(&g->barrier);
    for (int r = 0; r < g->ranks; r++)
        for (size_t i = 0; i < count; i++)
            sum[i] += g->data[r][i];
    cudaMemcpyAsync(dst, sum, count * sizeof(float), cudaMemcpyHostToDevice, stream);
    pthread_barrier_wait(&g->barrier);
    free(g->data[comm->rank]);
    free(sum);
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t rc)
{
    return rc == ncclSuccess       ? "no error"
           : rc == ncclSystemError ? "unhandled system error"
                                   : "invalid argument";
}
