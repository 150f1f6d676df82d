/* module.c - the table of mpi_table.h for the MPI library whose mpi.h this is compiled
 * with. Becomes fire_mpi_openmpi.so and fire_mpi_mpich.so (cmake/mpi.cmake), which name
 * no MPI library themselves: libfire opens that first, so that one file fits all
 * libraries with the same ABI. */
#include <mpi.h>

#include <stdio.h>

#include "comm/transport/module/mpi_table.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#if defined(OMPI_MAJOR_VERSION)
#    define MADE_FOR                                                                \
        "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT( \
            OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
#    define MADE_FOR "MPICH " MPICH_VERSION
#else
#    define MADE_FOR "MPI " TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION)
#endif

/* ---- handles ---- */

/* A handle is a pointer or an int; no valid one is 0. */
static MPI_Comm comm_of(fire_mpi_comm_t comm)
{
    return (MPI_Comm)(intptr_t)comm;
}

static MPI_Win win_of(fire_mpi_win_t win)
{
    return (MPI_Win)(intptr_t)win;
}

static MPI_Request *request_of(const fire_mpi_requests_t *requests, int i)
{
    return (MPI_Request *)(uintptr_t)requests + i;
}

static int give_comm(int code, MPI_Comm comm, fire_mpi_comm_t *comm_p)
{
    if (code != MPI_SUCCESS) return code;
    *comm_p = (fire_mpi_comm_t)(intptr_t)comm;
    return MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static int give_win(int code, MPI_Win win, fire_mpi_win_t *win_p)
{
    if (code == MPI_SUCCESS) *win_p = (fire_mpi_win_t)(intptr_t)win;
    return code;
}

/* ---- start and end ---- */

static int initialized(int *flag_p)
{
    return MPI_Initialized(flag_p);
}

static int finalized(int *flag_p)
{
    return MPI_Finalized(flag_p);
}

static int init_thread(fire_mpi_threads_t threads)
{
    int level;

    return MPI_Init_thread(NULL, NULL,
                           threads == FIRE_MPI_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                        : MPI_THREAD_SERIALIZED,
                           &level);
}

static int finalize(void)
{
    return MPI_Finalize();
}

static void error_string(int code, char *text, size_t size)
{
    char all[MPI_MAX_ERROR_STRING + 1] = "";
    int  n;

    MPI_Error_string(code, all, &n);
    snprintf(text, size, "%s", all);
}

/* ---- communicators ---- */

static fire_mpi_comm_t comm_world(void)
{
    return (fire_mpi_comm_t)(intptr_t)MPI_COMM_WORLD;
}

static int comm_dup(fire_mpi_comm_t comm, fire_mpi_comm_t *new_p)
{
    MPI_Comm made;
    int      code = MPI_Comm_dup(comm_of(comm), &made);

    return give_comm(code, made, new_p);
}

static int comm_split_type(fire_mpi_comm_t comm, fire_mpi_comm_t *node_p)
{
    MPI_Comm made;
    int      code = MPI_Comm_split_type(comm_of(comm), MPI_COMM_TYPE_SHARED, 0,
                                        MPI_INFO_NULL, &made);

    return give_comm(code, made, node_p);
}

static int comm_free(fire_mpi_comm_t *comm)
{
    MPI_Comm gone = comm_of(*comm);

    *comm = NULL;
    return MPI_Comm_free(&gone);
}

static int comm_rank(fire_mpi_comm_t comm, int *rank_p)
{
    return MPI_Comm_rank(comm_of(comm), rank_p);
}

static int comm_size(fire_mpi_comm_t comm, int *size_p)
{
    return MPI_Comm_size(comm_of(comm), size_p);
}

static int comm_get_attr(fire_mpi_comm_t comm, int *max_tag_p)
{
    int *most, found = 0, code;

    code       = MPI_Comm_get_attr(comm_of(comm), MPI_TAG_UB, &most, &found);
    *max_tag_p = code == MPI_SUCCESS && found ? *most : -1;
    return code;
}

/* ---- collectives ---- */

static int bcast(fire_mpi_comm_t comm, int *value)
{
    return MPI_Bcast(value, 1, MPI_INT, 0, comm_of(comm));
}

static int allgather(fire_mpi_comm_t comm, int mine, int *all)
{
    return MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm_of(comm));
}

