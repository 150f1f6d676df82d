/* multicolor.c - the buffer is cut into k colors. Each color has a tree of its own, up
 * which it is summed and down which the sum is sent; the interior ranks of the trees
 * are disjoint (pattern/heap.h), so that all ranks share the work of adding.
 *   messages per rank and chain about 2k   bytes sent per rank about 2n
 *   any P, any k   order fixed, not canonical */
#include "comm/algo/cost.h"
#include "comm/pattern/heap.h"

/* One child per round: additions to the same span must follow each other. */
static fire_status_t multicolor_plan(const fire_coll_t *c, fire_sched_t *out)
{
    fire_heap_t h        = fire_heap(c->rank, c->size, c->color, c->ncolor);
    int         parent   = fire_heap_parent(&h);
    int         children = fire_heap_children(&h), turn = h.arity;

    for (int i = 0; i < children; i++)
        FIRE_TRY(
            fire_sched_add(out, c, i, FIRE_RECV_ADD, fire_heap_child(&h, i), c->span));
    if (parent < 0) {
        FIRE_TRY(fire_sched_add(out, c, turn, FIRE_FINAL, c->rank, c->span));
    } else {
        FIRE_TRY(fire_sched_add(out, c, turn, FIRE_SEND, parent, c->span));
        FIRE_TRY(fire_sched_add(out, c, turn + 1, FIRE_RECV, parent, c->span));
    }
    for (int i = 0; i < children; i++)
        FIRE_TRY(fire_sched_add(out, c, turn + 2, FIRE_SEND, fire_heap_child(&h, i),
                                c->span));
    return FIRE_OK;
}

static double multicolor_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    int         ncolor = c->ncolor < c->size ? c->ncolor : c->size;
    fire_heap_t h      = fire_heap(0, c->size, 0, ncolor);
    fire_cost_t k      = fire_cost_of(c, m, ncolor);
    double      fill   = 2 * fire_heap_depth(&h) * h.arity * (k.message + k.add);

    /* Each rank is an interior rank for one color and a leaf for the others. */
    return fill + (k.chains - 1) * ((h.arity + ncolor) * k.message + h.arity * k.add);
}

const fire_algo_t fire_algo_multicolor = {
    .name   = "multicolor",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_COLORS,
    .ops    = 1 << FIRE_ALLREDUCE,
    .chains = 128,
    .plan   = multicolor_plan,
    .cost   = multicolor_cost,
};
