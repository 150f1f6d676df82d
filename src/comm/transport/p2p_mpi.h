/* p2p_mpi.h - the members of the two-sided transport, for p2p_mpi.c, which moves
 * messages, and p2p_open_mpi.c, which opens and closes it. */
#ifndef FIRE_COMM_P2P_MPI_H
#define FIRE_COMM_P2P_MPI_H
#include "comm/transport/cluster.h"
#include "comm/transport/control_mpi.h"

enum {
    FIRE_P2P_REQUESTS = 2, /* MPI requests of a slot, at most */
    FIRE_P2P_CONTROL  = 0  /* the slot of control messages */
};

/* Sent instead of the bytes of a zero-copy message: where they are. */
typedef struct fire_p2p_note {
    uint64_t share, offset, len; /* number of the share; bytes */
} fire_p2p_note_t;

/* A posted message; its number is the transport's fire_req_t. */
typedef struct fire_p2p_slot {
    int             peer, tag;
    int             pending; /* MPI requests that are not finished */
    bool            receives, lent;
    void           *memory; /* of a finished zero-copy receive: the sender's */
    size_t          len;    /* bytes */
    fire_p2p_note_t note;
} fire_p2p_slot_t;

/* Slots are allocated in blocks and never moved: MPI writes into their notes. */
typedef struct fire_p2p_block {
    struct fire_p2p_block *next;
    fire_p2p_slot_t        slot[];
} fire_p2p_block_t;

typedef struct fire_p2p {
    fire_transport_t  base; /* first: see fire_p2p_of() */
    fire_job_t        job;
    fire_control_t    control;
    fire_mpi_comm_t   data, receipts; /* of messages and notes; of receipts */
    fire_mpi_comm_t   library;        /* of MPI's own allreduce */
    fire_p2p_block_t *blocks;
    fire_p2p_slot_t **slot;     /* [nslot] */
    void             *requests; /* [FIRE_P2P_REQUESTS * nslot], those of slot 0 first */
    void             *statuses; /* the same length, results of MPI_Testsome */
    int              *finished; /* the same length */
    int              *free;     /* [nfree] numbers of free slots */
    int               nslot, nfree, reserved;
    bool              broken; /* a message was given up, or a rank has failed */
#ifdef FIRE_SIMGRID
    double looked; /* simulated time of the last MPI_Testsome */
#endif
} fire_p2p_t;

static inline fire_p2p_t *fire_p2p_of(fire_transport_t *tp)
{
    return (fire_p2p_t *)tp; /* base comes first */
}

extern const fire_transport_ops_t fire_p2p_ops;

/* The operations reserve() and close() of fire_p2p_ops. */
fire_status_t fire_p2p_reserve(fire_transport_t *tp, int more);
void          fire_p2p_close(fire_transport_t *tp);
#endif
