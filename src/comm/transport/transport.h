/* transport.h - how bytes move. An algorithm never sees MPI or shared memory; a
 * transport never sees a gradient. One thread at a time uses a transport. */
#ifndef FIRE_COMM_TRANSPORT_H
#define FIRE_COMM_TRANSPORT_H
#include "base/error.h"

typedef struct fire_transport fire_transport_t;
typedef int fire_req_t; /* slot number; the transport owns what is in it */

/* What a finished receive brought. */
typedef struct fire_arrival {
    void  *data; /* the receive's buffer, or the sender's memory if it is lent */
    size_t len;
} fire_arrival_t;

typedef struct fire_transport_ops {
    const char *name;
    void (*close)(fire_transport_t *tp);

    /* Make room for that many more requests at once (negative: fewer). Nothing
     * below allocates memory. */
    fire_status_t (*reserve)(fire_transport_t *tp, int more);

    /* Can the peer work in this memory of ours, and we in its counterpart? Both
     * sides get the same answer. Such a message is lent: its bytes stay where they
     * are until the receiver lets go. */
    bool (*reaches)(fire_transport_t *tp, int peer, const void *memory);

    /* Post a message. Messages between two ranks under one tag arrive in posting
     * order. `memory` belongs to the transport until the request is released.
     * To receive what is lent, pass NULL. */
    fire_status_t (*send)(fire_transport_t *tp, int peer, int tag, void *memory,
                          size_t len, bool lent, fire_req_t *req_p);
    fire_status_t (*recv)(fire_transport_t *tp, int peer, int tag, void *memory,
                          size_t len, fire_req_t *req_p);

    /* (optional) The whole sum in place, by the library underneath. */
    fire_status_t (*allreduce)(fire_transport_t *tp, float *data, size_t n,
                               fire_req_t *req_p);

    /* (optional) The same, blocking: what benchmarks compare with. */
    fire_status_t (*allreduce_now)(fire_transport_t *tp, float *data, size_t n);

    /* Move everything a little. Never blocks. FIRE_ERR_PEER if a rank called
     * fail(). */
    fire_status_t (*poll)(fire_transport_t *tp);
    /* (optional) Like poll(), but may sleep until something happened. */
    fire_status_t (*wait)(fire_transport_t *tp);

    /* FIRE_OK once it is finished (and arrival_p, unless NULL, is set), else
     * FIRE_IN_PROGRESS. */
    fire_status_t (*test)(fire_transport_t *tp, fire_req_t req,
                          fire_arrival_t *arrival_p);
    /* Let go of a request: a finished one, or one that shall not finish. */
    void (*release)(fire_transport_t *tp, fire_req_t req);

    /* Has the peer polled during the last `within` seconds? Asks it, if that is not
     * known, so that a later call knows. */
    bool (*alive)(fire_transport_t *tp, int peer, double within);
    /* Tell all ranks, as far as they can be told, that this one gives up. */
    void (*fail)(fire_transport_t *tp, const char *cause);

    /* (optional) Memory for messages that come in, for fire_free(); else any will do. */
    fire_status_t (*inbox)(fire_transport_t *tp, size_t bytes, void **memory_p);

    /* Memory that peers can reach; all ranks call it with the same size. */
    fire_status_t (*alloc)(fire_transport_t *tp, size_t bytes, void **memory_p);
    void (*dealloc)(fire_transport_t *tp, void *memory);
} fire_transport_ops_t;

struct fire_transport {
    const fire_transport_ops_t *ops;
    int                         rank, size;
    int                         max_tag;
    int  window; /* messages of a channel worth having under way, 2 ... 8 */
    int *node;   /* rank -> node number */
};
#endif
