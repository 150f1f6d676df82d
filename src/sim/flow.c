/* flow.c - max-min fair shares of ports, by relaxation (flow.h). */
#include "sim/flow.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"

enum { NONE = -1 };

/* Relative: a share that changes by less is not passed on to other ports. */
static const double SAME = 1e-3;

fire_status_t fire_flows_init(fire_flows_t *f, const fire_network_t *net, int64_t nflow,
                              int64_t nhop)
{
    *f = (fire_flows_t){0};
    FIRE_TRY(FIRE_NEW(&f->flow, nflow));
    FIRE_TRY(FIRE_NEW(&f->member, nflow));
    FIRE_TRY(FIRE_NEW(&f->hop, nhop));
    FIRE_TRY(FIRE_NEW(&f->port, net->nport));
    FIRE_TRY(FIRE_NEW(&f->queue, net->nport));
    FIRE_TRY(FIRE_NEW(&f->limit, nflow));
    f->nport = net->nport;
    for (int i = 0; i < net->nport; i++)
        f->port[i] =
            (fire_passage_t){net->bandwidth[i], net->bandwidth[i], NONE, false};
    return FIRE_OK;
}

void fire_flows_fini(fire_flows_t *f)
{
    fire_free(f->flow);
    fire_free(f->member);
    fire_free(f->hop);
    fire_free(f->port);
    fire_free(f->queue);
    fire_free(f->limit);
}

void fire_flows_add(fire_flows_t *f, const fire_path_t *path)
{
    f->flow[f->nflow] = (fire_flow_t){.hop = f->nhop, .nhop = path->n};
    for (int i = 0; i < path->n; i++)
        f->hop[f->nhop++] =
            (fire_hop_t){f->nflow, path->port[i], .next = NONE, .before = NONE};
    f->nflow++;
}

static void list_flow(fire_flows_t *f, int flow)
{
    if (f->flow[flow].listed) return;
    f->flow[flow].listed    = true;
    f->member[f->nmember++] = flow;
}

static void enter_port(fire_flows_t *f, int hop)
{
    fire_hop_t     *h = &f->hop[hop];
    fire_passage_t *p = &f->port[h->port];

    h->next   = p->first;
    h->before = NONE;
    if (h->next != NONE) f->hop[h->next].before = hop;
    p->first = hop;
}

static void quit_port(fire_flows_t *f, int hop)
{
    const fire_hop_t *h = &f->hop[hop];

    if (h->next != NONE) f->hop[h->next].before = h->before;
    *(h->before != NONE ? &f->hop[h->before].next : &f->port[h->port].first) = h->next;
}

void fire_flows_join(fire_flows_t *f, int flow)
{
    const fire_flow_t *s = &f->flow[flow];

    list_flow(f, flow);
    if (f->flow[flow].active++ > 0) return;
    for (int i = 0; i < s->nhop; i++)
        enter_port(f, s->hop + i);
}

void fire_flows_leave(fire_flows_t *f, int flow)
{
    const fire_flow_t *s = &f->flow[flow];

    list_flow(f, flow);
    if (--f->flow[flow].active > 0) return;
    for (int i = 0; i < s->nhop; i++)
        quit_port(f, s->hop + i);
}

/* The port's share may be wrong: queue it, once. */
static void ask_anew(fire_flows_t *f, int port)
{
    if (f->port[port].asked) return;
    f->port[port].asked                           = true;
    f->queue[(f->front + f->nqueue++) % f->nport] = port;
}

/* The least share of a flow's ports, i.e. the rate of its messages; port `but` (a hop)
 * does not count. */
static double least_share(const fire_flows_t *f, const fire_flow_t *s, int but)
{
    double least = DBL_MAX;

    for (int i = s->hop; i < s->hop + s->nhop; i++)
        if (i != but && f->port[f->hop[i].port].share < least)
            least = f->port[f->hop[i].port].share;
    return least;
}

/* The port's share: an even part of its capacity, but what messages cannot use because
 * another port limits them is divided among the others. */
static double even_share(fire_flows_t *f, const fire_passage_t *p)
{
    double left    = p->capacity, share;
    int    wanting = 0, n = 0, before;

    for (int h = p->first; h != NONE; h = f->hop[h].next) {
        const fire_flow_t *s = &f->flow[f->hop[h].flow];

        f->limit[n++] = (fire_limit_t){least_share(f, s, h), s->active};
        wanting += s->active;
    }
    do {
        int kept = 0;

        before = n;
        share  = wanting > 0 ? left / wanting : p->capacity;
        for (int i = 0; i < n; i++) {
            if (f->limit[i].share >= share) {
                f->limit[kept++] = f->limit[i];
                continue;
            }
            left -= f->limit[i].share * f->limit[i].active;
            wanting -= f->limit[i].active;
        }
        n = kept;
    } while (n > 0 && n < before);
    return n > 0 ? share : p->capacity;
}

/* The port's share has changed: queue the other ports of its flows. */
static void spread(fire_flows_t *f, int port)
{
    for (int h = f->port[port].first; h != NONE; h = f->hop[h].next) {
        const fire_flow_t *s = &f->flow[f->hop[h].flow];

        list_flow(f, f->hop[h].flow);
        for (int i = s->hop; i < s->hop + s->nhop; i++)
            if (f->hop[i].port != port) ask_anew(f, f->hop[i].port);
    }
}

static void relax(fire_flows_t *f)
{
    while (f->nqueue > 0) {
        int             port = f->queue[f->front];
        fire_passage_t *p    = &f->port[port];
        double          share;

        f->front = (f->front + 1) % f->nport;
        f->nqueue--;
        p->asked = false;
        share    = even_share(f, p);
        if (fabs(share - p->share) <= SAME * share) continue;
        p->share = share;
        spread(f, port);
    }
}

/* Queue the ports of flows whose number of messages differs from the last settle(). */
static void ask_changed(fire_flows_t *f)
{
    for (int i = 0; i < f->nmember; i++) {
        const fire_flow_t *s = &f->flow[f->member[i]];

        for (int k = s->hop; s->active != s->settled && k < s->hop + s->nhop; k++)
            ask_anew(f, f->hop[k].port);
    }
}

void fire_flows_settle(fire_flows_t *f, double now)
{
    ask_changed(f);
    relax(f);
    for (int i = 0; i < f->nmember; i++) {
        fire_flow_t *s = &f->flow[f->member[i]];

        s->given   = fire_flows_given(s, now);
        s->since   = now;
        s->settled = s->active;
        s->rate    = s->active > 0 ? least_share(f, s, NONE) : 0;
    }
}

void fire_flows_forget(fire_flows_t *f)
{
    for (int i = 0; i < f->nmember; i++)
        f->flow[f->member[i]].listed = false;
    f->nmember = 0;
}
