/* nccl.c - sums by NCCL (nccl.h), on a CUDA stream of their own:
 *
 *   worker's stream   --- backward ---+--- more backward ---+--- update ---
 *                              asked   \                   /   summed
 *   NCCL's stream                       +-- allreduce ----+                     */
#include <nccl.h>

#include <string.h>

#include "base/alloc.h"
#include "comm/transport/nccl.h"
#include "device/cuda/cuda.h"
#include "device/cuda/libs.h"

/* clang-format off */
#define CALLS(X)                                                 \
    X(GetUniqueId) X(CommInitRank) X(CommDestroy) X(AllReduce)   \
    X(GetErrorString)
/* clang-format on */

#define X(name) __typeof__(&nccl##name) name;
static struct {
    CALLS(X)
} nccl;
#undef X

#define X(name) {"nccl" #name, &nccl.name},
static const fire_cuda_call_t calls[] = {CALLS(X){0}};
#undef X
static fire_cuda_lib_t library = {.file = "libnccl.so.2", .call = calls};

struct fire_nccl {
    ncclComm_t     comm;
    fire_stream_t *stream; /* the worker's */
    cudaStream_t   queue;  /* NCCL's */
    cudaEvent_t    asked;  /* x is ready in the worker's stream */
    cudaEvent_t    summed; /* all sums so far are done */
};

#define TRY(call) FIRE_TRY(status_of((call), #call))

static fire_status_t status_of(ncclResult_t rc, const char *what)
{
    if (rc == ncclSuccess) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_DEVICE, "NCCL: %s: %s", what, nccl.GetErrorString(rc));
}

static int size_of(const fire_comm_t *comm)
{
    return comm != NULL ? fire_comm_size(comm) : 1;
}

static fire_status_t agree(fire_comm_t *comm, fire_status_t mine)
{
    return comm != NULL ? fire_comm_agree(comm, mine) : mine;
}

/* A rank's GPU. */
typedef struct seat {
    char bus[32]; /* PCI address, unique on its machine */
} seat_t;

/* NCCL refuses two ranks on one GPU with a message that does not tell why. */
static fire_status_t check_seats(fire_comm_t *comm, const seat_t *seat)
{
    for (int a = 0; a < size_of(comm); a++)
        for (int b = 0; b < a; b++)
            if (fire_comm_node(comm, a) == fire_comm_node(comm, b) &&
                strcmp(seat[a].bus, seat[b].bus) == 0)
                return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                                 "workers %d and %d share a GPU, which NCCL cannot do: "
                                 "take another --comm",
                                 b, a);
    return FIRE_OK;
}

static fire_status_t compare_seats(fire_comm_t *comm, const seat_t *mine)
{
    seat_t       *all;
    fire_status_t st;

    if (size_of(comm) == 1) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&all, size_of(comm)));
    st = fire_comm_allgather(comm, mine, sizeof(*mine), all);
    if (st >= 0) st = check_seats(comm, all);
    fire_free(all);
    return st;
}

static fire_status_t find_seat(const fire_nccl_t *n, seat_t *seat)
{
    FIRE_TRY(fire_cuda_lib_open(&library));
    return FIRE_CUDA(
        cudaDeviceGetPCIBusId(seat->bus, (int)sizeof(seat->bus), n->stream->device));
}

/* Rank 0 makes the id with which all ranks join one NCCL communicator. */
static fire_status_t make_queue(fire_nccl_t *n, int rank, ncclUniqueId *id)
{
    FIRE_TRY(FIRE_CUDA(cudaStreamCreateWithFlags(&n->queue, cudaStreamNonBlocking)));
    FIRE_TRY(FIRE_CUDA(cudaEventCreateWithFlags(&n->asked, cudaEventDisableTiming)));
    FIRE_TRY(FIRE_CUDA(cudaEventCreateWithFlags(&n->summed, cudaEventDisableTiming)));
    if (rank == 0) TRY(nccl.GetUniqueId(id));
    return FIRE_OK;
}

static fire_status_t join_ranks(fire_nccl_t *n, fire_comm_t *comm, int rank,
                                ncclUniqueId id)
{
    if (comm != NULL) FIRE_TRY(fire_comm_broadcast(comm, 0, &id, sizeof(id)));
    FIRE_TRY(FIRE_CUDA(cudaSetDevice(n->stream->device)));
    TRY(nccl.CommInitRank(&n->comm, size_of(comm), id, rank));
    return FIRE_OK;
}

/* After each step the ranks agree whether all of them succeeded: if one failed alone,
 * the others would wait for it in the next step. */
fire_status_t fire_nccl_open(fire_comm_t *comm, fire_stream_t *stream,
                             fire_nccl_t **nccl_p)
{
    int           rank = comm != NULL ? fire_comm_rank(comm) : 0;
    seat_t        seat = {0};
    ncclUniqueId  id   = {{0}};
    fire_nccl_t  *n;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&n, 1));
    n->stream = stream;
    FIRE_TRY_GOTO(st, agree(comm, find_seat(n, &seat)), err);
    FIRE_TRY_GOTO(st, compare_seats(comm, &seat), err);
    FIRE_TRY_GOTO(st, agree(comm, make_queue(n, rank, &id)), err);
    FIRE_TRY_GOTO(st, agree(comm, join_ranks(n, comm, rank, id)), err);
    *nccl_p = n;
    return FIRE_OK;

err:
    fire_nccl_close(n);
    return st;
}

void fire_nccl_close(fire_nccl_t *n)
{
    if (n == NULL) return;
    if (n->comm != NULL) nccl.CommDestroy(n->comm);
    if (n->asked != NULL) cudaEventDestroy(n->asked);
    if (n->summed != NULL) cudaEventDestroy(n->summed);
    if (n->queue != NULL) cudaStreamDestroy(n->queue);
    fire_free(n);
}

fire_status_t fire_nccl_sum(fire_nccl_t *n, float *x, int64_t count)
{
    FIRE_TRY(FIRE_CUDA(cudaEventRecord(n->asked, n->stream->main.stream)));
    FIRE_TRY(FIRE_CUDA(cudaStreamWaitEvent(n->queue, n->asked, 0)));
    TRY(nccl.AllReduce(x, x, (size_t)count, ncclFloat, ncclSum, n->comm, n->queue));
    return FIRE_OK;
}

fire_status_t fire_nccl_join(fire_nccl_t *n)
{
    FIRE_TRY(FIRE_CUDA(cudaEventRecord(n->summed, n->queue)));
    return FIRE_CUDA(cudaStreamWaitEvent(n->stream->main.stream, n->summed, 0));
}
