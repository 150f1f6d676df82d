/* hier.c - hierarchical: sum inside each node, then between the nodes' first ranks (the
 * leaders), then copy inside each node. What crosses the network does not grow with the
 * number of ranks per node.
 *   inside    a tree, or direct access to each other's buffers where that is possible
 *   between   the algorithm c->outer (rhd)
 *   canonical if nodes hold aligned power-of-two blocks of ranks          */
#include <math.h>

#include "base/alloc.h"
#include "comm/algo/cost.h"
#include "comm/algo/direct.h"
#include "comm/algo/forest.h"

extern const fire_algo_t fire_algo_tree, fire_algo_rhd;

/* Two groups of ranks, for fire_coll_t.group. */
typedef struct nodes {
    int *member, nmember; /* ranks of this rank's node */
    int  me;              /* position of this rank in member */
    int *leader, nleader; /* first ranks of all nodes */
} nodes_t;

static int node_of(const fire_coll_t *c, int position)
{
    int rank = fire_coll_rank(c, position);

    return c->node != NULL ? c->node[rank] : rank;
}

/* Is it the first one of its node? Searches backward: ranks of a node are mostly
 * neighbours. */
static bool leads(const fire_coll_t *c, int position)
{
    for (int i = position - 1; i >= 0; i--)
        if (node_of(c, i) == node_of(c, position)) return false;
    return true;
}

static fire_status_t find_nodes(const fire_coll_t *c, nodes_t *n)
{
    int mine = node_of(c, c->rank), most = -1;

    FIRE_TRY(FIRE_NEW(&n->member, 2 * c->size));
    n->leader = n->member + c->size;
    for (int i = 0; i < c->size; i++) {
        if (i == c->rank) n->me = n->nmember;
        if (node_of(c, i) == mine) n->member[n->nmember++] = fire_coll_rank(c, i);
        if (node_of(c, i) > most || leads(c, i)) /* a higher number is a new node */
            n->leader[n->nleader++] = fire_coll_rank(c, i);
        if (node_of(c, i) > most) most = node_of(c, i);
    }
    return FIRE_OK;
}

/* The request for one operation among the ranks of this node. */
static fire_coll_t inside(const fire_coll_t *c, const nodes_t *n, fire_coll_op_t op)
{
    fire_coll_t in = *c;

    in.op      = op;
    in.group   = n->member;
    in.rank    = n->me;
    in.size    = n->nmember;
    in.root    = 0;
    in.partial = true;
    return in;
}

/* Append the allreduce among leaders. */
static fire_status_t between(const fire_coll_t *c, const nodes_t *n, fire_sched_t *out)
{
    const fire_algo_t *algo = c->outer != NULL ? c->outer : &fire_algo_rhd;
    fire_coll_t        net  = *c;

    net.group = n->leader;
    net.size  = n->nleader;
    net.root  = 0;
    net.round = out->rounds;
    net.rank  = 0;
    while (n->leader[net.rank] != n->member[0])
        net.rank++;
    return algo->plan(&net, out);
}

static fire_status_t plan_with(const fire_coll_t *c, const nodes_t *n,
                               fire_sched_t *out)
{
    fire_coll_t in = inside(c, n, FIRE_ALLREDUCE);

    if (c->lend) {
        FIRE_TRY(fire_plan_lend(&in, out));
    } else {
        in.op = FIRE_REDUCE;
        FIRE_TRY(fire_algo_tree.plan(&in, out));
    }
    if (c->lend && n->nleader == 1) return FIRE_OK; /* all ranks have the sum */
    if (n->me == 0) FIRE_TRY(between(c, n, out));
    in       = inside(c, n, FIRE_BROADCAST);
    in.round = out->rounds;
    return fire_algo_tree.plan(&in, out);
}

/* With uneven lanes the sum of a node is several ones, with several ranks. */
static fire_forest_t forest_of(const fire_coll_t *c)
{
    return c->outer == &fire_algo_tree ? FIRE_FOREST_ONE : FIRE_FOREST_BY_NODE;
}

static fire_status_t hier_plan(const fire_coll_t *c, fire_sched_t *out)
{
    nodes_t       n = {0};
    fire_status_t st;

    if (c->lane != NULL && !(c->lend && fire_coll_on_one_node(c)))
        return fire_plan_forest(c, forest_of(c), out);
    FIRE_TRY(find_nodes(c, &n));
    st = plan_with(c, &n, out);
    fire_free(n.member);
    return st;
}

static double hier_cost(const fire_coll_t *c, const fire_machine_t *m)
{
    const fire_algo_t *algo = c->outer != NULL ? c->outer : &fire_algo_rhd;
    fire_machine_t     node = {m->node, m->node};
    fire_coll_t        in = *c, net = *c;

    net.size = 0;
    for (int i = 0; i < c->size; i++)
        net.size += leads(c, i);
    if (net.size == c->size) return INFINITY; /* a rank per node: the same as outer */
    if (c->lane != NULL) return fire_forest_cost(c, forest_of(c), m, 1);
    in.size  = (c->size + net.size - 1) / net.size;
    in.node  = NULL;
    net.node = NULL;
    return fire_algo_tree.cost(&in, &node) + algo->cost(&net, m);
}

const fire_algo_t fire_algo_hier = {
    .name   = "hier",
    .flags  = FIRE_ALGO_DETERMINISTIC | FIRE_ALGO_CANONICAL | FIRE_ALGO_BY_NODE,
    .ops    = 1 << FIRE_ALLREDUCE,
    .chains = 40,
    .plan   = hier_plan,
    .cost   = hier_cost,
};
