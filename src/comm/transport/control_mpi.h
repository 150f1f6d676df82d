/* control_mpi.h - what processes tell each other beside the schedules: are you there,
 * I am, I give up. */
#ifndef FIRE_COMM_CONTROL_MPI_H
#define FIRE_COMM_CONTROL_MPI_H
#include "comm/transport/job_mpi.h"

typedef struct fire_word {
    enum { FIRE_WORD_PING, FIRE_WORD_PONG, FIRE_WORD_FAIL } kind;
    char cause[512];
} fire_word_t;

typedef struct fire_control {
    MPI_Comm    comm;
    int         rank, size, failed_rank; /* -1: nobody gave up */
    fire_word_t heard, ping, pong, fail; /* stay while MPI may read them */
    double     *heard_at, *asked_at;     /* by rank */
} fire_control_t;

fire_status_t fire_control_open(const fire_job_t *job, fire_control_t *c);
void          fire_control_close(fire_control_t *c, bool broken);

/* Wait for the next word with this request; call hear() when it has come. */
fire_status_t fire_control_listen(fire_control_t *c, MPI_Request *request);
/* Listens on, unless the peer gave up: then failed_rank and heard.cause tell. */
fire_status_t fire_control_hear(fire_control_t *c, int peer, MPI_Request *request);

/* As the operations of a transport. */
bool fire_control_alive(fire_control_t *c, int peer, double within);
void fire_control_fail(fire_control_t *c, const char *cause);
#endif
