/* flow.h - bytes that flow through the ports of a network. Messages that use a port at
 * the same time share its bandwidth max-min fairly: no message can get more without
 * taking it from one that has no more than itself.
 *
 * A flow is the messages of one pipe: they use the same ports and get the same rate.
 * The caller keeps the time; rates hold from one fire_flows_settle() to the next:
 *
 *   join(), leave() ...  at one moment
 *   settle(now)          computes new rates
 *   for each member      the caller looks at the new rates
 *   forget() */
#ifndef FIRE_SIM_FLOW_H
#define FIRE_SIM_FLOW_H
#include "sim/network.h"

typedef struct fire_flow {
    int    hop, nhop; /* its ports: hops hop ... hop + nhop - 1 */
    int    active;    /* messages that flow now */
    int    settled;   /* `active` at the last settle() */
    double rate;      /* bytes/s of each message */
    double given;     /* bytes that a message flowing all the time got until `since` */
    double since;     /* seconds: time of the last settle() */
    bool   listed;    /* is in fire_flows_t.member */
} fire_flow_t;

/* One port on the way of one flow. */
typedef struct fire_hop {
    int flow, port;
    int next, before; /* in its port's list of active flows; -1: none */
} fire_hop_t;

/* A port. */
typedef struct fire_passage {
    double capacity; /* bytes/s */
    double share;    /* bytes/s: the most that a message gets here */
    int    first;    /* list of hops: active flows that use it; -1: none */
    bool   asked;    /* is in fire_flows_t.queue */
} fire_passage_t;

/* What other ports leave to the messages of one flow. */
typedef struct fire_limit {
    double share;
    int    active;
} fire_limit_t;

typedef struct fire_flows {
    fire_flow_t    *flow;
    fire_hop_t     *hop;
    fire_passage_t *port;
    int             nflow, nhop, nport;   /* lengths of these */
    int            *member, nmember;      /* flows touched since forget() */
    int            *queue, front, nqueue; /* ring: ports whose share may be wrong */
    fire_limit_t   *limit;                /* [nflow] scratch of even_share() */
} fire_flows_t;

/* For nflow flows, which are then added as 0, 1, ...; nhop: sum of their path
 * lengths. */
fire_status_t fire_flows_init(fire_flows_t *f, const fire_network_t *net, int64_t nflow,
                              int64_t nhop);
void          fire_flows_fini(fire_flows_t *f);
void          fire_flows_add(fire_flows_t *f, const fire_path_t *path);

/* One more, or one less, message of the flow is active. */
void fire_flows_join(fire_flows_t *f, int flow);
void fire_flows_leave(fire_flows_t *f, int flow);
/* Compute the rates of all flows that changed. A port's share depends on the shares of
 * the other ports of its flows, so changes spread from port to port until they are
 * below 0.1 %. */
void fire_flows_settle(fire_flows_t *f, double now);
/* Empty the list of members. */
void fire_flows_forget(fire_flows_t *f);

/* Bytes that a message which flows all the time has got at time `now`. */
static inline double fire_flows_given(const fire_flow_t *s, double now)
{
    return s->given + s->rate * (now - s->since);
}
#endif
