/* traffic.h - the schedules of all ranks as one list of messages, for the simulator of
 * a collective (collective.c).
 *
 *   step     one rank's end of a message, or a local addition
 *   message  a sending and a receiving step that belong together
 *   pipe     all messages from one rank to one other under one color, in order
 *   chain    steps of one rank, color and chunk, as in comm/sched.h
 *   group    the chains of one rank and color, which open block by block */
#ifndef FIRE_SIM_TRAFFIC_H
#define FIRE_SIM_TRAFFIC_H
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"

typedef struct fire_sim_step {
    fire_step_kind_t kind;
    int              rank, round, chain;
    int64_t          message; /* that it sends or receives; -1: local */
    double           bytes;   /* on the wire; of a SUM or FINAL: of the span */
} fire_sim_step_t;

/* A message, and what has happened to it so far. */
typedef struct fire_sim_message {
    int64_t out, in; /* sending and receiving step */
    int64_t pipe;
    bool    sent, wanted; /* posted by the sender; by the receiver */
    bool    arrived;
    double  leaves; /* seconds: the sender's core is done with it */
    double  until;  /* through when its flow has given so many bytes, see flow.h */
} fire_sim_message_t;

/* Messages first ... end-1. The counters are numbers of messages: those before the
 * counter have reached that state. */
typedef struct fire_sim_pipe {
    int64_t first, end;
    int     window;               /* messages in flight at most */
    int64_t out_done, out_posted; /* sender: finished, posted */
    int64_t in_done, in_taken, in_posted;
    int64_t passed, begun, ready; /* network: through, flowing, may flow */
    double  due;                  /* seconds: the next one is through */
} fire_sim_pipe_t;

typedef struct fire_sim_chain {
    int64_t first, end, next; /* steps; `next`: first of the next round */
    int64_t sum;              /* the round's SUM */
    int     holds;            /* operands of it that have not arrived */
    int     round, left;      /* current round; its messages that are not finished */
    int     block, group;
} fire_sim_chain_t;

/* Chains front ... end-1 are not done. */
typedef struct fire_sim_group {
    int64_t front, end;
} fire_sim_group_t;

typedef struct fire_traffic {
    fire_sim_step_t    *step;
    fire_sim_message_t *message;
    fire_sim_pipe_t    *pipe;
    fire_sim_chain_t   *chain;
    fire_sim_group_t   *group;
    int64_t nstep, step_cap, nmessage, npipe, nchain, chain_cap, ngroup, group_cap;
} fire_traffic_t;

/* Plan all ranks and match their messages. `shared`: messages of a pipe share the link
 * (as in SimGrid), so the windows are narrow. */
fire_status_t fire_traffic_plan(const fire_algo_t *algo, const fire_coll_t *c,
                                const fire_codec_t *codec, bool shared,
                                fire_traffic_t *t);
void          fire_traffic_fini(fire_traffic_t *t);
#endif
