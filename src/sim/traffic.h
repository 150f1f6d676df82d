/* traffic.h - the schedules of all ranks as one list of messages: what the simulator
 * of a collective works on. */
#ifndef FIRE_SIM_TRAFFIC_H
#define FIRE_SIM_TRAFFIC_H
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"

typedef struct fire_sim_step {
    fire_step_kind_t kind;
    int              rank, round, chain;
    int64_t          message; /* it sends or receives; -1: local */
    double           bytes;   /* on the wire; SUM, FINAL: of the span */
} fire_sim_step_t;

/* A message's two ends, and what has happened to it so far. */
typedef struct fire_sim_message {
    int64_t out, in; /* steps */
    int64_t pipe;
    bool    sent, wanted, arrived;
    double  leaves; /* not before: the sender is busy until then */
    double  until;  /* it is through when its flow has given so much */
} fire_sim_message_t;

/* Messages first ... end-1 go from one rank to one other under one color, in order.
 * Of those, each side has so many done with and posted. */
typedef struct fire_sim_pipe {
    int64_t first, end;
    int     window; /* how many may be under way */
    int64_t out_done, out_posted, in_done, in_taken, in_posted;
    int64_t passed, begun, ready; /* through; on its way; could be */
    double  due;                  /* when the next one is through */
} fire_sim_pipe_t;

typedef struct fire_sim_chain {
    int64_t first, end, next; /* its steps */
    int64_t sum;
    int     holds, round, left;
    int     block, group;
} fire_sim_chain_t;

/* Chains front ... end-1 of one rank and color are not done yet. */
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

/* `shared`: messages of a pipe share the wire, so that few are better. */
fire_status_t fire_traffic_plan(const fire_algo_t *algo, const fire_coll_t *c,
                                const fire_codec_t *codec, bool shared,
                                fire_traffic_t *t);
void          fire_traffic_fini(fire_traffic_t *t);
#endif
