/* edge_mpi.h - one-sided messages: write and notify, with credits (CaffeGPI's way).
 *
 * Each rank has a window with one edge per peer. For a message from A to B:
 *   B posts a receive     -> writes a ticket (its tag) into A's edge
 *   A has a matching send -> writes the bytes into the ring of B's edge, then the
 *                            edge's new tail: the notification is the pointer
 *   B takes the bytes out -> writes its new head into A's edge: A's credit
 * As nothing is written without a ticket, no message blocks another one's way, and
 * no memory beyond the rings is needed. */
#ifndef FIRE_COMM_EDGE_MPI_H
#define FIRE_COMM_EDGE_MPI_H
#include "comm/transport/job_mpi.h"
#include "comm/transport/queue.h"

/* A message on its way; belongs to the edges until it is done or dropped. */
typedef struct fire_parcel {
    fire_item_t item; /* with the tag */
    int         peer;
    bool        done;
    char       *memory;
    size_t      len, moved; /* len: when a receive is done, what was sent */
    uint64_t    ticket;
} fire_parcel_t;

typedef struct fire_side fire_side_t;

typedef struct fire_edges {
    MPI_Win      win;
    int          rank, size;
    size_t       ring, stride; /* bytes of a ring, of an edge */
    fire_side_t *side;         /* by peer */
} fire_edges_t;

/* All ranks of comm. On failure nothing is left to close. */
fire_status_t fire_edges_open(MPI_Comm comm, fire_edges_t *e);
/* `broken`: peers may be gone; leave everything that would wait for them. */
void fire_edges_close(fire_edges_t *e, bool broken);

fire_status_t fire_edges_send(fire_edges_t *e, fire_parcel_t *p);
fire_status_t fire_edges_recv(fire_edges_t *e, fire_parcel_t *p);
/* Forget one that is not done; its memory must stay until the edges are closed. */
void          fire_edges_drop(fire_edges_t *e, fire_parcel_t *p);
fire_status_t fire_edges_poll(fire_edges_t *e);
#endif
