/* probe.h - what the wires between these workers are like: two of them swap messages,
 * by the executor that sums gradients, and a message costs what it costs there. */
#ifndef FIRE_COMM_PROBE_H
#define FIRE_COMM_PROBE_H
#include "comm/comm.h"

typedef struct fire_wire_probe {
    bool   found;                      /* are there two such workers? */
    bool   shared;                     /* they reach each other's memory */
    double latency, bandwidth, reduce; /* seconds, bytes/s, bytes added/s */
} fire_wire_probe_t;

typedef struct fire_probe {
    fire_wire_probe_t node, net; /* inside a node, between nodes */
    int               nodes, per_node;
} fire_probe_t;

/* Messages of so many floats: more than caches hold, as gradients come from memory. All
 * ranks call it and get the same. */
fire_status_t fire_comm_probe(fire_comm_t *c, size_t floats, fire_probe_t *probe_p);
#endif
