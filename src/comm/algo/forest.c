/* forest.c - the canonical sum over lanes of which each rank holds any run.
 *
 * A rank begins with the sums of its roots (pattern/roots.h). Above the roots, level by
 * level, each node of the tree is the sum of its two children:
 *
 *   8 lanes, 3 ranks     rank 0: [0 1] [2]   rank 1: [3] [4 5]   rank 2: [6 7]
 *   level 1              [2] + [3]
 *   level 2              [0 1] + [2 3]       [4 5] + [6 7]
 *   level 3              [0 .. 3] + [4 .. 7]
 *
 * A sum is cut into equal parts over its holders, some or all of the ranks that have
 * lanes of it. Holders of the two children become those of their parent, left ones and
 * right ones in turns, so that most elements are added by a rank that has one of both
 * operands already. Each level has two rounds:
 *
 *   0   to the ranks that hold a part of the same child: what is newly theirs of it
 *   1   to the ranks that hold a part of the other child: added to theirs
 *
 * In the end all holders of the tree gather, ceil(log2 of their number) rounds, and
 * those that hold nothing get a copy. A rank that held parts of both children keeps the
 * array of the right one, so the last sum is in slot 0. */
#include "comm/algo/forest.h"

#include <math.h>

#include "base/alloc.h"
#include "comm/algo/cost.h"
#include "comm/pattern/roots.h"

extern const fire_algo_t fire_algo_tree;

/* One that has a part of a sum, in array `slot`. */
typedef struct holder {
    int  rank, slot;
    bool right; /* while two children are added: it held a part of the right one */
} holder_t;

/* The sum of a subtree that begins at `lane`: part i of n is with holder[first + i]. */
typedef struct sum {
    int lane, first, n;
    int child; /* the left one, in the level below; -1: nothing was added */
} sum_t;

/* The sums of one level. */
typedef struct level {
    sum_t    *sum;
    holder_t *holder;
    int       nsum, nholder;
} level_t;

/* What one rank sends, receives and adds in a round, in elements: for prices. */
typedef struct load {
    double sent, got, added;
} load_t;

typedef struct forest {
    const fire_coll_t *c;
    fire_forest_t      rule;
    fire_sched_t      *out;  /* NULL: add up prices instead */
    load_t            *load; /* [size] of this round; with prices */
    fire_link_t        link; /* likewise */
    double             chains, seconds;
    level_t            now, up;
    int                round;
} forest_t;

/* ---- holders ---- */

/* Two lists in turns, evenly. Holders keep their order. */
static int interleave(const holder_t *a, int na, const holder_t *b, int nb,
                      holder_t *to)
{
    int i = 0, j = 0;

    while (i < na || j < nb) {
        bool left = j == nb ||
                    (i < na && (int64_t)(2 * i + 1) * nb <= (int64_t)(2 * j + 1) * na);

        to[i + j]       = left ? a[i] : b[j];
        to[i + j].right = !left;
        *(left ? &i : &j) += 1;
    }
    return i + j;
}

/* Only the rank whose run goes from the left child into the right one can hold parts of
 * both. It is the last one of the left child's ranks, but its place is anywhere. */
static bool find_shared(const holder_t *a, int na, const holder_t *b, int nb, int *x_p,
                        int *y_p)
{
    int most = -1, least = -1;

    for (int i = 0; i < na; i++)
        if (most < 0 || a[i].rank > a[most].rank) most = i;
    for (int j = 0; j < nb; j++)
        if (least < 0 || b[j].rank < b[least].rank) least = j;
    *x_p = most;
    *y_p = least;
    return a[most].rank == b[least].rank;
}

static bool is_single(const forest_t *f, const holder_t *a, int na, const holder_t *b,
                      int nb)
{
    const int *node = f->c->node;

    if (f->rule != FIRE_FOREST_BY_NODE) return f->rule == FIRE_FOREST_ONE;
    return na == 1 && nb == 1 && node != NULL && node[a->rank] == node[b->rank];
}

