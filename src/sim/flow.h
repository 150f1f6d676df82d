/* flow.h - bytes that flow through the ports of a network. Messages that meet in a
 * port share it, max-min fairly: no message can get more without another one, which
 * has no more than it, getting less. Those of a flow take the same ports and so get
 * the same. Time is the caller's: rates hold from one settle to the next. */
#ifndef FIRE_SIM_FLOW_H
#define FIRE_SIM_FLOW_H
#include "sim/network.h"

typedef struct fire_flow {
    int    hop, nhop; /* ports on its way: hops hop ... hop + nhop - 1 */
    int    active;    /* messages, each at `rate`, bytes/s */
    int    settled;   /* `active` when rates were last shared out */
    double rate;
    double given, since; /* bytes that one active all along had got by then */
    bool   listed;       /* is a member */
} fire_flow_t;

typedef struct fire_hop {
    int flow, port;
    int next, before; /* in its port's list of active flows; -1: none */
} fire_hop_t;

typedef struct fire_passage { /* a port, as flows see it */
    double capacity, share;   /* bytes/s; a message gets no more than the share */
    int    first;             /* hop */
    bool   asked;             /* is in the queue */
} fire_passage_t;

typedef struct fire_limit {
    double share;
    int    active;
} fire_limit_t;

typedef struct fire_flows {
    fire_flow_t    *flow;
    fire_hop_t     *hop;
    fire_passage_t *port;
    int             nflow, nhop, nport;
    int            *member, nmember;      /* flows touched since the last settle, and
                                               by it */
    int            *queue, front, nqueue; /* ports whose share may be wrong */
    fire_limit_t   *limit;                /* scratch: of who passes a port */
} fire_flows_t;

/* Streams are added in order 0, 1, ...; `nhop`: ports on the ways of all of them. */
fire_status_t fire_flows_init(fire_flows_t *f, const fire_network_t *net, int64_t nflow,
                              int64_t nhop);
void          fire_flows_fini(fire_flows_t *f);
void          fire_flows_add(fire_flows_t *f, const fire_path_t *path);

/* A message more, or less, flows. */
void fire_flows_join(fire_flows_t *f, int flow);
void fire_flows_leave(fire_flows_t *f, int flow);
/* Share ports out anew where it matters: a port's share follows from those of the
 * other ports of who passes it, so changes go from port to port until they are too
 * small to count. */
void fire_flows_settle(fire_flows_t *f, double now);
/* The members are dealt with. */
void fire_flows_forget(fire_flows_t *f);

static inline double fire_flows_given(const fire_flow_t *s, double now)
{
    return s->given + s->rate * (now - s->since);
}
#endif