static int allreduce(fire_mpi_comm_t comm, fire_mpi_sum_t what, void *data, int n)
{
    if (what == FIRE_MPI_MIN_INT)
        return MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_MIN, comm_of(comm));
    return MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, comm_of(comm));
}

static int iallreduce(fire_mpi_comm_t comm, fire_mpi_sum_t what, void *data, int n,
                      fire_mpi_requests_t *requests, int i)
{
    MPI_Request *request = request_of(requests, i);

    if (what == FIRE_MPI_MIN_INT)
        return MPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_MIN, comm_of(comm),
                              request);
    return MPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, comm_of(comm),
                          request);
}

/* ---- messages ---- */

static int send_now(fire_mpi_comm_t comm, int peer, int tag, const void *data, int len)
{
    return MPI_Send(data, len, MPI_BYTE, peer, tag, comm_of(comm));
}

static int isend(fire_mpi_comm_t comm, int peer, int tag, const void *data, int len,
                 fire_mpi_requests_t *requests, int i)
{
    return MPI_Isend(data, len, MPI_BYTE, peer, tag, comm_of(comm),
                     request_of(requests, i));
}

static int isend_and_free(fire_mpi_comm_t comm, int peer, int tag, const void *data,
                          int len)
{
    MPI_Request request;
    int         code;

    code = MPI_Isend(data, len, MPI_BYTE, peer, tag, comm_of(comm), &request);
    return code == MPI_SUCCESS ? MPI_Request_free(&request) : code;
}

static int irecv(fire_mpi_comm_t comm, int peer, int tag, void *data, int len,
                 fire_mpi_requests_t *requests, int i)
{
    return MPI_Irecv(data, len, MPI_BYTE,
                     peer == FIRE_MPI_ANY_SOURCE ? MPI_ANY_SOURCE : peer, tag,
                     comm_of(comm), request_of(requests, i));
}

/* ---- requests ---- */

static void request_clear(fire_mpi_requests_t *requests, int first, int n)
{
    for (int i = first; i < first + n; i++)
        *request_of(requests, i) = MPI_REQUEST_NULL;
}

static int request_is_clear(const fire_mpi_requests_t *requests, int i)
{
    return *request_of(requests, i) == MPI_REQUEST_NULL;
}

static int request_free(fire_mpi_requests_t *requests, int i)
{
    return MPI_Request_free(request_of(requests, i));
}

static int cancel(fire_mpi_requests_t *requests, int i)
{
    return MPI_Cancel(request_of(requests, i));
}

static int wait_for(fire_mpi_requests_t *requests, int i)
{
    return MPI_Wait(request_of(requests, i), MPI_STATUS_IGNORE);
}

static int testsome(fire_mpi_requests_t *requests, int n, int *nfinished_p,
                    int *finished, fire_mpi_statuses_t *statuses)
{
    return MPI_Testsome(n, requests, nfinished_p, finished, statuses);
}

static int waitany(fire_mpi_requests_t *requests, int n, int *finished,
                   fire_mpi_statuses_t *statuses)
{
    return MPI_Waitany(n, requests, finished, statuses);
}

static int get_count(const fire_mpi_statuses_t *statuses, int k, int *source_p,
                     int *bytes_p)
{
    const MPI_Status *status = (const MPI_Status *)statuses + k;

    *source_p = status->MPI_SOURCE;
    return MPI_Get_count(status, MPI_BYTE, bytes_p);
}

/* ---- windows ---- */

