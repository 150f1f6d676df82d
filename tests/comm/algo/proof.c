/* proof.c - checks the schedules of all ranks before and after proof_run.c runs
 * them. */
#include "proof.h"

#include <stdarg.h>
#include <stdlib.h>

#include "comm/pattern/roots.h"
#include "proof_world.h"
#include "test.h"

const char *proof_wrong(proof_world_t *w, const char *format, ...)
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

int proof_add(proof_world_t *w, int a, int b)
{
    int lo = a < b ? a : b, hi = a < b ? b : a;

    if (a < 0 || b < 0 || w->value[a].leaves & w->value[b].leaves) return -1;
    for (int i = w->nleaf; i < w->nvalue; i++)
        if (w->value[i].left == lo && w->value[i].right == hi) return i;
    CHECK(w->nvalue < MAX_VALUES);
    w->value[w->nvalue] =
        (proof_value_t){w->value[a].leaves | w->value[b].leaves, lo, hi};
    return w->nvalue++;
}

/* The canonical sum of value[0..n). */
int proof_canonical(proof_world_t *w, const int *value, int n)
{
    int half = 1;

    if (n == 1) return value[0];
    while (2 * half < n)
        half *= 2;
    return proof_add(w, proof_canonical(w, value, half),
                     proof_canonical(w, value + half, n - half));
}

/* The root is made where its left half ends: at the greatest power of two inside. */
int proof_subtrees(proof_world_t *w, const int *value, const int *lane, int n)
{
    int half = 1, k = 0;

    if (n == 1) return value[0];
    while (2 * half < lane[n] - lane[0])
        half *= 2;
    while (lane[k] < lane[0] + half)
        k++;
    return proof_add(w, proof_subtrees(w, value, lane, k),
                     proof_subtrees(w, value + k, lane + k, n - k));
}

/* ---- the cut points of all spans ---- */

static int compare_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return x < y ? -1 : x > y;
}

static void make_cuts(proof_world_t *w)
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

int proof_segment(const proof_world_t *w, size_t off)
{
    size_t *at = bsearch(&off, w->cut, (size_t)w->ncut, sizeof(size_t), compare_size);

    return (int)(at - w->cut);
}

/* ---- set-up ---- */

/* What a rank gives where nothing is added. */
static int first_of(const proof_world_t *w, int rank)
{
    return w->c->lane != NULL ? w->c->lane[rank + 1] - 1 : rank;
}

/* What a rank holds before the collective, in each of its arrays. */
static void make_slots(proof_world_t *w, int r)
{
    const int  *lane = w->c->lane;
    fire_root_t root[FIRE_MAX_ROOTS];
    int         n = lane != NULL ? fire_roots(lane[r], lane[r + 1], w->nleaf, root) : 1;

    CHECK(n <= PROOF_SLOTS);
    for (int i = 0; i < n; i++) {
        int slot = fire_root_slot(i, n), value = r, leaf[64];

        for (int k = 0; lane != NULL && k < root[i].end - root[i].first; k++)
            leaf[k] = root[i].first + k;
        if (lane != NULL)
            value = w->c->op == FIRE_ALLGATHER
                        ? first_of(w, r)
                        : proof_canonical(w, leaf, root[i].end - root[i].first);
        w->at[r][slot] = get((size_t)w->ncut, sizeof(int));
        for (int k = 0; k < w->ncut; k++)
            w->at[r][slot][k] = value;
    }
}

static void make_chains(proof_world_t *w, int r)
{
    const fire_sched_t *s = &w->sched[r];

    w->chain[r]    = get((size_t)s->n, sizeof(proof_chain_t));
    w->chain_of[r] = get((size_t)s->n, sizeof(int));
    w->held[r]     = get((size_t)s->n, sizeof(int));
    for (int64_t i = 0; i < s->n; i++) {
        const fire_step_t *st = &s->step[i], *before = st - 1;

        if (i == 0 || before->color != st->color || before->chunk != st->chunk)
            w->chain[r][w->nchain[r]++] = (proof_chain_t){.first = i, .next = i};
        w->chain[r][w->nchain[r] - 1].end = i + 1;
        w->chain_of[r][i]                 = w->nchain[r] - 1;
    }
}

