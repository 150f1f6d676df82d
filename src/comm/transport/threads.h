/* threads.h - ranks that are threads of one process. */
#ifndef FIRE_COMM_THREADS_H
#define FIRE_COMM_THREADS_H
#include "comm/transport/transport.h"

/* What the ranks share; must outlive their transports. */
typedef struct fire_team fire_team_t;

fire_status_t fire_team_create(int size, fire_team_t **team_p);
void          fire_team_destroy(fire_team_t *team);

/* One call per rank; the result belongs to that rank's thread. */
fire_status_t fire_threads_open(fire_team_t *team, int rank, fire_transport_t **tp_p);
#endif
