#include "proof.h"

#include <stdarg.h>
#include <stdlib.h>

#include "comm/exec/exec_state.h"
#include "test.h"

/* A value is a leaf (rank r's contribution is number r) or a sum of two others. */
typedef struct value {
    uint64_t leaves;
    int      left, right;
} value_t;

enum { MAX_VALUES = 1 << 14 };

typedef struct chain {
    int64_t first, end, next;
    int     round, left, holds;
    int64_t sum;
} chain_t;

typedef struct message { /* one line of a channel: where it starts and ends */
    int     from, to, color, block, round, chunk;
    int64_t step;
} message_t;

typedef struct world {
    const fire_sched_t *sched;
    const fire_coll_t  *c;
    value_t             value[MAX_VALUES];
    int                 nvalue;
    size_t             *cut; /* segment k is [cut[k], cut[k+1]) */
    int                 ncut;
    int                *at[PROOF_RANKS]; /* [segment]: the value there */
    int       *held[PROOF_RANKS];        /* [step]: channel index of a HOLD's sender */
    chain_t   *chain[PROOF_RANKS];
    int       *chain_of[PROOF_RANKS];
    int        nchain[PROOF_RANKS];
    int        front[PROOF_RANKS][16]; /* by color: no chain before it lives */
    message_t *out, *in;
    int64_t    nout, nin, done;
    bool      *moved;
    char       why[256];
} world_t;

static const char *wrong(world_t *w, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(w->why, sizeof(w->why), format, ap);
    va_end(ap);
    return w->why;
}

static void *get(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);

    CHECK(p != NULL);
    return p;
}

void plan_all(const fire_algo_t *algo, const fire_coll_t *c, fire_sched_t *sched)
{
    for (int r = 0; r < c->size; r++) {
        fire_coll_t mine = *c;

        mine.rank = r;
        sched[r]  = (fire_sched_t){0};
        CHECK_OK(fire_sched_plan(&sched[r], algo, &mine));
    }
}

void unplan_all(int size, fire_sched_t *sched)
{
    for (int r = 0; r < size; r++)
        fire_sched_fini(&sched[r]);
}

/* ---- values ---- */

static int add(world_t *w, int a, int b)
{
    int lo = a < b ? a : b, hi = a < b ? b : a;

    if (a < 0 || b < 0 || w->value[a].leaves & w->value[b].leaves) return -1;
    for (int i = w->c->size; i < w->nvalue; i++)
        if (w->value[i].left == lo && w->value[i].right == hi) return i;
    CHECK(w->nvalue < MAX_VALUES);
    w->value[w->nvalue] = (value_t){w->value[a].leaves | w->value[b].leaves, lo, hi};
    return w->nvalue++;
}

/* The canonical sum of value[0..n). */
static int canonical(world_t *w, const int *value, int n)
{
    int half = 1;

    if (n == 1) return value[0];
    while (2 * half < n)
        half *= 2;
    return add(w, canonical(w, value, half), canonical(w, value + half, n - half));
}

/* ---- the cut points of all spans ---- */

static int compare_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return x < y ? -1 : x > y;
}

static void make_cuts(world_t *w)
{
    size_t total = 2;
    int    n     = 0;

    for (int r = 0; r < w->c->size; r++)
        total += 2 * (size_t)(w->sched[r].n + 1);
    w->cut            = get(total, sizeof(size_t));
    w->cut[w->ncut++] = w->c->span.off;
    w->cut[w->ncut++] = w->c->span.off + w->c->span.len;
    for (int r = 0; r < w->c->size; r++) {
        const fire_sched_t *s = &w->sched[r];

        w->cut[w->ncut++] = s->own.off;
        w->cut[w->ncut++] = s->own.off + s->own.len;
        for (int64_t i = 0; i < s->n; i++) {
            w->cut[w->ncut++] = s->step[i].span.off;
            w->cut[w->ncut++] = s->step[i].span.off + s->step[i].span.len;
        }
    }
    qsort(w->cut, (size_t)w->ncut, sizeof(size_t), compare_size);
    for (int i = 0; i < w->ncut; i++)
        if (i == 0 || w->cut[i] != w->cut[n - 1]) w->cut[n++] = w->cut[i];
    w->ncut = n;
}

static int segment(const world_t *w, size_t off)
{
    size_t *at = bsearch(&off, w->cut, (size_t)w->ncut, sizeof(size_t), compare_size);

    return (int)(at - w->cut);
}

#define FOR_SEGMENTS(w, k, span) \
    for (int k = segment((w), (span).off); (w)->cut[k] < (span).off + (span).len; k++)

/* ---- set-up ---- */