/* The holders of the sum of two children; returns how many. */
static int join(const forest_t *f, const holder_t *a, int na, const holder_t *b, int nb,
                holder_t *to)
{
    int  x, y, n;
    bool shared = find_shared(a, na, b, nb, &x, &y);

    if (is_single(f, a, na, b, nb)) {
        to[0]       = shared ? b[y] : a[0];
        to[0].right = shared;
        return 1;
    }
    if (!shared) return interleave(a, na, b, nb, to);
    n           = interleave(a, x, b, y, to);
    to[n]       = b[y];
    to[n].right = true;
    n++;
    return n + interleave(a + x + 1, na - x - 1, b + y + 1, nb - y - 1, to + n);
}

/* The level above `now`: neighbours that are children of one node at level k + 1 become
 * one sum. Returns whether there are some. */
static bool climb(forest_t *f, int k)
{
    const level_t *now  = &f->now;
    level_t       *up   = &f->up;
    bool           some = false;

    up->nsum = up->nholder = 0;
    for (int i = 0; i < now->nsum; i++) {
        const sum_t    *a = &now->sum[i], *b = a + 1;
        sum_t          *s = &up->sum[up->nsum++];
        const holder_t *h = now->holder;

        *s = (sum_t){a->lane, up->nholder, a->n, -1};
        if (i + 1 < now->nsum && a->lane >> (k + 1) == b->lane >> (k + 1)) {
            s->child = i++;
            s->n =
                join(f, h + a->first, a->n, h + b->first, b->n, up->holder + s->first);
            some = true;
        } else {
            for (int v = 0; v < s->n; v++)
                up->holder[s->first + v] = h[a->first + v];
        }
        up->nholder += s->n;
    }
    return some;
}

/* ---- messages ---- */

static fire_span_t part(const forest_t *f, int i, int n)
{
    return fire_span_part(f->c->span, i, n, f->c->grain);
}

static fire_span_t common(fire_span_t a, fire_span_t b)
{
    size_t lo = a.off > b.off ? a.off : b.off;
    size_t hi = a.off + a.len < b.off + b.len ? a.off + a.len : b.off + b.len;

    return (fire_span_t){lo, hi > lo ? hi - lo : 0};
}

/* A span of the sum that `from` holds goes to `to`, or is there. */
static fire_status_t hand(forest_t *f, const holder_t *from, const holder_t *to,
                          bool add, fire_span_t span)
{
    const fire_coll_t *c = f->c;

    if (f->load != NULL) {
        if (from->rank != to->rank) f->load[from->rank].sent += (double)span.len;
        if (from->rank != to->rank) f->load[to->rank].got += (double)span.len;
        if (add) f->load[to->rank].added += (double)span.len;
        return FIRE_OK;
    }
    if (from->rank == to->rank)
        return add && c->rank == to->rank
                   ? fire_sched_add_slot(f->out, c, f->round, FIRE_MERGE, from->slot,
                                         to->slot, span)
                   : FIRE_OK;
    if (c->rank == from->rank)
        return fire_sched_add_slot(f->out, c, f->round, FIRE_SEND, to->rank, from->slot,
                                   span);
    if (c->rank == to->rank)
        return fire_sched_add_slot(f->out, c, f->round, add ? FIRE_RECV_ADD : FIRE_RECV,
                                   from->rank, to->slot, span);
    return FIRE_OK;
}

/* The part of each holder of the sum s, from the child that it held (round 0) or from
 * the other one (round 1, added). Parts of sums are in order, so `x` only moves on. */
static fire_status_t hand_on(forest_t *f, const sum_t *s, bool add)
{
    int x[2] = {0, 0};

    for (int o = 0; o < s->n; o++) {
        const holder_t *to   = &f->up.holder[s->first + o];
        bool            side = to->right != add; /* true: the right child */
        const sum_t    *from = &f->now.sum[s->child + side];
        fire_span_t     mine = part(f, o, s->n);
        int            *k    = &x[side];

        while (*k < from->n - 1 &&
               part(f, *k, from->n).off + part(f, *k, from->n).len <= mine.off)
            ++*k;
        for (int i = *k; i < from->n; i++) {
            fire_span_t theirs = part(f, i, from->n), both = common(theirs, mine);

            if (both.len > 0)
                FIRE_TRY(hand(f, &f->now.holder[from->first + i], to, add, both));
            if (theirs.off + theirs.len >= mine.off + mine.len) break;
        }
    }
    return FIRE_OK;
}

