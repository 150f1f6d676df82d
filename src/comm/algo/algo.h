/* algo.h - what an algorithm is: a record with a planner and a cost formula, defined in
 * a file of its own as fire_algo_<file>. algos.def lists them all.
 *
 * To add one, write plan(): the steps of one rank for one chain (sched.h). The prover
 * in tests/comm checks it for many numbers of ranks. */
#ifndef FIRE_COMM_ALGO_H
#define FIRE_COMM_ALGO_H
#include "comm/sched.h"

enum {
    FIRE_ALGO_DETERMINISTIC = 1,  /* same ranks, same bits, on every run */
    FIRE_ALGO_CANONICAL     = 2,  /* adds in canonical order (sched.h) */
    FIRE_ALGO_BY_NODE       = 4,  /* CANONICAL only if nodes hold aligned blocks */
    FIRE_ALGO_COLORS        = 8,  /* uses more than one color */
    FIRE_ALGO_ONE_HOP       = 16, /* never sends partial sums: for lossy codecs */
    FIRE_ALGO_NATIVE        = 32  /* the transport's library does it */
};

/* The cost model: a message of b bytes takes alpha + beta * b seconds, and adding it to
 * the buffer gamma * b. Rough figures, for choosing an algorithm; src/sim is
 * precise. */
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
    /* Into how many chains a long buffer is cut over a network: many where chains form
     * a pipeline, few where all links are busy all the time anyway. */
    int chains;
    /* (optional) Messages that a chain is cut into, roughly; NULL: one. */
    int (*parts)(int size);
    /* (optional) Ranks that send to the busiest rank at the same time; NULL: one. */
    int (*fan)(int size);
    /* (optional) Chains of a block between hosts (fire_sched_block()); fewer than usual
     * where several ranks send to one and would overflow its switch port. */
    int (*begun)(int size);
    /* Append one rank's steps for one chain. */
    fire_status_t (*plan)(const fire_coll_t *c, fire_sched_t *out);
    /* Predicted seconds of an allreduce of c->span in messages of c->piece elements. */
    double (*cost)(const fire_coll_t *c, const fire_machine_t *m);
} fire_algo_t;

/* Pipelines get the narrowest window: messages far ahead of the pipeline's front only
 * delay those that others wait for. */
static inline bool fire_algo_is_pipeline(const fire_algo_t *algo)
{
    return algo->chains > 16;
}

/* The i-th of algos.def; NULL past the end. */
const fire_algo_t *fire_algo_at(int i);
fire_status_t      fire_algo_find(const char *name, const fire_algo_t **algo_p);

/* Are this algorithm's sums canonical with these ranks on these nodes? */
bool fire_algo_is_canonical(const fire_algo_t *algo, const fire_coll_t *c);
#endif