static void make_lanes(world_t *w, int r)
{
    const fire_sched_t *s = &w->sched[r];

    w->chain[r]    = get((size_t)s->n, sizeof(chain_t));
    w->chain_of[r] = get((size_t)s->n, sizeof(int));
    w->held[r]     = get((size_t)s->n, sizeof(int));
    for (int64_t i = 0; i < s->n; i++) {
        const fire_step_t *st = &s->step[i], *before = st - 1;

        if (i == 0 || before->color != st->color || before->chunk != st->chunk)
            w->chain[r][w->nchain[r]++] = (chain_t){.first = i, .next = i};
        w->chain[r][w->nchain[r] - 1].end = i + 1;
        w->chain_of[r][i]                 = w->nchain[r] - 1;
    }
}

static int compare_message(const void *a, const void *b)
{
    const message_t *x = a, *y = b;

    if (x->from != y->from) return x->from - y->from;
    if (x->to != y->to) return x->to - y->to;
    if (x->color != y->color) return x->color - y->color;
    if (x->block != y->block) return x->block - y->block;
    if (x->round != y->round) return x->round - y->round;
    if (x->chunk != y->chunk) return x->chunk - y->chunk;
    return x->step < y->step ? -1 : 1;
}

static int block_of(const world_t *w, const fire_step_t *st)
{
    return fire_sched_block(&w->sched[0], st->chunk);
}

static void make_messages(world_t *w)
{
    int64_t total = 0;

    for (int r = 0; r < w->c->size; r++)
        total += w->sched[r].n;
    w->out   = get((size_t)total, sizeof(message_t));
    w->in    = get((size_t)total, sizeof(message_t));
    w->moved = get((size_t)total, sizeof(bool));
    for (int r = 0; r < w->c->size; r++)
        for (int64_t i = 0; i < w->sched[r].n; i++) {
            const fire_step_t *st  = &w->sched[r].step[i];
            bool               out = fire_step_is_out(st->kind);
            message_t          m   = {r,         st->peer,  st->color, block_of(w, st),
                                      st->round, st->chunk, i};

            if (fire_step_is_local(st->kind)) continue;
            if (!out) m.from = st->peer, m.to = r;
            *(out ? &w->out[w->nout++] : &w->in[w->nin++]) = m;
        }
    qsort(w->out, (size_t)w->nout, sizeof(message_t), compare_message);
    qsort(w->in, (size_t)w->nin, sizeof(message_t), compare_message);
}

/* ---- static rules ---- */

static bool writes(fire_step_kind_t kind)
{
    return kind == FIRE_RECV || kind == FIRE_RECV_ADD || kind == FIRE_SUM ||
           kind == FIRE_LEND || kind == FIRE_FINAL;
}

static bool touches(fire_step_kind_t kind)
{
    return !fire_step_is_held(kind);
}

/* Inside a round nothing is written that another step uses, and no two chains
 * share an element: then the timing of messages cannot change the result. */
static const char *check_races(world_t *w, int r)
{
    const fire_sched_t *s     = &w->sched[r];
    int                *owner = get((size_t)w->ncut, sizeof(int));
    const char         *why   = NULL;

    for (int64_t i = 0; i < s->n && why == NULL; i++) {
        const fire_step_t *a = &s->step[i];

        FOR_SEGMENTS(w, k, a->span)
        {
            if (touches(a->kind) && owner[k] != 0 && owner[k] != w->chain_of[r][i] + 1)
                why = wrong(w, "rank %d: two chains use element %zu", r, w->cut[k]);
            owner[k] = w->chain_of[r][i] + 1;
        }
        if (i > 0 && w->chain_of[r][i - 1] == w->chain_of[r][i] &&
            a[-1].round > a->round)
            why = wrong(w, "rank %d: step %d goes back a round", r, (int)i);
        for (int64_t j = i + 1; j < s->n; j++) {
            const fire_step_t *b = &s->step[j];

            if (w->chain_of[r][i] != w->chain_of[r][j] || b->round != a->round) break;
            if (!touches(a->kind) || !touches(b->kind)) continue;
            if (!writes(a->kind) && !writes(b->kind)) continue;
            if (a->span.off < b->span.off + b->span.len &&
                b->span.off < a->span.off + a->span.len)
                why = wrong(w, "rank %d: steps %d and %d of round %d collide", r,
                            (int)i, (int)j, a->round);
        }
    }
    free(owner);
    return why;
}