static int compare_message(const void *a, const void *b)
{
    const proof_message_t *x = a, *y = b;

    if (x->from != y->from) return x->from - y->from;
    if (x->to != y->to) return x->to - y->to;
    if (x->color != y->color) return x->color - y->color;
    if (x->block != y->block) return x->block - y->block;
    if (x->round != y->round) return x->round - y->round;
    if (x->chunk != y->chunk) return x->chunk - y->chunk;
    return x->step < y->step ? -1 : 1;
}

int proof_block_of(const proof_world_t *w, const fire_step_t *st)
{
    return fire_sched_block(&w->sched[0], st->chunk);
}

static void make_messages(proof_world_t *w)
{
    int64_t total = 0;

    for (int r = 0; r < w->c->size; r++)
        total += w->sched[r].n;
    w->out   = get((size_t)total, sizeof(proof_message_t));
    w->in    = get((size_t)total, sizeof(proof_message_t));
    w->moved = get((size_t)total, sizeof(bool));
    for (int r = 0; r < w->c->size; r++)
        for (int64_t i = 0; i < w->sched[r].n; i++) {
            const fire_step_t *st  = &w->sched[r].step[i];
            bool               out = fire_step_is_out(st->kind);
            proof_message_t m = {r,         st->peer,  st->color, proof_block_of(w, st),
                                 st->round, st->chunk, i};

            if (fire_step_is_local(st->kind)) continue;
            if (!out) m.from = st->peer, m.to = r;
            *(out ? &w->out[w->nout++] : &w->in[w->nin++]) = m;
        }
    qsort(w->out, (size_t)w->nout, sizeof(proof_message_t), compare_message);
    qsort(w->in, (size_t)w->nin, sizeof(proof_message_t), compare_message);
}

/* ---- static rules ---- */

static bool writes(fire_step_kind_t kind)
{
    return kind == FIRE_RECV || kind == FIRE_RECV_ADD || kind == FIRE_SUM ||
           kind == FIRE_LEND || kind == FIRE_FINAL || kind == FIRE_MERGE;
}

static bool touches(fire_step_kind_t kind)
{
    return !fire_step_is_held(kind);
}

/* Does step a write to the array that b uses? */
static bool collide(const fire_step_t *a, const fire_step_t *b)
{
    if (!writes(a->kind)) return false;
    return a->slot == b->slot || (b->kind == FIRE_MERGE && a->slot == b->peer);
}

/* Inside a round nothing is written that another step uses, and no two chains
 * share an element: then the timing of messages cannot change the result. */
static const char *check_races(proof_world_t *w, int r)
{
    const fire_sched_t *s     = &w->sched[r];
    int                *owner = get((size_t)w->ncut, sizeof(int));
    const char         *why   = NULL;

    for (int64_t i = 0; i < s->n && why == NULL; i++) {
        const fire_step_t *a = &s->step[i];

        FOR_SEGMENTS(w, k, a->span)
        {
            if (touches(a->kind) && owner[k] != 0 && owner[k] != w->chain_of[r][i] + 1)
                why =
                    proof_wrong(w, "rank %d: two chains use element %zu", r, w->cut[k]);
            owner[k] = w->chain_of[r][i] + 1;
        }
        if (i > 0 && w->chain_of[r][i - 1] == w->chain_of[r][i] &&
            a[-1].round > a->round)
            why = proof_wrong(w, "rank %d: step %d goes back a round", r, (int)i);
        for (int64_t j = i + 1; j < s->n; j++) {
            const fire_step_t *b = &s->step[j];

            if (w->chain_of[r][i] != w->chain_of[r][j] || b->round != a->round) break;
            if (!touches(a->kind) || !touches(b->kind)) continue;
            if (!collide(a, b) && !collide(b, a)) continue;
            if (a->span.off < b->span.off + b->span.len &&
                b->span.off < a->span.off + a->span.len)
                why = proof_wrong(w, "rank %d: steps %d and %d of round %d collide", r,
                                  (int)i, (int)j, a->round);
        }
    }
    free(owner);
    return why;
}