static int win_allocate(fire_mpi_comm_t comm, size_t bytes, char **memory_p,
                        fire_mpi_win_t *win_p)
{
    MPI_Win made;
    int     code = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, comm_of(comm),
                                    memory_p, &made);

    return give_win(code, made, win_p);
}

static int win_allocate_shared(fire_mpi_comm_t node, size_t bytes, char **memory_p,
                               fire_mpi_win_t *win_p)
{
    MPI_Info info;
    MPI_Win  made;
    int      code = MPI_Info_create(&info);

    if (code != MPI_SUCCESS) return code;
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    code = MPI_Win_allocate_shared((MPI_Aint)bytes, 1, info, comm_of(node), memory_p,
                                   &made);
    MPI_Info_free(&info);
    return give_win(code, made, win_p);
}

static int win_shared_query(fire_mpi_win_t win, int rank, char **memory_p)
{
    MPI_Aint bytes;
    int      unit;

    return MPI_Win_shared_query(win_of(win), rank, &bytes, &unit, memory_p);
}

static int win_lock_all(fire_mpi_win_t win, int nocheck)
{
    return MPI_Win_lock_all(nocheck ? MPI_MODE_NOCHECK : 0, win_of(win));
}

static int win_unlock_all(fire_mpi_win_t win)
{
    return MPI_Win_unlock_all(win_of(win));
}

static int win_free(fire_mpi_win_t *win)
{
    MPI_Win gone = win_of(*win);

    *win = NULL;
    return MPI_Win_free(&gone);
}

static int win_sync(fire_mpi_win_t win)
{
    return MPI_Win_sync(win_of(win));
}

static int win_flush(fire_mpi_win_t win, int peer)
{
    return MPI_Win_flush(peer, win_of(win));
}

static int put(fire_mpi_win_t win, int peer, size_t offset, const void *data, int len)
{
    return MPI_Put(data, len, MPI_BYTE, peer, (MPI_Aint)offset, len, MPI_BYTE,
                   win_of(win));
}

static int accumulate(fire_mpi_win_t win, int peer, size_t offset, const uint64_t *word)
{
    return MPI_Accumulate(word, 1, MPI_UINT64_T, peer, (MPI_Aint)offset, 1,
                          MPI_UINT64_T, MPI_REPLACE, win_of(win));
}

/* ---- the table ---- */

__attribute__((visibility("default"))) const fire_mpi_t fire_mpi_table = {
    .version             = FIRE_MPI_VERSION,
    .made_for            = MADE_FOR,
    .request_size        = sizeof(MPI_Request),
    .status_size         = sizeof(MPI_Status),
    .initialized         = initialized,
    .finalized           = finalized,
    .init_thread         = init_thread,
    .finalize            = finalize,
    .error_string        = error_string,
    .comm_world          = comm_world,
    .comm_dup            = comm_dup,
    .comm_split_type     = comm_split_type,
    .comm_free           = comm_free,
    .comm_rank           = comm_rank,
    .comm_size           = comm_size,
    .comm_get_attr       = comm_get_attr,
    .bcast               = bcast,
    .allgather           = allgather,
    .allreduce           = allreduce,
    .iallreduce          = iallreduce,
    .send                = send_now,
    .isend               = isend,
    .isend_and_free      = isend_and_free,
    .irecv               = irecv,
    .request_clear       = request_clear,
    .request_is_clear    = request_is_clear,
    .request_free        = request_free,
    .cancel              = cancel,
    .wait                = wait_for,
    .testsome            = testsome,
    .waitany             = waitany,
    .get_count           = get_count,
    .win_allocate        = win_allocate,
    .win_allocate_shared = win_allocate_shared,
    .win_shared_query    = win_shared_query,
    .win_lock_all        = win_lock_all,
    .win_unlock_all      = win_unlock_all,
    .win_free            = win_free,
    .win_sync            = win_sync,
    .win_flush           = win_flush,
    .put                 = put,
    .accumulate          = accumulate,
};
