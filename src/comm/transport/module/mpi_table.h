/* mpi_table.h - MPI as libfire calls it: a table of functions, filled in by a module that
 * is opened when a job has several processes (load_mpi.h).
 *
 *   libfire --opens--> fire_mpi_openmpi.so --calls--> libmpi.so.40    Open MPI
 *              or      fire_mpi_mpich.so   --calls--> libmpich.so.12  MPICH and its kin
 *
 * What mpi.h declares differs between the two: a communicator is a pointer in one and a
 * number in the other. So only the module includes mpi.h, and is compiled once for each.
 * It knows nothing of libfire, allocates nothing and has no state.
 *
 * A function does what the MPI function of its name does ("comm_dup": MPI_Comm_dup) and
 * returns that one's error code, 0 for success. Counts are bytes unless a type is
 * named. */
#ifndef FIRE_COMM_MPI_TABLE_H
#define FIRE_COMM_MPI_TABLE_H
#include <stddef.h>
#include <stdint.h>

/* Raised when the table changes: a module of another version is refused. */
#define FIRE_MPI_VERSION 1

/* The name of the table that a module exports, a fire_mpi_t. */
#define FIRE_MPI_TABLE "fire_mpi_table"

/* MPI_Comm and MPI_Win, whatever they are. NULL: none. */
typedef struct fire_mpi_comm *fire_mpi_comm_t;
typedef struct fire_mpi_win  *fire_mpi_win_t;

/* Arrays of MPI_Request and MPI_Status are memory of the caller, of request_size and
 * status_size bytes per element; functions take the array and an index. */
typedef void fire_mpi_requests_t;
typedef void fire_mpi_statuses_t;

enum { FIRE_MPI_ANY_SOURCE = -1 };

/* What allreduce adds up or compares. */
typedef enum fire_mpi_sum { FIRE_MPI_SUM_FLOAT, FIRE_MPI_MIN_INT } fire_mpi_sum_t;

/* What several threads of a process may do. */
typedef enum fire_mpi_threads {
    FIRE_MPI_SERIALIZED, /* call MPI, one at a time */
    FIRE_MPI_MULTIPLE    /* call MPI at the same time */
} fire_mpi_threads_t;

typedef struct fire_mpi {
    uint32_t version; /* FIRE_MPI_VERSION; the only member that may be read first */
    const char
          *made_for; /* "Open MPI 4.1.4": whose mpi.h the module was compiled with */
    size_t request_size, status_size;

    int (*initialized)(int *flag_p);
    int (*finalized)(int *flag_p);
    int (*init_thread)(fire_mpi_threads_t threads);
    int (*finalize)(void);
    /* The text of an error code, cut to `size`. */
    void (*error_string)(int code, char *text, size_t size);

    /* Communicators. Those made here return errors instead of ending the process. */
    fire_mpi_comm_t (*comm_world)(void);
    int (*comm_dup)(fire_mpi_comm_t comm, fire_mpi_comm_t *new_p);
    int (*comm_split_type)(fire_mpi_comm_t comm, fire_mpi_comm_t *node_p); /* SHARED */
    int (*comm_free)(fire_mpi_comm_t *comm);
    int (*comm_rank)(fire_mpi_comm_t comm, int *rank_p);
    int (*comm_size)(fire_mpi_comm_t comm, int *size_p);
    int (*comm_get_attr)(fire_mpi_comm_t comm, int *max_tag_p); /* TAG_UB; -1: none */

    /* Collectives: bcast from rank 0, allreduce in place. */
    int (*bcast)(fire_mpi_comm_t comm, int *value);
    int (*allgather)(fire_mpi_comm_t comm, int mine, int *all);
    int (*allreduce)(fire_mpi_comm_t comm, fire_mpi_sum_t what, void *data, int n);
    int (*iallreduce)(fire_mpi_comm_t comm, fire_mpi_sum_t what, void *data, int n,
                      fire_mpi_requests_t *requests, int i);

    /* Messages. */
    int (*send)(fire_mpi_comm_t comm, int peer, int tag, const void *data, int len);
    int (*isend)(fire_mpi_comm_t comm, int peer, int tag, const void *data, int len,
                 fire_mpi_requests_t *requests, int i);
    /* Starts a send whose end nobody asks for; data must stay until MPI ends. */
    int (*isend_and_free)(fire_mpi_comm_t comm, int peer, int tag, const void *data,
                          int len);
    int (*irecv)(fire_mpi_comm_t comm, int peer, int tag, void *data, int len,
                 fire_mpi_requests_t *requests, int i);

    /* Requests [0, n). testsome and waitany write the numbers of finished requests to
     * finished[] and what is known about finished[k] to statuses[k]. */
    void (*request_clear)(fire_mpi_requests_t *requests, int first, int n);
    int (*request_is_clear)(const fire_mpi_requests_t *requests, int i);
    int (*request_free)(fire_mpi_requests_t *requests, int i);
    int (*cancel)(fire_mpi_requests_t *requests, int i);
    int (*wait)(fire_mpi_requests_t *requests, int i);
    int (*testsome)(fire_mpi_requests_t *requests, int n, int *nfinished_p,
                    int *finished, fire_mpi_statuses_t *statuses);
    int (*waitany)(fire_mpi_requests_t *requests, int n, int *finished,
                   fire_mpi_statuses_t *statuses);
    /* Of a finished receive: who sent, and how many bytes. */
    int (*get_count)(const fire_mpi_statuses_t *statuses, int k, int *source_p,
                     int *bytes_p);

    /* Windows of bytes. `shared`: the node's processes may access them as memory; each
     * has a part of its own pages. What put and accumulate send must stay until
     * win_flush. */
    int (*win_allocate)(fire_mpi_comm_t comm, size_t bytes, char **memory_p,
                        fire_mpi_win_t *win_p);
    int (*win_allocate_shared)(fire_mpi_comm_t node, size_t bytes, char **memory_p,
                               fire_mpi_win_t *win_p);
    int (*win_shared_query)(fire_mpi_win_t win, int rank, char **memory_p);
    int (*win_lock_all)(fire_mpi_win_t win, int nocheck);
    int (*win_unlock_all)(fire_mpi_win_t win);
    int (*win_free)(fire_mpi_win_t *win);
    int (*win_sync)(fire_mpi_win_t win);
    int (*win_flush)(fire_mpi_win_t win, int peer);
    int (*put)(fire_mpi_win_t win, int peer, size_t offset, const void *data, int len);
    /* Replace one word at the peer, atomically. */
    int (*accumulate)(fire_mpi_win_t win, int peer, size_t offset,
                      const uint64_t *word);
} fire_mpi_t;

/* Of a module; linked with it only in SimGrid. */
extern const fire_mpi_t fire_mpi_table;
#endif
