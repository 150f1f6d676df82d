/* algo.h - what an algorithm file fills in. algos.def lists them. */
#ifndef FIRE_COMM_ALGO_H
#define FIRE_COMM_ALGO_H
#include "comm/sched.h"

enum {
    FIRE_ALGO_DETERMINISTIC = 1,  /* the same bits on every run with as many ranks */
    FIRE_ALGO_CANONICAL     = 2,  /* sums along the canonical tree over ranks */
    FIRE_ALGO_BY_NODE       = 4,  /* CANONICAL only if nodes hold aligned blocks */
    FIRE_ALGO_COLORS        = 8,  /* makes use of more than one color */
    FIRE_ALGO_ONE_HOP       = 16, /* no partial sum travels: best for lossy codecs */
    FIRE_ALGO_NATIVE        = 32  /* the transport's own library does it */
};

/* A message of b bytes takes alpha + beta * b seconds; adding it gamma * b. */
typedef struct fire_link {
    double alpha, beta, gamma;
} fire_link_t;

typedef struct fire_machine {
    fire_link_t node, net; /* inside a node, between nodes */
} fire_machine_t;

typedef struct fire_algo {
    const char *name;
    unsigned    flags;
    unsigned    ops; /* bits 1 << FIRE_ALLREDUCE ... */
    /* How many chains a long buffer is best cut into over a network: many where they
     * make a pipeline, few where all links are busy anyway. */
    int chains;
    /* (optional) Into how many messages, roughly, does it cut a chain? Else one. */
    int (*parts)(int size);
    /* (optional) How many ranks send to the busiest one at a time? Else one. */
    int (*fan)(int size);
    /* (optional) How many chains are begun together between hosts? Fewer than usual
     * where several send to one. */
    int (*begun)(int size);
    /* One rank's steps for one chain. */
    fire_status_t (*plan)(const fire_coll_t *c, fire_sched_t *out);
    /* Predicted seconds of an allreduce of c->span in messages of c->piece. */
    double (*cost)(const fire_coll_t *c, const fire_machine_t *m);
} fire_algo_t;

/* In a pipeline, messages that run ahead only stand in the way of others. */
static inline bool fire_algo_is_pipeline(const fire_algo_t *algo)
{
    return algo->chains > 16;
}

const fire_algo_t *fire_algo_at(int i); /* NULL past the end */
fire_status_t      fire_algo_find(const char *name, const fire_algo_t **algo_p);

/* Do all ranks get canonical sums from this algorithm, on these nodes? */
bool fire_algo_is_canonical(const fire_algo_t *algo, const fire_coll_t *c);
#endif
