/* edge_mpi.h - one-sided messages: write and notify, with credits (CaffeGPI's way).
 *
 * Each rank has an MPI window with one mailbox per peer, which only that peer writes.
 * A message from A to B takes three kinds of writes:
 *
 *        A                                                     B
 *        |  <----- RTR: "a receive with this tag is posted" -- |  recv()
 *  send()|  -- bytes into the ring of A's mailbox at B ------> |
 *        |  -- new tail of that ring: the notification ------> |  copies the bytes out
 *        |  <----- credit: bytes that B has taken out -------- |
 *
 * RTR is "ready to receive", as in UCX's rendezvous protocol. A writes nothing before
 * it has the RTR of a receive that matches, so no message can block the ring for
 * another one, and no memory beyond the rings is needed. Long messages are cut into
 * pieces that fit into the ring. One thread at a time uses the edges. */
#ifndef FIRE_COMM_EDGE_MPI_H
#define FIRE_COMM_EDGE_MPI_H
#include "comm/transport/job_mpi.h"
#include "comm/transport/queue.h"

/* A posted send or receive; the edges hold a pointer to it until it is done or
 * dropped. */
typedef struct fire_edge_message {
    fire_item_t item; /* holds the tag */
    int         peer;
    bool        done;
    char       *memory;
    size_t      len;   /* bytes; of a finished receive: what the peer sent */
    size_t      moved; /* bytes written to, or read from, the ring so far */
    uint64_t    rtr;   /* number of the RTR that belongs to it */
} fire_edge_message_t;

typedef struct fire_edge fire_edge_t;

typedef struct fire_edges {
    const fire_mpi_t *mpi;
    fire_mpi_win_t    win;
    int               rank, size;
    size_t       ring, stride; /* bytes of a ring, and of a mailbox with its ring */
    fire_edge_t *edge;         /* [size], by peer */
} fire_edges_t;

/* All ranks of the job call it; all get windows or all fail. On failure there is nothing
 * to close. */
fire_status_t fire_edges_open(const fire_job_t *job, fire_edges_t *e);
/* `broken`: peers may be gone, so skip every call that would wait for them. */
void fire_edges_close(fire_edges_t *e, bool broken);

fire_status_t fire_edges_send(fire_edges_t *e, fire_edge_message_t *p);
fire_status_t fire_edges_recv(fire_edges_t *e, fire_edge_message_t *p);
/* Forget a message that is not done. The peer may still send to it, so the struct must
 * stay until the edges are closed; what arrives is thrown away. */
void fire_edges_drop(fire_edges_t *e, fire_edge_message_t *p);
/* Move everything as far as credits allow. Never blocks. */
fire_status_t fire_edges_poll(fire_edges_t *e);
#endif
