/* rhd.c - recursive halving, then doubling. The nearest partner comes first, so that
 * every element is summed along the canonical tree.
 *   rounds 2 log2 P (+ 4 at most)   bytes sent per rank 2n(P-1)/P   any P
 *   canonical
 *
 *   P = 4, halving:    0 <-> 1, 2 <-> 3 swap halves, then 0 <-> 2, 1 <-> 3 quarters;
 *                      rank r then owns the sum of quarter number bit-reversed(r)
 *          doubling:   the same swaps in reverse order, now of sums
 *   Other P: ranks form blocks of powers of two (pattern/blocks.h). Each block halves
 *   inside, then smaller blocks send their parts to larger ones; the ranks of the
 *   largest block own the sums.
 *   Uneven lanes: forest.c, which cuts each sum over all ranks that have lanes of it. */
#include "comm/algo/cost.h"
#include "comm/algo/forest.h"
#include "comm/pattern/blocks.h"

/* This rank's place in the pattern. */
typedef struct place {
    fire_blocks_t b;    /* its block and the neighbouring ones */
    int           v;    /* position inside the block */
    fire_span_t   mine; /* the span it ends with after halving */
} place_t;

/* The span that position v of a block holds after `steps` halvings. */
static fire_span_t piece(const fire_coll_t *c, int v, int steps)
{
    return fire_block_piece(c->span, v, steps, c->grain);
}

/* Messages with the ranks of the next larger block, which own parts of this rank's
 * span. */
static fire_status_t with_larger(const fire_coll_t *c, const place_t *p, int round,
                                 fire_step_kind_t kind, fire_sched_t *out)
{
    if (p->b.larger.bits < 0) return FIRE_OK;
    for (int w = p->v; w < 1 << p->b.larger.bits; w += 1 << p->b.mine.bits)
        FIRE_TRY(fire_sched_add(out, c, round, kind, p->b.larger.first + w,
                                piece(c, w, p->b.larger.bits)));
    return FIRE_OK;
}

/* The message with the one rank of the next smaller block whose span contains this
 * rank's. */
static fire_status_t with_smaller(const fire_coll_t *c, const place_t *p, int round,
                                  fire_step_kind_t kind, fire_sched_t *out)
{
    int w = p->v & ((1 << p->b.smaller.bits) - 1);

    return fire_sched_add(out, c, round, kind, p->b.smaller.first + w, p->mine);
}

/* Swap halves with the partner at distance 2^d. Halving: send what the partner keeps
 * and add what arrives for us; doubling: send our sum and receive the partner's. */
static fire_status_t swap(const fire_coll_t *c, const place_t *p, int d, int round,
                          bool halve, fire_sched_t *out)
{
    int         other = p->v ^ 1 << d;
    fire_span_t keep = piece(c, p->v, d + 1), give = piece(c, other, d + 1);

    FIRE_TRY(fire_sched_add(out, c, round, FIRE_SEND, p->b.mine.first + other,
                            halve ? give : keep));
    return fire_sched_add(out, c, round, halve ? FIRE_RECV_ADD : FIRE_RECV,
                          p->b.mine.first + other, halve ? keep : give);
}

/* Reduce-scatter: halve inside the block, add what smaller blocks send, send the result
 * to the larger block. */
static fire_status_t scatter(const fire_coll_t *c, const place_t *p, int *round,
                             fire_sched_t *out)
{
    for (int d = 0; d < p->b.mine.bits; d++)
        FIRE_TRY(swap(c, p, d, (*round)++, true, out));
    if (p->b.smaller.bits >= 0)
        FIRE_TRY(with_smaller(c, p, (*round)++, FIRE_RECV_ADD, out));
    FIRE_TRY(with_larger(c, p, *round, FIRE_SEND, out));
    if (p->b.larger.bits < 0)
        FIRE_TRY(fire_sched_add(out, c, *round, FIRE_FINAL, c->rank, p->mine));
    (*round)++;
    return FIRE_OK;
}

/* Allgather: the same way back. */
static fire_status_t gather(const fire_coll_t *c, const place_t *p, int round,
                            fire_sched_t *out)
{
    FIRE_TRY(with_larger(c, p, round++, FIRE_RECV, out));
    if (p->b.smaller.bits >= 0) FIRE_TRY(with_smaller(c, p, round, FIRE_SEND, out));
    for (int d = p->b.mine.bits - 1; d >= 0; d--)
        FIRE_TRY(swap(c, p, d, round++, false, out));
    return FIRE_OK;
}

static fire_status_t rhd_plan(const fire_coll_t *c, fire_sched_t *out)
{
    place_t p     = {.b = fire_blocks(c->rank, c->size)};
    int     round = 0;

    if (c->lane != NULL) return fire_plan_forest(c, FIRE_FOREST_SPREAD, out);
    p.v      = c->rank - p.b.mine.first;
    p.mine   = piece(c, p.v, p.b.mine.bits);
    out->own = p.b.larger.bits < 0 ? p.mine : (fire_span_t){c->span.off, 0};
    if (c->op != FIRE_ALLGATHER) FIRE_TRY(scatter(c, &p, &round, out));
    if (c->op == FIRE_REDUCE_SCATTER) return FIRE_OK;
    return gather(c, &p, round, out);
}

/* Messages get shorter from round to round, from 1/2 to 1/P of a chain. Chains are cut
 * so that the middle one has the wanted length. */
static int rhd_parts(int size)
{
    return 1 << (fire_log2_up(size) + 1) / 2;
}

static double rhd_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    int         bits  = fire_blocks(0, c->size).mine.bits;
    fire_cost_t whole = fire_cost_of(c, m, 1), k = fire_cost_of(c, m, 1 << bits);
    double      fixed = fire_coll_on_one_node(c) ? m->node.alpha : m->net.alpha;
    double      fold  = c->size == 1 << bits ? 0 : 2 * k.message + k.add;
    double      bytes = 1.0 - 1.0 / (1 << bits); /* fraction of the buffer, each way */

    if (c->lane != NULL)
        return fire_forest_cost(c, FIRE_FOREST_SPREAD, m, rhd_parts(c->size));
    return k.chains * (2 * bits * fixed + fold) +
           whole.chains * bytes * (2 * (whole.message - fixed) + whole.add);
}

const fire_algo_t fire_algo_rhd = {
    .name   = "rhd",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_CANONICAL,
    .ops    = 1 << FIRE_ALLREDUCE | 1 << FIRE_REDUCE_SCATTER | 1 << FIRE_ALLGATHER,
    .chains = 40,
    .parts  = rhd_parts,
    .plan   = rhd_plan,
    .cost   = rhd_cost,
};
