/* probe.c - times swaps between rank 0 and one other rank, on each kind of link. */
#include "comm/measure/probe.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/comm_state.h"
#include "comm/exec/exec.h"

enum { WARM_UPS = 1, REPEATS = 7 };

/* The two ranks that swap; all others only take part in fire_comm_agree(). */
typedef struct pair {
    fire_comm_t *c;
    int          peer; /* the other rank; -1: this rank does not swap */
    float       *buf;  /* [2 * floats] */
    size_t       floats;
} pair_t;

/* In one round, both send the first `floats` elements of buf and receive as many into
 * its second half; `take` says whether to copy or to add them. */
static fire_status_t plan_swap(const pair_t *p, fire_step_kind_t take, size_t floats,
                               fire_sched_t *s)
{
    const fire_coll_t c = {.size = p->c->tp->size, .ncolor = 1, .grain = 1};

    FIRE_TRY(fire_sched_add(s, &c, 0, FIRE_SEND, p->peer, (fire_span_t){0, floats}));
    return fire_sched_add(s, &c, 0, take, p->peer, (fire_span_t){p->floats, floats});
}

static fire_status_t swap_once(fire_exec_t *x)
{
    fire_pause_t  pause = {0};
    fire_status_t st;

    FIRE_TRY(fire_exec_start(x));
    while ((st = fire_exec_progress(x)) == FIRE_IN_PROGRESS) {
        if (fire_exec_moved(x))
            pause = (fire_pause_t){0};
        else
            fire_pause(&pause);
    }
    return st;
}

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;

    return d < 0 ? -1 : d > 0;
}

static fire_status_t time_swaps(fire_exec_t *x, double *seconds_p)
{
    double took[REPEATS];

    for (int i = -WARM_UPS; i < REPEATS; i++) {
        double begin = fire_clock_now();

        FIRE_TRY(swap_once(x));
        if (i >= 0) took[i] = fire_clock_now() - begin;
    }
    qsort(took, REPEATS, sizeof(*took), ascending);
    *seconds_p = took[REPEATS / 2];
    return FIRE_OK;
}

/* Median seconds of a swap; ranks that do not swap leave *seconds_p unchanged. */
static fire_status_t time_swap(const pair_t *p, fire_step_kind_t take, size_t floats,
                               double *seconds_p)
{
    fire_sched_t      sched = {0};
    fire_exec_setup_t setup = {.tp      = p->c->tp,
                               .sched   = &sched,
                               .buf     = p->buf,
                               .node    = p->c->node,
                               .tag     = p->c->tp->max_tag - 1,
                               .timeout = p->c->timeout};
    fire_exec_t      *x     = NULL;
    fire_status_t     st    = FIRE_OK;

    if (p->peer >= 0) {
        st = plan_swap(p, take, floats, &sched);
        if (st >= 0) st = fire_exec_create(&setup, &x);
        if (st >= 0) st = time_swaps(x, seconds_p);
        fire_exec_destroy(x);
        fire_sched_fini(&sched);
    }
    return fire_comm_agree(p->c, st);
}

/* bandwidth: from the time of a long message less that of a single float. reduce: from
 * what adding takes longer than copying or, in shared memory, where nothing needs to be
 * copied first, longer than an empty message. */
static fire_status_t measure(const pair_t *p, fire_wire_probe_t *w)
{
    const double bytes = (double)(p->floats * sizeof(float));
    double       word = 0, copy = 0, add = 0, extra;

    if (p->peer >= 0) w->shared = p->c->tp->ops->reaches(p->c->tp, p->peer, p->buf);
    FIRE_TRY(time_swap(p, FIRE_RECV, 1, &word));
    FIRE_TRY(time_swap(p, FIRE_RECV, p->floats, &copy));
    FIRE_TRY(time_swap(p, FIRE_RECV_ADD, p->floats, &add));
    extra        = add - (w->shared ? word : copy);
    w->latency   = word;
    w->bandwidth = bytes / (copy > word ? copy - word : 1e-9);
    w->reduce    = bytes / (extra > 0.01 * add ? extra : 0.01 * add);
    return FIRE_OK;
}

/* Measure between rank 0 and the first rank on the same, or on another, node; rank 0
 * sends the result to all. */
static fire_status_t probe_wire(fire_comm_t *c, float *buf, size_t floats,
                                bool same_node, fire_wire_probe_t *w)
{
    pair_t p     = {c, -1, buf, floats};
    int    other = 1;

    while (other < c->tp->size && (c->node[other] == c->node[0]) != same_node)
        other++;
    if (other == c->tp->size) return FIRE_OK;
    if (c->tp->rank == 0) p.peer = other;
    if (c->tp->rank == other) p.peer = 0;
    FIRE_TRY(measure(&p, w));
    w->found = true;
    return fire_comm_broadcast(c, 0, w, sizeof(*w));
}

static void count_nodes(const fire_comm_t *c, fire_probe_t *p)
{
    for (int r = 0; r < c->tp->size; r++) {
        int here = 0;

        for (int q = 0; q < c->tp->size; q++)
            here += c->node[q] == c->node[r];
        if (here > p->per_node) p->per_node = here;
        if (c->node[r] >= p->nodes) p->nodes = c->node[r] + 1;
    }
}

fire_status_t fire_comm_probe(fire_comm_t *c, size_t floats, fire_probe_t *probe_p)
{
    fire_probe_t  p = {0};
    float        *buf;
    fire_status_t st;

    FIRE_TRY(fire_comm_alloc(c, 2 * floats * sizeof(float), (void **)&buf));
    count_nodes(c, &p);
    st = probe_wire(c, buf, floats, true, &p.node);
    if (st >= 0) st = probe_wire(c, buf, floats, false, &p.net);
    fire_comm_free(c, buf);
    if (st >= 0) *probe_p = p;
    return st;
}