static const char *check_matching(world_t *w)
{
    if (w->nout != w->nin)
        return wrong(w, "%d sends, %d receives", (int)w->nout, (int)w->nin);
    for (int64_t i = 0; i < w->nout; i++) {
        const message_t   *a = &w->out[i], *b = &w->in[i];
        const fire_step_t *s, *d;

        if (a->from != b->from || a->to != b->to || a->color != b->color)
            return wrong(w, "rank %d sends to %d what it does not expect", a->from,
                         a->to);
        s = &w->sched[a->from].step[a->step];
        d = &w->sched[a->to].step[b->step];
        if (s->span.off != d->span.off || s->span.len != d->span.len)
            return wrong(w, "message %d -> %d: spans differ", a->from, a->to);
        if ((s->kind == FIRE_LEND) != (d->kind == FIRE_BORROW))
            return wrong(w, "message %d -> %d: lent on one side only", a->from, a->to);
    }
    return NULL;
}

/* ---- running ---- */

static void enter_rounds(world_t *w, int r, chain_t *chain)
{
    const fire_sched_t *s = &w->sched[r];

    while (chain->left == 0 && chain->next < chain->end) {
        int64_t i = chain->next;

        chain->round = s->step[i].round;
        chain->holds = 0;
        for (; i < chain->end && s->step[i].round == chain->round; i++) {
            chain->left += !fire_step_is_local(s->step[i].kind);
            chain->holds += fire_step_is_held(s->step[i].kind);
            if (s->step[i].kind == FIRE_SUM) chain->sum = i;
        }
        chain->next = i;
    }
}

static void finish(world_t *w, int r, int64_t step)
{
    chain_t *chain = &w->chain[r][w->chain_of[r][step]];

    w->done++;
    if (--chain->left == 0) enter_rounds(w, r, chain);
}

static const char *store(world_t *w, int r, int k, int value)
{
    if (value < 0)
        return wrong(w, "rank %d adds a contribution twice at element %zu", r,
                     w->cut[k]);
    w->at[r][k] = value;
    return NULL;
}

/* The SUM of rank r's chain: what was held is added and, if lent, returned. */
static const char *run_sum(world_t *w, int r, chain_t *chain)
{
    const fire_step_t *st    = &w->sched[r].step[chain->sum];
    int                n     = 0, part[PROOF_RANKS];
    int64_t            first = chain->sum;

    while (first > chain->first &&
           fire_step_is_held(w->sched[r].step[first - 1].kind) &&
           w->sched[r].step[first - 1].round == st->round)
        first--;
    FOR_SEGMENTS(w, k, st->span)
    {
        int sum;

        n = 0;
        for (int64_t h = first; h <= chain->sum; h++) {
            if (n == st->peer) part[n++] = w->at[r][k];
            if (h < chain->sum) part[n++] = w->at[w->out[w->held[r][h]].from][k];
        }
        sum = canonical(w, part, n);
        if (store(w, r, k, sum) != NULL) return w->why;
        for (int64_t h = first; h < chain->sum; h++)
            if (w->sched[r].step[h].kind == FIRE_BORROW)
                w->at[w->out[w->held[r][h]].from][k] = sum;
    }
    for (int64_t h = first; h < chain->sum; h++) {
        const message_t *m = &w->out[w->held[r][h]];

        finish(w, m->from, m->step);
        finish(w, r, h);
    }
    return NULL;
}

static const char *move(world_t *w, int64_t m)
{
    const message_t   *a = &w->out[m], *b = &w->in[m];
    const fire_step_t *d     = &w->sched[a->to].step[b->step];
    chain_t           *chain = &w->chain[a->to][w->chain_of[a->to][b->step]];

    w->moved[m] = true;
    if (fire_step_is_held(d->kind)) {
        w->held[a->to][b->step] = (int)m;
        return --chain->holds == 0 ? run_sum(w, a->to, chain) : NULL;
    }
    FOR_SEGMENTS(w, k, d->span)
    {
        int got = w->at[a->from][k];

        if (d->kind == FIRE_RECV_ADD) got = add(w, w->at[a->to][k], got);
        if (store(w, a->to, k, got) != NULL) return w->why;
    }
    finish(w, a->from, a->step);
    finish(w, a->to, b->step);
    return NULL;
}

/* A chain begins when all chains two blocks before have ended. */
static bool is_open(world_t *w, int r, const message_t *m)
{
    int *front = &w->front[r][m->color];

    for (; *front < w->nchain[r]; (*front)++) {
        const chain_t     *chain = &w->chain[r][*front];
        const fire_step_t *st    = &w->sched[r].step[chain->first];

        if (st->color > m->color) break;
        if (st->color == m->color && (chain->left > 0 || chain->next < chain->end))
            return block_of(w, st) >= m->block - 1;
    }
    return true;
}

