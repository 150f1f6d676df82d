/* proof_world.h - the state of all ranks while the prover works; for proof.c and
 * proof_run.c. Buffers are cut into segments at every offset that any step uses, and a
 * segment of a rank holds one symbolic value. */
#ifndef TESTS_COMM_PROOF_WORLD_H
#define TESTS_COMM_PROOF_WORLD_H
#include "comm/exec/exec_state.h"
#include "proof.h"

/* What a segment contains: values 0 ... nleaf-1 are the ranks' contributions, or those
 * of their lanes (leaves),
 * the others are sums of two values. Equal sums have equal numbers, so that "the same
 * additions" is "the same number". */
typedef struct proof_value {
    uint64_t leaves; /* bit r: leaf r is in it */
    int      left, right;
} proof_value_t;

enum { MAX_VALUES = 1 << 14, PROOF_SLOTS = 16 };

/* As fire_chain_t. */
typedef struct proof_chain {
    int64_t first, end, next;
    int     round, left, holds;
    int64_t sum;
} proof_chain_t;

/* One end of a message. Sorted, the i-th sending end belongs to the i-th receiving
 * one. */
typedef struct proof_message {
    int     from, to, color, block, round, chunk;
    int64_t step;
} proof_message_t;

typedef struct proof_world {
    const fire_sched_t *sched; /* [size] by rank */
    const fire_coll_t  *c;
    proof_value_t       value[MAX_VALUES];
    int                 nvalue, nleaf;
    size_t             *cut; /* [ncut] segment k is cut[k] ... cut[k+1]-1 */
    int                 ncut;
    int             *at[PROOF_RANKS][PROOF_SLOTS]; /* [segment] number of its value */
    int             *held[PROOF_RANKS];     /* [step] message that a HOLD received */
    proof_chain_t   *chain[PROOF_RANKS];    /* [nchain] */
    int             *chain_of[PROOF_RANKS]; /* [step] */
    int              nchain[PROOF_RANKS];
    int              front[PROOF_RANKS][16]; /* [color] chains before it are done */
    proof_message_t *out, *in;               /* [nout], [nin] */
    int64_t          nout, nin;
    int64_t          done;  /* ends of messages */
    bool            *moved; /* [nout] */
    char             why[256];
} proof_world_t;

#define FOR_SEGMENTS(w, k, span)                 \
    for (int k = proof_segment((w), (span).off); \
         (w)->cut[k] < (span).off + (span).len; k++)

/* The segment that begins at this offset. */
int proof_segment(const proof_world_t *w, size_t off);
/* Write what is wrong into w->why and return it. */
const char *proof_wrong(proof_world_t *w, const char *format, ...);
/* The value a + b; -1 if they have a contribution in common. */
int proof_add(proof_world_t *w, int a, int b);
/* The canonical sum of value[n]. */
int proof_canonical(proof_world_t *w, const int *value, int n);
/* The canonical sum of values that are sums of subtrees, lanes lane[i] ... lane[i + 1]
 * - 1. */
int proof_subtrees(proof_world_t *w, const int *value, const int *lane, int n);
int proof_block_of(const proof_world_t *w, const fire_step_t *st);

/* Run all schedules; NULL or what went wrong. */
const char *proof_run(proof_world_t *w);
#endif
