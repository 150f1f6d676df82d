/* rhd.c - recursive halving, then doubling; the nearest partner comes first, so
 * that every element is summed along the canonical tree.
 *   rounds 2 log2 P (+ 4 at most)   bytes sent per rank 2n(P-1)/P   any P
 *   canonical
 *
 *   P = 4, halving:   0 <-> 1, 2 <-> 3 swap halves, then 0 <-> 2, 1 <-> 3
 *                     quarters; rank r owns the quarter at bit-reversed r.
 *   Other P: blocks of powers of two, folded into each other (blocks.h); the
 *   ranks of the largest block own the pieces.                            */
#include "comm/algo/cost.h"
#include "comm/pattern/blocks.h"

typedef struct place {
    fire_blocks_t b;
    int           v;    /* position inside the block */
    fire_span_t   mine; /* the piece this rank ends with */
} place_t;

static fire_span_t piece(const fire_coll_t *c, int v, int steps)
{
    return fire_block_piece(c->span, v, steps, c->grain);
}

/* Between a rank and the ranks of the next larger block that own parts of its
 * piece. */
static fire_status_t with_larger(const fire_coll_t *c, const place_t *p, int round,
                                 fire_step_kind_t kind, fire_sched_t *out)
{
    if (p->b.larger.bits < 0) return FIRE_OK;
    for (int w = p->v; w < 1 << p->b.larger.bits; w += 1 << p->b.mine.bits)
        FIRE_TRY(fire_sched_add(out, c, round, kind, p->b.larger.first + w,
                                piece(c, w, p->b.larger.bits)));
    return FIRE_OK;
}

static fire_status_t with_smaller(const fire_coll_t *c, const place_t *p, int round,
                                  fire_step_kind_t kind, fire_sched_t *out)
{
    int w = p->v & ((1 << p->b.smaller.bits) - 1);

    return fire_sched_add(out, c, round, kind, p->b.smaller.first + w, p->mine);
}

/* Swap with the partner at distance 2^d: what it keeps against what stays here. */
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

    p.v      = c->rank - p.b.mine.first;
    p.mine   = piece(c, p.v, p.b.mine.bits);
    out->own = p.b.larger.bits < 0 ? p.mine : (fire_span_t){c->span.off, 0};
    if (c->op != FIRE_ALLGATHER) FIRE_TRY(scatter(c, &p, &round, out));
    if (c->op == FIRE_REDUCE_SCATTER) return FIRE_OK;
    return gather(c, &p, round, out);
}

/* Messages are from a half to 1/P of a chain; the middle one has piece length. */
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
    double      bytes = 1.0 - 1.0 / (1 << bits); /* of the whole, each way */

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
