/* comm_state.h - the members of a communicator, for the files of src/comm. */
#ifndef FIRE_COMM_STATE_H
#define FIRE_COMM_STATE_H
#include <pthread.h>

#include "comm/comm.h"
#include "comm/exec/exec.h"

enum {
    FIRE_MAX_COLORS = 16, /* and the number of tags that a collective owns */
    FIRE_HOST_LEN   = 64, /* bytes of a host name */
    FIRE_LIVE_WORDS = 32, /* 64 collectives each */
    FIRE_COMM_GRAIN = 16  /* floats: messages begin at cache lines */
};

typedef struct fire_tuning fire_tuning_t;

struct fire_comm {
    fire_transport_t  *tp;
    pthread_mutex_t    in_use;   /* held by blocking calls: fire_comm_poll() returns */
    double             timeout;  /* seconds */
    bool               warned;   /* about a silent rank; one warning per silence */
    int               *node;     /* [size] rank -> node number */
    bool               apart;    /* ranks_per_node is 1: share no memory */
    char              *host;     /* [size * FIRE_HOST_LEN] host names */
    uint32_t           patience; /* extra spins of waiting loops, see fire_pause_t */
    uint64_t           live[FIRE_LIVE_WORDS]; /* bit set: number of a collective */
    float             *flag; /* one element: failures, summed by barrier and agree */
    fire_collective_t *flag_sum;
    fire_tuning_t     *tuning;  /* NULL: none */
    fire_team_t       *alone;   /* of a communicator of one rank, which owns it */
    int                threads; /* of the CPU, for this rank */
};

/* A rank for messages: "3 (node07)". Returns text. */
const char *fire_comm_name(const void *comm, int rank, char *text, size_t size);
#endif