/* The round is planned: the busiest rank says how long it takes. */
static void end_round(forest_t *f)
{
    double most = 0;

    f->round++;
    if (f->load == NULL) return;
    for (int r = 0; r < f->c->size; r++) {
        load_t *l     = &f->load[r];
        double  moved = l->sent > l->got ? l->sent : l->got;
        double  time  = (moved > 0 ? f->chains * f->link.alpha : 0) +
                      sizeof(float) * (moved * f->link.beta + l->added * f->link.gamma);

        if (time > most) most = time;
        *l = (load_t){0};
    }
    f->seconds += most;
}

/* Make all sums of the tree. `silent`: only find out who holds what then. */
static fire_status_t add_up(forest_t *f, bool silent)
{
    for (int k = 0; f->now.nsum > 1; k++) {
        level_t swap;
        bool    some = climb(f, k);

        for (int add = 0; add < 2 && some && !silent; add++) {
            for (int i = 0; i < f->up.nsum; i++)
                if (f->up.sum[i].child >= 0)
                    FIRE_TRY(hand_on(f, &f->up.sum[i], add == 1));
            end_round(f);
        }
        swap   = f->now;
        f->now = f->up;
        f->up  = swap;
    }
    return FIRE_OK;
}

/* ---- the sum to all ---- */

static int place_of(const forest_t *f, int rank)
{
    for (int v = 0; v < f->now.nholder; v++)
        if (f->now.holder[v].rank == rank) return v;
    return -1;
}

/* Parts first ... first + n - 1 in a circle: one or two spans. */
static fire_status_t pass_parts(forest_t *f, fire_step_kind_t kind, int holder,
                                int first, int n)
{
    int all = f->now.nholder, peer;

    holder %= all;
    first %= all;
    peer = f->now.holder[holder].rank;
    for (int k = 0; k < 2; k++) {
        int         end = first + n < all ? first + n : all;
        fire_span_t lo = part(f, first, all), hi = part(f, end - 1, all);

        FIRE_TRY(fire_sched_add(f->out, f->c, f->round, kind, peer,
                                (fire_span_t){lo.off, hi.off + hi.len - lo.off}));
        n -= end - first;
        first = 0;
        if (n == 0) break;
    }
    return FIRE_OK;
}

/* In round d, holder v has the parts v ... v + 2^d - 1, sends them to v - 2^d and gets
 * as many from v + 2^d. */
static fire_status_t gather(forest_t *f)
{
    int all = f->now.nholder, v = place_of(f, f->c->rank);

    for (int d = 1; d < all; d *= 2, f->round++) {
        int n = d < all - d ? d : all - d;

        if (v < 0) continue;
        FIRE_TRY(pass_parts(f, FIRE_SEND, v - d + all, v, n));
        FIRE_TRY(pass_parts(f, FIRE_RECV, v + d, v + d, n));
    }
    return FIRE_OK;
}

/* Does the sum get to rank `a` by the holders near rank `b`? */
static bool are_near(const forest_t *f, int a, int b)
{
    const int *node = f->c->node;

    return f->rule == FIRE_FOREST_ONE || a == b ||
           (f->rule == FIRE_FOREST_BY_NODE && node != NULL && node[a] == node[b]);
}

/* The first holder near this rank copies it to those that hold nothing. */
static fire_status_t copy(forest_t *f, int *list)
{
    fire_coll_t c  = *f->c;
    int         me = -1, n = 0;

    for (int v = 0; v < f->now.nholder && n == 0; v++)
        if (are_near(f, f->now.holder[v].rank, c.rank))
            list[n++] = f->now.holder[v].rank;
    for (int r = 0; r < c.size; r++)
        if (are_near(f, r, c.rank) && place_of(f, r) < 0) list[n++] = r;
    for (int i = 0; i < n; i++)
        if (list[i] == c.rank) me = i;
    if (me < 0 || n == 1) return FIRE_OK;
    c.op    = FIRE_BROADCAST;
    c.group = list;
    c.lane  = NULL;
    c.rank  = me;
    c.size  = n;
    c.root  = 0;
    c.round += f->round;
    return fire_algo_tree.plan(&c, f->out);
}

