/* sched.h - a collective as data. plan() writes one rank's list of steps; exec.c
 * runs the list on any transport, sim/ prices it, tests/comm proves it. */
#ifndef FIRE_COMM_SCHED_H
#define FIRE_COMM_SCHED_H
#include "base/error.h"

typedef struct fire_span {
    size_t off, len; /* float32 elements of the collective's buffer */
} fire_span_t;

/* Part i of n, cut where the offset is a multiple of `grain`: parts differ by at
 * most one grain, and the last ones may be empty. */
static inline fire_span_t fire_span_part(fire_span_t s, int64_t i, int64_t n,
                                         size_t grain)
{
    size_t units = (s.len + grain - 1) / grain;
    size_t lo    = units * (size_t)i / (size_t)n * grain;
    size_t hi    = units * (size_t)(i + 1) / (size_t)n * grain;

    if (lo > s.len) lo = s.len;
    if (hi > s.len) hi = s.len;
    return (fire_span_t){s.off + lo, hi - lo};
}

typedef enum fire_coll_op {
    FIRE_ALLREDUCE,
    FIRE_REDUCE,         /* the sum at the root; other buffers keep partial sums */
    FIRE_BROADCAST,      /* the root's buffer everywhere */
    FIRE_REDUCE_SCATTER, /* each rank ends with the sum of its own span */
    FIRE_ALLGATHER,      /* each rank gives its own span, all end with all */
} fire_coll_op_t;

/* What is asked for. A plan sees one chain: one color and one chunk of the buffer.
 * Chains touch disjoint spans and run side by side; that is all the pipelining
 * there is. */
typedef struct fire_coll {
    fire_coll_op_t          op;
    int                     rank, size, root; /* positions in the group */
    const int              *group;            /* position -> rank; NULL: the same */
    const int              *node;    /* rank -> node number; NULL: a node each */
    bool                    lend;    /* ranks of a node reach each other's buffers */
    bool                    partial; /* part of a larger sum: nothing is FINAL */
    int                     ncolor, color, chunk;
    int                     round; /* first round, for a plan that is part of another */
    size_t                  piece; /* longest message wanted; 0: as long as it gets */
    size_t                  grain; /* messages begin at multiples of it; at least 1 */
    fire_span_t             span;
    const struct fire_algo *outer; /* hier: between the nodes; NULL: rhd */
} fire_coll_t;

typedef enum fire_step_kind {
    FIRE_SEND,
    FIRE_RECV,
    FIRE_RECV_ADD, /* buffer += message */
    FIRE_HOLD,     /* receive beside the buffer, for the next SUM */
    FIRE_LEND,     /* let the peer read the span and write the result there */
    FIRE_BORROW,   /* the other side of LEND, for the next SUM */
    FIRE_SUM,      /* local: own span and what this round holds, canonically */
    FIRE_FINAL,    /* local: the span's sum is complete, here before elsewhere */
    FIRE_NATIVE,   /* the transport's library does the whole collective */
} fire_step_kind_t;

/* Steps of a chain are listed round by round; a round starts when the one before
 * has finished, and steps of one round touch disjoint parts of the buffer. A SUM
 * comes right after the HOLDs and BORROWs of its round, which are in canonical
 * order; it runs when the last of them is there. */
typedef struct fire_step {
    fire_step_kind_t kind;
    int              color, chunk, round;
    int              peer; /* SUM: own place among what is summed */
    fire_span_t      span;
} fire_step_t;

typedef struct fire_sched {
    fire_step_t *step;
    int64_t      n, cap;
    int          rounds;    /* of the chain being planned */
    int          per_block; /* chains; 0: all are in one block */
    fire_span_t  own;       /* REDUCE_SCATTER, ALLGATHER: this rank's span */
} fire_sched_t;

struct fire_algo;

/* Write this rank's schedule for the whole of c->span: cuts it into c->ncolor
 * colors and into chunks, and plans each. Ends what was in *s before. */
fire_status_t fire_sched_plan(fire_sched_t *s, const struct fire_algo *algo,
                              const fire_coll_t *c);
void          fire_sched_fini(fire_sched_t *s); /* {0} is a valid empty schedule */

/* For plans: append a step at round c->round + round. A message without elements
 * is left out, on both sides by the same rule. */
fire_status_t fire_sched_add(fire_sched_t *s, const fire_coll_t *c, int round,
                             fire_step_kind_t kind, int peer, fire_span_t span);

/* Chains of a color are worked on in blocks, two at a time, so that no peer's messages
 * run far ahead of the others' that are needed with them. */
static inline int fire_sched_block(const fire_sched_t *s, int chunk)
{
    return s->per_block > 0 ? chunk / s->per_block : 0;
}

static inline int fire_coll_rank(const fire_coll_t *c, int position)
{
    return c->group != NULL ? c->group[position] : position;
}

/* The canonical sum over positions: a binary tree over their numbers,
 *     ((0+1)+(2+3))+((4+5)+(6+7)), missing leaves left out.
 * An algorithm that keeps it gives the same bits for any number of ranks that
 * hold aligned blocks of the same leaves. */
#endif