static bool is_ready(world_t *w, int64_t m)
{
    const message_t *a = &w->out[m], *b = &w->in[m], *before = a - 1;

    if (w->moved[m]) return false;
    if (m > 0 && before->from == a->from && before->to == a->to &&
        before->color == a->color && !w->moved[m - 1])
        return false;
    return w->chain[a->from][w->chain_of[a->from][a->step]].round == a->round &&
           w->chain[a->to][w->chain_of[a->to][b->step]].round == b->round &&
           is_open(w, a->from, a) && is_open(w, a->to, b);
}

static const char *run(world_t *w)
{
    bool going = true;

    for (int r = 0; r < w->c->size; r++)
        for (int l = 0; l < w->nchain[r]; l++)
            enter_rounds(w, r, &w->chain[r][l]);
    while (going) {
        going = false;
        for (int64_t m = 0; m < w->nout; m++) {
            if (!is_ready(w, m)) continue;
            if (move(w, m) != NULL) return w->why;
            going = true;
        }
    }
    if (w->done != 2 * w->nout)
        return wrong(w, "deadlock: %d of %d messages moved", (int)w->done / 2,
                     (int)w->nout);
    return NULL;
}

/* ---- what must hold at the end ---- */

static bool inside(const world_t *w, int k, fire_span_t s)
{
    return w->cut[k] >= s.off && w->cut[k] < s.off + s.len;
}

static int owner_of(const world_t *w, int k)
{
    for (int r = 0; r < w->c->size; r++)
        if (inside(w, k, w->sched[r].own)) return r;
    return -1;
}

static const char *check_own(world_t *w)
{
    size_t total = 0;

    for (int r = 0; r < w->c->size; r++)
        total += w->sched[r].own.len;
    for (int k = 0; k < w->ncut - 1; k++)
        if (owner_of(w, k) < 0) return wrong(w, "element %zu has no owner", w->cut[k]);
    return total == w->c->span.len ? NULL : wrong(w, "own spans overlap");
}

static const char *check_end(world_t *w, bool want_canonical)
{
    int  n    = w->c->size, leaf[PROOF_RANKS], tree;
    bool sums = w->c->op != FIRE_BROADCAST && w->c->op != FIRE_ALLGATHER;

    for (int r = 0; r < n; r++)
        leaf[r] = r;
    tree = canonical(w, leaf, n);
    for (int k = 0; k < w->ncut - 1; k++) {
        int owner = w->c->op == FIRE_REDUCE_SCATTER || w->c->op == FIRE_ALLGATHER
                        ? owner_of(w, k)
                        : w->c->root;

        for (int r = 0; r < n; r++) {
            int got = w->at[r][k];

            if ((w->c->op == FIRE_REDUCE || w->c->op == FIRE_REDUCE_SCATTER) &&
                r != owner)
                continue;
            if (sums && w->value[got].leaves != w->value[tree].leaves)
                return wrong(w, "rank %d: contributions %llx at element %zu", r,
                             (unsigned long long)w->value[got].leaves, w->cut[k]);
            if (got != (sums ? w->at[owner][k] : owner))
                return wrong(w, "rank %d differs from %d at element %zu", r, owner,
                             w->cut[k]);
            if (sums && want_canonical && got != tree)
                return wrong(w, "rank %d: element %zu is not canonical", r, w->cut[k]);
        }
    }
    return NULL;
}

static const char *check_all(world_t *w, bool want_canonical)
{
    const char *why = NULL;

    for (int r = 0; r < w->c->size && why == NULL; r++)
        why = check_races(w, r);
    if (why == NULL) why = check_matching(w);
    if (why == NULL) why = run(w);
    if (why == NULL && (w->c->op == FIRE_REDUCE_SCATTER || w->c->op == FIRE_ALLGATHER))
        why = check_own(w);
    return why == NULL ? check_end(w, want_canonical) : why;
}

const char *prove(const fire_sched_t *sched, const fire_coll_t *c,
                  bool canonical_wanted)
{
    static char why[256];
    world_t    *w = get(1, sizeof(*w));
    const char *result;

    w->sched  = sched;
    w->c      = c;
    w->nvalue = c->size;
    make_cuts(w);
    for (int r = 0; r < c->size; r++) {
        w->value[r].leaves = 1ull << r;
        w->at[r]           = get((size_t)w->ncut, sizeof(int));
        for (int k = 0; k < w->ncut; k++)
            w->at[r][k] = r;
        make_lanes(w, r);
    }
    make_messages(w);
    result = check_all(w, canonical_wanted);
    if (result != NULL) snprintf(why, sizeof(why), "%s", result);
    for (int r = 0; r < c->size; r++) {
        free(w->at[r]);
        free(w->held[r]);
        free(w->chain[r]);
        free(w->chain_of[r]);
    }
    free(w->cut);
    free(w->out);
    free(w->in);
    free(w->moved);
    free(w);
    return result != NULL ? why : NULL;
}
