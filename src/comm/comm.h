/* comm.h - what the layers above use: a communicator, collectives that are made
 * once and run many times, and the small exchanges around them.
 *
 * One thread at a time uses a communicator and what was made from it. All ranks
 * make, start and end collectives in the same order. */
#ifndef FIRE_COMM_H
#define FIRE_COMM_H
#include "base/clock.h"
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"
#include "comm/transport/cluster.h"
#include "comm/transport/threads.h"

typedef struct fire_comm       fire_comm_t;
typedef struct fire_collective fire_collective_t;

typedef struct fire_comm_options {
    double      timeout;        /* seconds without movement before a wait fails */
    int         ranks_per_node; /* 0: as it is; else pretend that they sit so */
    bool        onesided;       /* open_cluster: write and notify between ranks */
    const char *tuning;         /* path of a tuning table for `auto`, or NULL */
} fire_comm_options_t;

#define FIRE_COMM_OPTIONS_INIT ((fire_comm_options_t){.timeout = 60})

/* All ranks call it. Takes the transport over, also if it fails. */
fire_status_t fire_comm_open(fire_transport_t *tp, const fire_comm_options_t *options,
                             fire_comm_t **comm_p);
fire_status_t fire_comm_open_threads(fire_team_t *team, int rank,
                                     const fire_comm_options_t *options,
                                     fire_comm_t              **comm_p);
/* The processes of an MPI job; FIRE_ERR_UNSUPPORTED if built without MPI. */
fire_status_t fire_comm_open_cluster(const fire_comm_options_t *options,
                                     fire_comm_t              **comm_p);
void          fire_comm_close(fire_comm_t *c);

int         fire_comm_rank(const fire_comm_t *c);
int         fire_comm_size(const fire_comm_t *c);
int         fire_comm_node(const fire_comm_t *c, int rank); /* 0, 1, 2 ... */
const char *fire_comm_host(const fire_comm_t *c, int rank);
const char *fire_comm_transport(const fire_comm_t *c); /* threads, p2p, rma */

/* Zeroed memory that the other ranks of the node can reach: collectives on it are
 * faster. All ranks ask for the same number of bytes in the same order. */
fire_status_t fire_comm_alloc(fire_comm_t *c, size_t bytes, void **memory_p);
void          fire_comm_free(fire_comm_t *c, void *memory);

/* ---- collectives over float32 arrays, in place ---- */

typedef struct fire_collective_options {
    fire_coll_op_t op;
    const char    *algo;      /* a name of algos.def, or "auto" */
    const char    *outer;     /* hier: the algorithm between nodes; NULL: rhd */
    bool           canonical; /* only sums that no worker count can change */
    int            root;      /* REDUCE, BROADCAST */
    int            colors;    /* multicolor; 0: 4 */
    size_t         piece;     /* bytes of the longest message; 0: a good one */
    size_t         grain;     /* parts begin at multiples of it; 0: a good one */
    const char    *compress;  /* NULL, "none" or a codec (codec.h) */
    float         *residual;  /* count elements: what quantizing sums lost, or NULL */
} fire_collective_options_t;

fire_status_t fire_collective_create(fire_comm_t                     *c,
                                     const fire_collective_options_t *options,
                                     float *buf, size_t count,
                                     fire_collective_t **collective_p);
void          fire_collective_destroy(fire_collective_t *x);

fire_status_t fire_collective_start(fire_collective_t *x);
fire_status_t fire_collective_test(fire_collective_t *x); /* or FIRE_IN_PROGRESS */
/* The same after a fire_comm_poll(): who moves many needs only one of these. */
fire_status_t fire_collective_advance(fire_collective_t *x);
fire_status_t fire_collective_wait(fire_collective_t *x);
/* Did the last test() or advance() move anything? If not, a polling loop may pause. */
bool fire_collective_moved(const fire_collective_t *x);

fire_span_t        fire_collective_own(const fire_collective_t *x); /* this rank's */
const fire_algo_t *fire_collective_algo(const fire_collective_t *x);
size_t  fire_collective_piece(const fire_collective_t *x); /* longest message wanted */
int64_t fire_collective_bytes(const fire_collective_t *x); /* sent, all runs */

/* One allreduce, from start to end, with the named algorithm. */
fire_status_t fire_comm_allreduce(fire_comm_t *c, const char *algo, float *buf,
                                  size_t count);

/* ---- small exchanges; every rank calls them ---- */

/* Turn "one rank failed" into "every rank knows": pass one's own status; the lowest
 * rank that failed gets its own back, all others FIRE_ERR_PEER with its text, so that
 * what all ranks found is said once. Call it where ranks meet: after set-up, at the
 * end of an iteration. */
fire_status_t fire_comm_agree(fire_comm_t *c, fire_status_t mine);
fire_status_t fire_comm_barrier(fire_comm_t *c);
fire_status_t fire_comm_broadcast(fire_comm_t *c, int root, void *data, size_t bytes);
/* Every rank's `bytes` bytes, in rank order, into all[size * bytes]. */
fire_status_t fire_comm_allgather(fire_comm_t *c, const void *mine, size_t bytes,
                                  void *all);

/* Answer the other ranks while computing, so that they know this one lives; call it
 * now and then. FIRE_ERR_PEER if one of them gave up. Another thread than the one that
 * uses the communicator may call it while no collective is under way. */
fire_status_t fire_comm_poll(fire_comm_t *c);

/* Nothing moved: pause a little, or until something happens where the transport can
 * tell. */
fire_status_t fire_comm_idle(fire_comm_t *c, fire_pause_t *pause);

/* Tell the other ranks that this one gives up, with its last error: their waits
 * end with FIRE_ERR_PEER and that text instead of running into their deadline. */
void fire_comm_fail(fire_comm_t *c);
#endif
