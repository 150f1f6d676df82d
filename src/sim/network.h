/* network.h - the ports that a message passes, all at the same time, on its way. A
 * node's network card has one port each way; switches and torus routers have theirs.
 *
 *   star       card out -> card in
 *   fat tree   card out -> leaf's uplink -> other leaf's downlink -> card in; the
 *              receiver's number chooses the uplink (d-mod-k), so messages may share one
 *   torus      card out -> a link per hop, dimension by dimension -> card in
 *   one node   worker out -> worker in, inside the node; with shared memory only a note
 *              goes this way, and whoever needs the bytes copies them */
#ifndef FIRE_SIM_NETWORK_H
#define FIRE_SIM_NETWORK_H
#include "sim/machine.h"

enum { FIRE_PATH_MAX = 2 + FIRE_TORUS_DIMS * 16 };

typedef struct fire_network {
    const fire_cluster_t *cluster;
    int                   nrank, nnode, nport; /* rank r is on node r / per_node */
    double               *bandwidth;           /* [nport] bytes/s */
} fire_network_t;

typedef struct fire_path {
    const fire_wire_t *wire; /* latency and speeds */
    bool               lent; /* zero-copy: shared memory of a node */
    int                n, port[FIRE_PATH_MAX];
} fire_path_t;

fire_status_t fire_network_init(fire_network_t *net, const fire_cluster_t *cluster,
                                int nrank);
void          fire_network_fini(fire_network_t *net);
/* The way from rank `from` to rank `to`. */
void fire_network_path(const fire_network_t *net, int from, int to,
                       fire_path_t *path_p);
#endif
