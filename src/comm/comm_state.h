/* comm_state.h - the inside of a communicator. */
#ifndef FIRE_COMM_STATE_H
#define FIRE_COMM_STATE_H
#include <pthread.h>

#include "comm/comm.h"
#include "comm/exec/exec.h"

enum {
    FIRE_MAX_COLORS = 16,
    FIRE_HOST_LEN   = 64,
    FIRE_LIVE_WORDS = 32,
    FIRE_COMM_GRAIN = 16 /* floats: messages begin at cache lines */
};

typedef struct fire_tuning fire_tuning_t;

struct fire_comm {
    fire_transport_t  *tp;
    pthread_mutex_t    in_use; /* by a small exchange: fire_comm_poll() keeps off */
    double             timeout;
    bool               warned;                /* of a rank that is silent */
    int               *node;                  /* rank -> node number */
    bool               apart;                 /* they pretend to be each on its own */
    char              *host;                  /* FIRE_HOST_LEN bytes per rank */
    uint32_t           patience;              /* of who waits, see fire_pause_t */
    uint64_t           live[FIRE_LIVE_WORDS]; /* numbers that collectives use now */
    float             *flag;                  /* one element, for agree and barrier */
    fire_collective_t *meet;
    fire_tuning_t     *tuning;
};

/* A rank as a person wants to read it: "3 (node07)". */
const char *fire_comm_name(const void *comm, int rank, char *text, size_t size);
#endif
