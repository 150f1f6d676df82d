/* machine.h - a cluster as a cost model sees it: links, how they are wired, and how
 * fast a worker computes. Read from a JSON file (docs/scaling.md). */
#ifndef FIRE_SIM_MACHINE_H
#define FIRE_SIM_MACHINE_H
#include "base/text/json.h"

enum { FIRE_TORUS_DIMS = 3 };

/* A message of b bytes takes latency + b / bandwidth; each end spends `overhead`
 * on it, and adding it to what is there takes b / reduce. Seconds, bytes/s. */
typedef struct fire_wire {
    double latency, bandwidth, overhead, reduce;
} fire_wire_t;

typedef enum fire_topology {
    FIRE_STAR,     /* every node on one switch that is never the bottleneck */
    FIRE_FAT_TREE, /* `leaf` nodes a switch; uplinks carry 1/oversubscription */
    FIRE_TORUS,    /* a router a node, links to 2 neighbours a dimension */
} fire_topology_t;

typedef struct fire_compute {
    double flops;      /* per second, in convolutions and inner products */
    double bandwidth;  /* bytes/s of memory, in all layers */
    double half_batch; /* samples at which a worker runs at half its speed */
    double update;     /* bytes of weights that are updated per second */
    double memory;     /* bytes; 0: not known */
    double input;      /* samples/s that a worker can read; 0: never the limit */
} fire_compute_t;

typedef struct fire_cluster {
    char            name[64];
    fire_topology_t topology;
    int             leaf;
    double          oversubscription;
    int             dims[FIRE_TORUS_DIMS];
    int             per_node;   /* workers that share a node and its network card */
    int             cores;      /* of a node, that workers share; 0: each has its own */
    int             cores_each; /* that a worker keeps busy */
    bool            shared;     /* workers of a node reach each other's memory */
    bool            mingle;     /* messages from one worker to another share the wire,
                                   as in SimGrid, instead of following each other */
    fire_wire_t     node, net;
    fire_compute_t  compute;
} fire_cluster_t;

/* A missing, misspelt or impossible field is named in the message. */
fire_status_t fire_cluster_parse(const fire_json_t *json, const char *file,
                                 fire_cluster_t *cluster_p);
fire_status_t fire_cluster_load(const char *path, fire_cluster_t *cluster_p);

/* How many times as long does a worker take because others want its cores too? */
double fire_cluster_crowd(const fire_cluster_t *c, int workers);
/* Does every core of the fullest node compute? */
bool fire_cluster_is_full(const fire_cluster_t *c, int workers);
#endif
