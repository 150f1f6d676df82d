/* transport.h - how bytes move between ranks. An algorithm never sees MPI or shared
 * memory; a transport never sees a gradient. One thread at a time uses a transport.
 *
 *   send() or recv()  -->  poll() until test() is FIRE_OK  -->  release()
 *
 * A transport is a struct whose first member is fire_transport_t, with a table of
 * operations: threads.c, p2p_mpi.c (two-sided), rma_mpi.c (one-sided). */
#ifndef FIRE_COMM_TRANSPORT_H
#define FIRE_COMM_TRANSPORT_H
#include "base/error.h"

typedef struct fire_transport fire_transport_t;
typedef int fire_req_t; /* a posted message: its slot number in the transport */

/* The result of a finished receive. */
typedef struct fire_arrival {
    void  *data; /* the receive's buffer; zero-copy: the sender's memory */
    size_t len;  /* bytes that the peer sent */
} fire_arrival_t;

typedef struct fire_transport_ops {
    const char *name;
    void (*close)(fire_transport_t *tp);

    /* Make room for `more` more requests at a time (negative: fewer). The operations
     * below allocate no memory for them. */
    fire_status_t (*reserve)(fire_transport_t *tp, int more);

    /* Can the peer access this memory of ours, and we the same memory of the peer? Both
     * ranks get the same answer. If so, messages may be zero-copy (`lent`): the
     * receiver works in the sender's memory, which is free again when it calls
     * release(). */
    bool (*reaches)(fire_transport_t *tp, int peer, const void *memory);

    /* Post a message of `len` bytes. Messages between two ranks under one tag arrive in
     * the order in which they are posted. `memory` belongs to the transport until the
     * request is released. To receive a zero-copy message, pass memory NULL. */
    fire_status_t (*send)(fire_transport_t *tp, int peer, int tag, void *memory,
                          size_t len, bool lent, fire_req_t *req_p);
    fire_status_t (*recv)(fire_transport_t *tp, int peer, int tag, void *memory,
                          size_t len, fire_req_t *req_p);

    /* (optional) Sum data[n] over all ranks in place, by the library's own call. */
    fire_status_t (*allreduce)(fire_transport_t *tp, float *data, size_t n,
                               fire_req_t *req_p);

    /* (optional) The same, blocking; benchmarks compare with it. */
    fire_status_t (*allreduce_now)(fire_transport_t *tp, float *data, size_t n);

    /* Make progress on all messages. Never blocks. FIRE_ERR_PEER if another rank has
     * called fail(). */
    fire_status_t (*poll)(fire_transport_t *tp);
    /* (optional) Like poll(), but may block until something has happened. */
    fire_status_t (*wait)(fire_transport_t *tp);

    /* FIRE_OK if the message is finished, else FIRE_IN_PROGRESS. Sets *arrival_p of a
     * finished one, unless NULL. Does not poll. */
    fire_status_t (*test)(fire_transport_t *tp, fire_req_t req,
                          fire_arrival_t *arrival_p);
    /* Free a request. One that is not finished is given up; the transport may then be
     * unable to do more than report failures. */
    void (*release)(fire_transport_t *tp, fire_req_t req);

    /* Has the peer polled in the last `within` seconds? If that is not known, asks the
     * peer, so that a later call knows. */
    bool (*alive)(fire_transport_t *tp, int peer, double within);
    /* Tell all ranks that still answer that this one stops, and why: their poll() then
     * fails with FIRE_ERR_PEER. */
    void (*fail)(fire_transport_t *tp, const char *cause);

    /* (optional) Memory for received messages; the caller frees it with fire_free().
     * NULL: any memory will do. */
    fire_status_t (*inbox)(fire_transport_t *tp, size_t bytes, void **memory_p);

    /* Memory that peers of the same node can access; all ranks call it in the same
     * order with the same size. */
    fire_status_t (*alloc)(fire_transport_t *tp, size_t bytes, void **memory_p);
    void (*dealloc)(fire_transport_t *tp, void *memory);
} fire_transport_ops_t;

struct fire_transport {
    const fire_transport_ops_t *ops;
    int                         rank, size;
    int                         max_tag; /* tags are 0 ... max_tag */
    int  window; /* useful messages in flight per channel, 2 ... 8 */
    int *node;   /* [size] rank -> node number */
};
#endif
