/* probe.h - measures the links between these workers for `firecaffe plan`: latency,
 * bandwidth, speed of adding. Two ranks swap messages with the executor that also sums
 * gradients, so that a message costs what it costs there. */
#ifndef FIRE_COMM_PROBE_H
#define FIRE_COMM_PROBE_H
#include "comm/comm.h"

typedef struct fire_wire_probe {
    bool   found;     /* there are two ranks with such a link */
    bool   shared;    /* they can access each other's memory */
    double latency;   /* seconds for a short message */
    double bandwidth; /* bytes/s */
    double reduce;    /* bytes/s that a rank adds */
} fire_wire_probe_t;

typedef struct fire_probe {
    fire_wire_probe_t node, net;       /* inside a node, between nodes */
    int               nodes, per_node; /* nodes, ranks of the fullest one */
} fire_probe_t;

/* All ranks call it and get the same result. `floats`: length of the messages; choose
 * more than caches hold, because gradients come from memory. */
fire_status_t fire_comm_probe(fire_comm_t *c, size_t floats, fire_probe_t *probe_p);
#endif
