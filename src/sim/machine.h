/* machine.h - a cluster as the cost model sees it: links, how they are connected, and
 * how fast a worker computes. Read from a JSON file (docs/scaling.md). SI units
 * throughout. */
#ifndef FIRE_SIM_MACHINE_H
#define FIRE_SIM_MACHINE_H
#include "base/text/json.h"

enum { FIRE_TORUS_DIMS = 3 };

/* A message of b bytes takes latency + b / bandwidth; the core at each end spends
 * `overhead` on it, and adding it to the buffer takes b / reduce. Seconds, bytes/s. */
typedef struct fire_wire {
    double latency, bandwidth, overhead, reduce;
} fire_wire_t;

typedef enum fire_topology {
    FIRE_STAR,     /* all nodes on one switch, which is never the bottleneck */
    FIRE_FAT_TREE, /* `leaf` nodes per switch; uplinks carry 1/oversubscription */
    FIRE_TORUS,    /* a router per node, links to 2 neighbours per dimension */
} fire_topology_t;

typedef struct fire_compute {
    double flops;      /* per second, in convolutions and inner products */
    double bandwidth;  /* bytes/s of memory, in all layers */
    double half_batch; /* samples: with so many, a worker runs at half its speed */
    double update;     /* bytes of weights updated per second */
    double memory;     /* bytes of a worker; 0: not known */
    double input;      /* samples/s that a worker can read; 0: no limit */
} fire_compute_t;

typedef struct fire_cluster {
    char            name[64];
    fire_topology_t topology;
    int             leaf;             /* of FIRE_FAT_TREE */
    double          oversubscription; /* of FIRE_FAT_TREE, at least 1 */
    int             dims[FIRE_TORUS_DIMS];
    int             per_node;   /* workers that share a node and its network card */
    int             cores;      /* of a node, for all its workers; 0: enough */
    int             cores_each; /* that a worker keeps busy */
    bool            shared;     /* workers of a node access each other's memory */
    bool            mingle;     /* messages of a pipe share the link, as in SimGrid,
                                   instead of following each other */
    fire_wire_t     node, net;  /* inside a node, between nodes */
    fire_compute_t  compute;
} fire_cluster_t;

/* A missing, misspelt or impossible field is named in the message. */
fire_status_t fire_cluster_parse(const fire_json_t *json, const char *file,
                                 fire_cluster_t *cluster_p);
fire_status_t fire_cluster_load(const char *path, fire_cluster_t *cluster_p);

/* The factor by which computing takes longer because workers share cores; at least
 * 1. */
double fire_cluster_crowd(const fire_cluster_t *c, int workers);
/* Do the workers of the fullest node keep all of its cores busy? */
bool fire_cluster_is_full(const fire_cluster_t *c, int workers);
#endif
