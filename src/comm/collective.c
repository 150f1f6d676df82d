/* collective.c - a collective: the algorithm chosen for it, its schedule and an
 * executor, made once for one buffer and run as often as needed. */
#include <string.h>

#include "base/alloc.h"
#include "comm/comm_state.h"
#include "comm/select/select.h"

enum { DEFAULT_COLORS = 4 };

struct fire_collective {
    fire_comm_t       *comm;
    int                number; /* unique while it exists; gives its tags */
    const fire_algo_t *algo;
    size_t             piece; /* bytes of the longest message wanted */
    fire_sched_t       sched;
    fire_exec_t       *exec;
};

/* Take the lowest free number. All ranks create and destroy collectives in the same
 * order, so they get the same number without a message. */
static fire_status_t take_number(fire_comm_t *c, int *number_p)
{
    int most = c->tp->max_tag / FIRE_MAX_COLORS;

    if (most > 64 * FIRE_LIVE_WORDS) most = 64 * FIRE_LIVE_WORDS;
    for (int i = 0; i < most; i++)
        if (!(c->live[i / 64] >> i % 64 & 1)) {
            c->live[i / 64] |= 1ull << i % 64;
            *number_p = i;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_COMM,
                     "more than %d collectives at a time; use larger buckets", most);
}

/* Can all ranks of this node access buf? */
static bool node_reaches(const fire_comm_t *c, const float *buf)
{
    for (int r = 0; r < c->tp->size; r++)
        if (r != c->tp->rank && c->node[r] == c->node[c->tp->rank] &&
            !c->tp->ops->reaches(c->tp, r, buf))
            return false;
    return true;
}

/* The request to the planner, except for the length of messages. */
static fire_coll_t describe(const fire_comm_t *c, const fire_collective_options_t *o,
                            const fire_codec_t *codec, const float *buf, size_t count)
{
    fire_coll_t d = {.op     = o->op,
                     .rank   = c->tp->rank,
                     .size   = c->tp->size,
                     .root   = o->root,
                     .node   = c->node,
                     .lane   = o->lane,
                     .ncolor = o->colors > 0 ? o->colors : DEFAULT_COLORS,
                     .grain  = o->grain,
                     .span   = {0, count}};

    if (d.grain == 0) d.grain = codec != NULL ? codec->grain : FIRE_COMM_GRAIN;
    d.lend = codec == NULL && node_reaches(c, buf);
    if (d.ncolor > FIRE_MAX_COLORS) d.ncolor = FIRE_MAX_COLORS;
    return d;
}

static fire_status_t build(fire_collective_t *x, const fire_collective_options_t *o,
                           float *buf, size_t count)
{
    fire_exec_setup_t setup = {.tp       = x->comm->tp,
                               .sched    = &x->sched,
                               .buf      = buf,
                               .stride   = o->stride,
                               .node     = x->comm->node,
                               .tag      = x->number * FIRE_MAX_COLORS,
                               .timeout  = x->comm->timeout,
                               .name     = fire_comm_name,
                               .who      = x->comm,
                               .warned   = &x->comm->warned,
                               .residual = o->residual};
    fire_coll_t       d;

    if (o->compress != NULL)
        FIRE_TRY(fire_codec_find(o->compress, &setup.codec, &setup.codec_arg));
    d = describe(x->comm, o, setup.codec, buf, count);
    if (o->outer != NULL) FIRE_TRY(fire_algo_find(o->outer, &d.outer));
    FIRE_TRY(fire_select(x->comm, o, setup.codec, &d, &x->algo));
    x->piece = d.piece * sizeof(float);
    FIRE_TRY(fire_sched_plan(&x->sched, x->algo, &d));
    if (!fire_algo_is_pipeline(x->algo)) setup.window = x->comm->tp->window;
    return fire_exec_create(&setup, &x->exec);
}

fire_status_t fire_collective_create(fire_comm_t                     *c,
                                     const fire_collective_options_t *options,
                                     float *buf, size_t count,
                                     fire_collective_t **collective_p)
{
    fire_collective_t *x;
    fire_status_t      st;

    FIRE_TRY(FIRE_NEW(&x, 1));
    x->comm   = c;
    x->number = -1;
    st        = take_number(c, &x->number);
    if (st == FIRE_OK) st = build(x, options, buf, count);
    if (st < 0) {
        fire_collective_destroy(x);
        return st;
    }
    *collective_p = x;
    return FIRE_OK;
}

void fire_collective_destroy(fire_collective_t *x)
{
    if (x == NULL) return;
    fire_exec_destroy(x->exec);
    fire_sched_fini(&x->sched);
    if (x->number >= 0) x->comm->live[x->number / 64] &= ~(1ull << x->number % 64);
    fire_free(x);
}

fire_status_t fire_collective_start(fire_collective_t *x)
{
    return fire_exec_start(x->exec);
}

/* Report an own failure to the other ranks; they know of a peer's already. */
static fire_status_t tell_failure(fire_collective_t *x, fire_status_t st)
{
    if (st < 0 && st != FIRE_ERR_PEER) fire_comm_fail(x->comm);
    return st;
}

fire_status_t fire_collective_test(fire_collective_t *x)
{
    return tell_failure(x, fire_exec_progress(x->exec));
}

fire_status_t fire_collective_advance(fire_collective_t *x)
{
    return tell_failure(x, fire_exec_advance(x->exec));
}

fire_status_t fire_collective_wait(fire_collective_t *x)
{
    fire_pause_t  pause = {0};
    fire_status_t st;

    while ((st = fire_collective_test(x)) == FIRE_IN_PROGRESS) {
        if (fire_exec_moved(x->exec))
            pause = (fire_pause_t){0};
        else
            FIRE_TRY(fire_comm_idle(x->comm, &pause));
    }
    return st;
}

bool fire_collective_moved(const fire_collective_t *x)
{
    return fire_exec_moved(x->exec);
}

fire_span_t fire_collective_own(const fire_collective_t *x)
{
    return x->sched.own;
}

const fire_algo_t *fire_collective_algo(const fire_collective_t *x)
{
    return x->algo;
}

size_t fire_collective_piece(const fire_collective_t *x)
{
    return x->piece;
}

int64_t fire_collective_bytes(const fire_collective_t *x)
{
    return fire_exec_bytes(x->exec);
}
