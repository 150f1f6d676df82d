/* comm.h (internal) - what the layers above use beyond the public calls of
 * <fire/comm.h>: open a communicator over a transport, collectives that are made once
 * and run many times.
 *
 *   fire_comm_open_threads() or fire_comm_open_cluster()   once per rank
 *       fire_collective_create()                           once per bucket of gradients
 *           fire_collective_start(), then test() or advance() until FIRE_OK
 *       fire_collective_destroy()
 *   fire_comm_close()
 *
 * One thread at a time uses a communicator and what was made from it; only
 * fire_comm_poll() may run in a second thread. All ranks create and start collectives
 * in the same order with the same options: nothing else matches their messages. */
#ifndef FIRE_COMM_COMM_H
#define FIRE_COMM_COMM_H
#include <fire/comm.h>
#include "base/clock.h"
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"
#include "comm/transport/cluster.h"
#include "comm/transport/threads.h"

typedef struct fire_collective fire_collective_t;

typedef struct fire_comm_options {
    double      timeout;        /* seconds without progress before a wait fails */
    int         ranks_per_node; /* 0: ask the transport; else assume so many per node */
    bool        onesided;       /* open_cluster: one-sided MPI instead of messages */
    const char *tuning;         /* path of a tuning table for "auto", or NULL */
} fire_comm_options_t;

#define FIRE_COMM_OPTIONS_INIT ((fire_comm_options_t){.timeout = 60})

/* All ranks call it. Owns the transport from here on, even if it fails. */
fire_status_t fire_comm_open(fire_transport_t *tp, const fire_comm_options_t *options,
                             fire_comm_t **comm_p);
fire_status_t fire_comm_open_threads(fire_team_t *team, int rank,
                                     const fire_comm_options_t *options,
                                     fire_comm_t              **comm_p);
/* All processes of an MPI job; FIRE_ERR_UNSUPPORTED if built without MPI. */
fire_status_t fire_comm_open_cluster(const fire_comm_options_t *options,
                                     fire_comm_t              **comm_p);
/* The only rank, without a transport of others. */
fire_status_t fire_comm_open_alone(const fire_comm_options_t *options,
                                   fire_comm_t              **comm_p);

/* What fire_comm_threads() tells: chosen by who opens communicators for workers
 * (launch/). */
void fire_comm_set_threads(fire_comm_t *c, int threads);

int         fire_comm_node(const fire_comm_t *c, int rank); /* numbered from 0 */
const char *fire_comm_transport(const fire_comm_t *c);      /* threads, p2p, rma */

/* Zeroed memory that the other ranks of the node can access, so that collectives on it
 * need no copies. All ranks call it with the same number of bytes in the same order. */
fire_status_t fire_comm_alloc(fire_comm_t *c, size_t bytes, void **memory_p);
void          fire_comm_free(fire_comm_t *c, void *memory);

/* ---- collectives over float32 arrays, in place ---- */

/* All ranks give the same values, except for `residual`. */
typedef struct fire_collective_options {
    fire_coll_op_t op;
    const char    *algo;      /* a name of algos.def, or "auto" */
    const char    *outer;     /* hier: algorithm between nodes; NULL: rhd */
    bool           canonical; /* refuse sums that depend on the number of ranks */
    int            root;      /* of REDUCE and BROADCAST */
    int            colors;    /* of multicolor; 0: 4 */
    size_t         piece;     /* bytes of the longest message; 0: chosen */
    size_t         grain;     /* elements; parts begin at multiples; 0: chosen */
    const char    *compress;  /* NULL, "none" or a codec (codec.h) */
    float         *residual;  /* [count] error feedback of quantized sums, or NULL */
    /* Ranks hold uneven runs of lanes (sched.h): [size + 1] their first lanes; buf and
     * the other arrays of a rank are `stride` floats apart. NULL: one array each. */
    const int *lane;
    size_t     stride;
} fire_collective_options_t;

fire_status_t fire_collective_create(fire_comm_t                     *c,
                                     const fire_collective_options_t *options,
                                     float *buf, size_t count,
                                     fire_collective_t **collective_p);
void          fire_collective_destroy(fire_collective_t *x);

/* Begin a run. buf belongs to the collective until test(), advance() or wait() returns
 * something else than FIRE_IN_PROGRESS. */
fire_status_t fire_collective_start(fire_collective_t *x);
/* Poll the transport and work on what has arrived. Never blocks. */
fire_status_t fire_collective_test(fire_collective_t *x);
/* test() without polling: with many collectives under way, call fire_comm_poll() once,
 * then this for each. */
fire_status_t fire_collective_advance(fire_collective_t *x);
fire_status_t fire_collective_wait(fire_collective_t *x);
/* Did the last test() or advance() change anything? If not, a polling loop may
 * pause. */
bool fire_collective_moved(const fire_collective_t *x);

/* REDUCE_SCATTER, ALLGATHER: the span that this rank ends with, or gives. */
fire_span_t fire_collective_own(const fire_collective_t *x);
/* What was chosen: the algorithm, and the longest message in bytes. */
const fire_algo_t *fire_collective_algo(const fire_collective_t *x);
size_t             fire_collective_piece(const fire_collective_t *x);
/* Bytes that this rank has sent, in all runs so far. */
int64_t fire_collective_bytes(const fire_collective_t *x);

/* ---- blocking calls for few bytes; every rank calls them ---- */

/* Gather `bytes` bytes of every rank, in rank order, into all[size * bytes]. */
fire_status_t fire_comm_allgather(fire_comm_t *c, const void *mine, size_t bytes,
                                  void *all);

/* Answer the other ranks' "are you alive?" and move messages. Call it several times a
 * second during long computations, or peers that wait report a timeout. FIRE_ERR_PEER
 * if another rank has failed. A second thread may call it while no collective is under
 * way; during a blocking call it returns at once. */
fire_status_t fire_comm_poll(fire_comm_t *c);

/* Call it after a poll that changed nothing. Pauses for a moment, or, where the
 * transport has a blocking wait, until something arrives. */
fire_status_t fire_comm_idle(fire_comm_t *c, fire_pause_t *pause);
#endif