static const char *check_matching(proof_world_t *w)
{
    if (w->nout != w->nin)
        return proof_wrong(w, "%d sends, %d receives", (int)w->nout, (int)w->nin);
    for (int64_t i = 0; i < w->nout; i++) {
        const proof_message_t *a = &w->out[i], *b = &w->in[i];
        const fire_step_t     *s, *d;

        if (a->from != b->from || a->to != b->to || a->color != b->color)
            return proof_wrong(w, "rank %d sends to %d what it does not expect",
                               a->from, a->to);
        s = &w->sched[a->from].step[a->step];
        d = &w->sched[a->to].step[b->step];
        if (s->span.off != d->span.off || s->span.len != d->span.len)
            return proof_wrong(w, "message %d -> %d: spans differ", a->from, a->to);
        if ((s->kind == FIRE_LEND) != (d->kind == FIRE_BORROW))
            return proof_wrong(w, "message %d -> %d: lent on one side only", a->from,
                               a->to);
    }
    return NULL;
}

/* ---- what must hold at the end ---- */

static bool inside(const proof_world_t *w, int k, fire_span_t s)
{
    return w->cut[k] >= s.off && w->cut[k] < s.off + s.len;
}

static int owner_of(const proof_world_t *w, int k)
{
    for (int r = 0; r < w->c->size; r++)
        if (inside(w, k, w->sched[r].own)) return r;
    return -1;
}

static const char *check_own(proof_world_t *w)
{
    size_t total = 0;

    for (int r = 0; r < w->c->size; r++)
        total += w->sched[r].own.len;
    for (int k = 0; k < w->ncut - 1; k++)
        if (owner_of(w, k) < 0)
            return proof_wrong(w, "element %zu has no owner", w->cut[k]);
    return total == w->c->span.len ? NULL : proof_wrong(w, "own spans overlap");
}

static const char *check_end(proof_world_t *w, bool want_canonical)
{
    int  n    = w->c->size, leaf[64], tree;
    bool sums = w->c->op != FIRE_BROADCAST && w->c->op != FIRE_ALLGATHER;

    for (int i = 0; i < w->nleaf; i++)
        leaf[i] = i;
    tree = proof_canonical(w, leaf, w->nleaf);
    for (int k = 0; k < w->ncut - 1; k++) {
        int owner = w->c->op == FIRE_REDUCE_SCATTER || w->c->op == FIRE_ALLGATHER
                        ? owner_of(w, k)
                        : w->c->root;

        for (int r = 0; r < n; r++) {
            int got = w->at[r][0][k];

            if ((w->c->op == FIRE_REDUCE || w->c->op == FIRE_REDUCE_SCATTER) &&
                r != owner)
                continue;
            if (sums && w->value[got].leaves != w->value[tree].leaves)
                return proof_wrong(w, "rank %d: contributions %llx at element %zu", r,
                                   (unsigned long long)w->value[got].leaves, w->cut[k]);
            if (got != (sums ? w->at[owner][0][k] : first_of(w, owner)))
                return proof_wrong(w, "rank %d differs from %d at element %zu", r,
                                   owner, w->cut[k]);
            if (sums && want_canonical && got != tree)
                return proof_wrong(w, "rank %d: element %zu is not canonical", r,
                                   w->cut[k]);
        }
    }
    return NULL;
}

static const char *check_all(proof_world_t *w, bool want_canonical)
{
    const char *why = NULL;

    for (int r = 0; r < w->c->size && why == NULL; r++)
        why = check_races(w, r);
    if (why == NULL) why = check_matching(w);
    if (why == NULL) why = proof_run(w);
    if (why == NULL && (w->c->op == FIRE_REDUCE_SCATTER || w->c->op == FIRE_ALLGATHER))
        why = check_own(w);
    return why == NULL ? check_end(w, want_canonical) : why;
}

const char *prove(const fire_sched_t *sched, const fire_coll_t *c,
                  bool canonical_wanted)
{
    static char    why[256];
    proof_world_t *w = get(1, sizeof(*w));
    const char    *result;

    w->sched = sched;
    w->c     = c;
    w->nleaf = w->nvalue = c->lane != NULL ? c->lane[c->size] : c->size;
    CHECK(w->nleaf <= 64);
    for (int i = 0; i < w->nleaf; i++)
        w->value[i].leaves = 1ull << i;
    make_cuts(w);
    for (int r = 0; r < c->size; r++) {
        make_slots(w, r);
        make_chains(w, r);
    }
    make_messages(w);
    result = check_all(w, canonical_wanted);
    if (result != NULL) snprintf(why, sizeof(why), "%s", result);
    for (int r = 0; r < c->size; r++) {
        for (int i = 0; i < PROOF_SLOTS; i++)
            free(w->at[r][i]);
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
