/* threads.h - a transport between threads of one process, one rank per thread. */
#ifndef FIRE_COMM_THREADS_H
#define FIRE_COMM_THREADS_H
#include "comm/transport/transport.h"

/* What the ranks share. Create it before, and destroy it after, their transports. */
typedef struct fire_team fire_team_t;

fire_status_t fire_team_create(int size, fire_team_t **team_p);
void          fire_team_destroy(fire_team_t *team);

/* Each rank's thread calls it once; only that thread uses the transport. */
fire_status_t fire_threads_open(fire_team_t *team, int rank, fire_transport_t **tp_p);
#endif