/* ---- planning ---- */

static fire_status_t plan(forest_t *f)
{
    const fire_coll_t *c = f->c;
    int                v, *list;
    fire_status_t      st;

    FIRE_TRY(add_up(f, c->op == FIRE_ALLGATHER));
    v           = place_of(f, c->rank);
    f->out->own = v >= 0 ? part(f, v, f->now.nholder) : (fire_span_t){c->span.off, 0};
    if (c->op == FIRE_REDUCE_SCATTER) return FIRE_OK;
    FIRE_TRY(gather(f));
    if (c->op == FIRE_ALLGATHER) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&list, c->size + 1));
    st = copy(f, list);
    fire_free(list);
    return st;
}

static void add_root(forest_t *f, int lane, int rank, int slot)
{
    level_t *l = &f->now;

    l->holder[l->nholder] = (holder_t){.rank = rank, .slot = slot};
    l->sum[l->nsum++]     = (sum_t){lane, l->nholder++, 1, -1};
}

/* The roots of all ranks, from left to right. */
static fire_status_t begin(forest_t *f)
{
    const int  *lane = f->c->lane;
    int         size = f->c->size, most = 0;
    fire_root_t root[FIRE_MAX_ROOTS];

    for (int r = 0; r < size; r++)
        most += fire_roots(lane[r], lane[r + 1], lane[size], root);
    FIRE_TRY(FIRE_NEW(&f->now.sum, most));
    FIRE_TRY(FIRE_NEW(&f->up.sum, most));
    FIRE_TRY(FIRE_NEW(&f->now.holder, most));
    FIRE_TRY(FIRE_NEW(&f->up.holder, most));
    for (int r = 0; r < size; r++) {
        int n = fire_roots(lane[r], lane[r + 1], lane[size], root);

        for (int i = 0; i < n; i++)
            add_root(f, root[i].first, r, fire_root_slot(i, n));
    }
    return FIRE_OK;
}

static void end(forest_t *f)
{
    fire_free(f->now.sum);
    fire_free(f->up.sum);
    fire_free(f->now.holder);
    fire_free(f->up.holder);
    fire_free(f->load);
}

fire_status_t fire_plan_forest(const fire_coll_t *c, fire_forest_t rule,
                               fire_sched_t *out)
{
    forest_t      f  = {.c = c, .rule = rule, .out = out};
    fire_status_t st = begin(&f);

    if (st >= 0) st = plan(&f);
    end(&f);
    return st;
}

/* ---- prices ---- */

/* Up as planned; then all holders gather, or a tree copies while other chains are still
 * on their way up. */
static fire_status_t price(forest_t *f)
{
    double bytes = (double)f->c->span.len * sizeof(float), n;

    FIRE_TRY(begin(f));
    FIRE_TRY(FIRE_NEW(&f->load, f->c->size));
    FIRE_TRY(add_up(f, false));
    n = f->now.nholder;
    f->seconds += fire_log2_up((int)n) * f->chains * f->link.alpha +
                  (1 - 1 / n) * bytes * f->link.beta;
    if (n < f->c->size)
        f->seconds += fire_log2_up(f->c->size) * f->chains * f->link.alpha;
    return FIRE_OK;
}

double fire_forest_cost(const fire_coll_t *c, fire_forest_t rule,
                        const fire_machine_t *m, int parts)
{
    forest_t f = {.c      = c,
                  .rule   = rule,
                  .link   = fire_coll_on_one_node(c) ? m->node : m->net,
                  .chains = fire_cost_of(c, m, parts).chains};
    double   s = price(&f) < 0 ? INFINITY : f.seconds;

    end(&f);
    return s;
}
