/* network.h - what a message meets on its way: ports, which it passes all at once. A
 * node's card has one port each way; switches and torus routers add theirs.
 *
 *   star       card out -> card in
 *   fat tree   card out -> leaf's uplink -> other leaf's downlink -> card in; which of
 *              them is settled by the receiver (d-mod-k), so that some meet
 *   torus      card out -> a link a hop, dimension by dimension -> card in
 *   one node   worker out -> worker in, on the node's own wires; where memory is
 *              shared, only the word that something is there goes that way     */
#ifndef FIRE_SIM_NETWORK_H
#define FIRE_SIM_NETWORK_H
#include "sim/machine.h"

enum { FIRE_PATH_MAX = 2 + FIRE_TORUS_DIMS * 16 };

typedef struct fire_network {
    const fire_cluster_t *cluster;
    int                   nrank, nnode, nport;
    double               *bandwidth; /* [nport] bytes/s */
} fire_network_t;

typedef struct fire_path {
    const fire_wire_t *wire;
    bool               lent; /* bytes stay where they are; who wants them copies */
    int                n, port[FIRE_PATH_MAX];
} fire_path_t;

fire_status_t fire_network_init(fire_network_t *net, const fire_cluster_t *cluster,
                                int nrank);
void          fire_network_fini(fire_network_t *net);
void          fire_network_path(const fire_network_t *net, int from, int to,
                                fire_path_t *path_p);
#endif
