/* sched.h - a collective as data. An algorithm's plan() writes, for one rank, the list
 * of its sends, receives and additions. The executor (exec/exec.c) runs the list on any
 * transport, the simulator (src/sim) prices it, and a prover (tests/comm/algo/proof.h)
 * checks that every rank's contribution is added exactly once.
 *
 *   buffer   |------------------- n floats ---------------------|
 *   colors   |------- 0 -------|------- 1 -------|----- 2 ------|   one tree each
 *   chunks   |- 2 -|- 1 -|- 0 -|- 2 -| ...                          for pipelining
 *   chain    the steps of one chunk of one color, round by round
 *
 * Chains touch disjoint spans and run side by side; inside a chain, a round starts when
 * the one before has finished. That is all the concurrency there is. */
#ifndef FIRE_COMM_SCHED_H
#define FIRE_COMM_SCHED_H
#include "base/error.h"

/* A part of the collective's buffer, in float32 elements. */
typedef struct fire_span {
    size_t off, len;
} fire_span_t;

/* Part i of n of a span. Parts begin at multiples of `grain` elements from the span's
 * start, so their lengths differ by at most one grain; where the span is short, some
 * parts are empty. */
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
    FIRE_REDUCE,         /* the sum at the root; other buffers end with partial sums */
    FIRE_BROADCAST,      /* the root's buffer, copied to all */
    FIRE_REDUCE_SCATTER, /* each rank ends with the sum of its own span */
    FIRE_ALLGATHER,      /* each rank gives its own span; all end with all spans */
} fire_coll_op_t;

/* A request to a planner. fire_sched_plan() gets the whole buffer; an algorithm's
 * plan() gets one chain of it: one color, one chunk. */
typedef struct fire_coll {
    fire_coll_op_t op;
    int            rank, size, root; /* positions in the group, 0 ... size-1 */
    const int     *group;            /* position -> rank; NULL: positions are ranks */
    const int     *node; /* rank -> node number; NULL: each rank has its own */
    const int  *lane; /* [size + 1] rank r holds lanes lane[r] ... lane[r + 1] - 1, in
                        several arrays (below); NULL: each rank has one array */
    bool        lend; /* ranks of a node can access each other's buffers */
    bool        partial; /* part of a larger sum: leave out FINAL */
    int         ncolor, color, chunk;
    int         round;             /* first round, for a plan inside of another plan */
    size_t      piece;             /* elements of the longest message wanted; 0: any */
    size_t      grain;             /* elements; messages begin at multiples; >= 1 */
    fire_span_t span;              /* what to sum, of the buffer */
    const struct fire_algo *outer; /* hier: algorithm between nodes; NULL: rhd */
} fire_coll_t;

typedef enum fire_step_kind {
    FIRE_SEND,
    FIRE_RECV,     /* buffer = message */
    FIRE_RECV_ADD, /* buffer += message */
    FIRE_HOLD,     /* receive into other memory, as an operand of the next SUM */
    FIRE_LEND,   /* zero-copy send: the peer reads the span and writes the sum there */
    FIRE_BORROW, /* the receiving end of LEND: an operand of the next SUM */
    /* Local: add the own span and all HOLDs and BORROWs of this round in canonical
     * order; store the sum in the own span and in all borrowed ones. */
    FIRE_SUM,
    /* Local: the span's sum is complete, on this rank before any other. A lossy codec
     * quantizes it here, so that all ranks end with the same bits. */
    FIRE_FINAL,
    FIRE_MERGE,  /* Local: add the same span of array `peer` */
    FIRE_NATIVE, /* the transport's library does the whole collective */
} fire_step_kind_t;

/* Steps of a chain are listed round by round; steps of one round touch disjoint parts
 * of the buffer. A SUM follows the HOLDs and BORROWs of its round, which are listed in
 * canonical order, and runs when the last of them has arrived. */
typedef struct fire_step {
    fire_step_kind_t kind;
    int              color, chunk, round;
    int              peer; /* rank; of a SUM: position of the own span among operands */
    int              slot; /* array of this rank; 0 unless it holds several sums */
    fire_span_t      span;
} fire_step_t;

typedef struct fire_sched {
    fire_step_t *step; /* [n], chain by chain */
    int64_t      n, cap;
    int          rounds;    /* of the chain that is being planned */
    int          per_block; /* chains of a block, see fire_sched_block(); 0: all */
    fire_span_t  own;       /* REDUCE_SCATTER, ALLGATHER: this rank's span */
    int          slots;     /* arrays of this rank that the schedule uses */
    int         *operand;   /* [noperand + 1] of each SUM: operand i is the sum of lanes
                               operand[i] ... operand[i + 1] - 1; NULL: one lane each */
    int          noperand;
} fire_sched_t;

struct fire_algo;

/* Write this rank's schedule for all of c->span: cut it into c->ncolor colors and these
 * into chunks of at most c->piece, and plan each chain. Replaces what *s held. */
fire_status_t fire_sched_plan(fire_sched_t *s, const struct fire_algo *algo,
                              const fire_coll_t *c);
void          fire_sched_fini(fire_sched_t *s); /* {0} is a valid empty schedule */

/* For plan(): append a step in round c->round + round; `peer` is a position in the
 * group. A message without elements is left out; sender and receiver do so by the same
 * rule. */
fire_status_t fire_sched_add(fire_sched_t *s, const fire_coll_t *c, int round,
                             fire_step_kind_t kind, int peer, fire_span_t span);
/* The same for a span of another array than the first. */
fire_status_t fire_sched_add_slot(fire_sched_t *s, const fire_coll_t *c, int round,
                                  fire_step_kind_t kind, int peer, int slot,
                                  fire_span_t span);

/* The block of a chain. Chains of a color are worked on in blocks, two blocks at a
 * time: this bounds how far the messages of a fast peer can run ahead of those of a
 * slow one, which the same sums need. */
static inline int fire_sched_block(const fire_sched_t *s, int chunk)
{
    return s->per_block > 0 ? chunk / s->per_block : 0;
}

/* In which array of a rank the sum of root i of n is (fire_step_t.slot). The last one
 * has slot 0, where the sum over all ranks ends. */
static inline int fire_root_slot(int i, int n)
{
    return i == n - 1 ? 0 : i + 1;
}

/* Position in the group -> rank of the communicator. */
static inline int fire_coll_rank(const fire_coll_t *c, int position)
{
    return c->group != NULL ? c->group[position] : position;
}

/* The canonical sum over positions is a binary tree over their numbers, in which leaves
 * that do not exist are left out:
 *
 *     8: ((0+1)+(2+3))+((4+5)+(6+7))        5: ((0+1)+(2+3))+4
 *
 * If every rank first adds up an aligned power-of-two block of leaves in this order,
 * and the algorithm adds ranks in this order, then the sum has the same bits for any
 * number of ranks (docs/design/0002-lanes.md).
 *
 * Where blocks are not aligned (fire_coll_t.lane), a rank begins with several sums, one
 * for each root of its lanes (pattern/roots.h), in arrays of the same layout: slot 0 is
 * the buffer, where the sum of all ranks ends; the others are only read, or used up. */
#endif
