/* control_mpi.h - messages between processes besides those of schedules: ping ("are you
 * alive?"), pong ("yes"), fail ("I stop, because ..."). Part of the two-sided
 * transport, which keeps one receive posted for them.
 *
 *   A: alive(B)   -- ping -->   B: poll() -> handle()
 *                 <-- pong --
 *   A: poll() -> handle() notes the time; the next alive(B) is true */
#ifndef FIRE_COMM_CONTROL_MPI_H
#define FIRE_COMM_CONTROL_MPI_H
#include "comm/transport/job_mpi.h"

typedef struct fire_control_message {
    enum { FIRE_CONTROL_PING, FIRE_CONTROL_PONG, FIRE_CONTROL_FAIL } kind;
    char cause[512]; /* FAIL: the error message */
} fire_control_message_t;

typedef struct fire_control {
    const fire_mpi_t *mpi;
    fire_mpi_comm_t   comm; /* an own duplicate, so that nothing else matches */
    int               rank, size;
    int               failed_rank; /* -1: none */
    /* MPI reads and writes these while requests are under way. */
    fire_control_message_t received, ping, pong, fail;
    double                *last_seen; /* [size] fire_clock_now() of the last message */
    double                *asked_at;  /* [size] of the last ping to that rank */
} fire_control_t;

fire_status_t fire_control_open(const fire_job_t *job, fire_control_t *c);
void          fire_control_close(fire_control_t *c, bool broken);

/* Post the receive of the next control message as request i; call handle() when it has
 * finished. */
fire_status_t fire_control_listen(fire_control_t *c, fire_mpi_requests_t *requests,
                                  int i);
/* Handle c->received, which came from `peer`: answer a ping and listen again. After
 * FAIL set failed_rank and listen no more, so that received.cause stays. */
fire_status_t fire_control_handle(fire_control_t *c, int peer,
                                  fire_mpi_requests_t *requests, int i);

/* The transport operations of these names. */
bool fire_control_alive(fire_control_t *c, int peer, double within);
void fire_control_fail(fire_control_t *c, const char *cause);
#endif
