/* sched.c - cuts a collective into chains and lets the algorithm plan each. */
#include "comm/sched.h"

#include "base/alloc.h"
#include "comm/algo/cost.h"
#include "comm/pattern/roots.h"

enum { NATIVE_MOST = 1 << 30 }; /* elements: a library counts them in an int */

fire_status_t fire_sched_add(fire_sched_t *s, const fire_coll_t *c, int round,
                             fire_step_kind_t kind, int peer, fire_span_t span)
{
    return fire_sched_add_slot(s, c, round, kind, peer, 0, span);
}

static bool peer_is_rank(fire_step_kind_t kind)
{
    return kind != FIRE_SUM && kind != FIRE_MERGE;
}

fire_status_t fire_sched_add_slot(fire_sched_t *s, const fire_coll_t *c, int round,
                                  fire_step_kind_t kind, int peer, int slot,
                                  fire_span_t span)
{
    fire_step_t step = {kind, c->color, c->chunk, c->round + round, peer, slot, span};

    /* Count the round of an empty message too: the number of rounds must not depend on
     * the chunk's length, or ranks would disagree about it. */
    if (step.round >= s->rounds) s->rounds = step.round + 1;
    if (span.len == 0 || (kind == FIRE_FINAL && c->partial)) return FIRE_OK;
    if (peer_is_rank(kind)) step.peer = fire_coll_rank(c, peer);
    FIRE_TRY(fire_grow(&s->step, &s->cap, s->n + 1, sizeof(*s->step)));
    s->step[s->n++] = step;
    return FIRE_OK;
}

/* Reduce-scatter and allgather are never cut into chunks or colors: a rank's own span
 * must be contiguous. */
static bool in_chunks(fire_coll_op_t op)
{
    return op != FIRE_REDUCE_SCATTER && op != FIRE_ALLGATHER;
}

static int64_t chunk_count(const fire_algo_t *algo, const fire_coll_t *c, size_t len)
{
    size_t most = c->piece * (size_t)(algo->parts != NULL ? algo->parts(c->size) : 1);

    if (algo->flags & FIRE_ALGO_NATIVE) most = NATIVE_MOST;
    if (most == 0 || !in_chunks(c->op) || len == 0) return 1;
    return (int64_t)((len + most - 1) / most);
}

/* Chains of a block: enough to fill the pipeline, and to keep others busy while a rank
 * loses its core for a moment. Where several ranks send to one over a network, messages
 * of chains that have begun wait in the buffer of that rank's switch port and packets
 * are lost when it is full: such algorithms set `begun`. */
static int chains_per_block(const fire_algo_t *algo, const fire_coll_t *c)
{
    int levels = fire_log2_up(c->size);

    if (algo->begun != NULL && !fire_coll_on_one_node(c)) return algo->begun(c->size);
    return 4 * (levels < 2 ? 2 : levels);
}

/* The roots of all ranks, which are the operands of a SUM. */
static fire_status_t find_operands(fire_sched_t *s, const fire_coll_t *c)
{
    fire_root_t root[FIRE_MAX_ROOTS];
    int         lanes = c->lane[c->size], most = 2 * c->size * FIRE_MAX_ROOTS;

    fire_free(s->operand);
    s->noperand = 0;
    FIRE_TRY(FIRE_NEW(&s->operand, most < lanes ? most + 1 : lanes + 1));
    for (int r = 0; r < c->size; r++) {
        int n = fire_roots(c->lane[r], c->lane[r + 1], lanes, root);

        for (int i = 0; i < n; i++)
            s->operand[s->noperand++] = root[i].first;
        if (r == c->rank) s->slots = n;
    }
    s->operand[s->noperand] = lanes;
    return FIRE_OK;
}

/* Chunk 0 is the end of the buffer: backward wrote it last, so caches still hold it. */
fire_status_t fire_sched_plan(fire_sched_t *s, const fire_algo_t *algo,
                              const fire_coll_t *c)
{
    int ncolor = algo->flags & FIRE_ALGO_COLORS && in_chunks(c->op) ? c->ncolor : 1;

    if (!(algo->ops & 1u << c->op))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "algorithm %s cannot do collective operation %d", algo->name,
                         (int)c->op);
    s->n         = 0;
    s->slots     = 1;
    s->per_block = chains_per_block(algo, c);
    if (ncolor > c->size) ncolor = c->size;
    if (c->lane != NULL) FIRE_TRY(find_operands(s, c));
    for (int color = 0; color < ncolor; color++) {
        fire_span_t all    = fire_span_part(c->span, color, ncolor, c->grain);
        int64_t     nchunk = chunk_count(algo, c, all.len);

        for (int64_t k = 0; k < nchunk; k++) {
            fire_coll_t chain = *c;

            chain.ncolor = ncolor;
            chain.color  = color;
            chain.chunk  = (int)k;
            chain.span   = fire_span_part(all, nchunk - 1 - k, nchunk, c->grain);
            s->rounds    = chain.round;
            FIRE_TRY(algo->plan(&chain, s));
        }
    }
    return FIRE_OK;
}

void fire_sched_fini(fire_sched_t *s)
{
    fire_free(s->step);
    fire_free(s->operand);
    *s = (fire_sched_t){0};
}
