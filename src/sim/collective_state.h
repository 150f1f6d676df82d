/* collective_state.h - the state of a simulated collective, for collective.c, which
 * moves messages through the network, and collective_rounds.c, which does what the
 * executors of all ranks would do. */
#ifndef FIRE_SIM_COLLECTIVE_STATE_H
#define FIRE_SIM_COLLECTIVE_STATE_H
#include "sim/event_queue.h"
#include "sim/flow.h"
#include "sim/traffic.h"

/* Kinds of events, and what fire_event_t.what is for each. */
typedef enum fire_sim_event {
    FIRE_SIM_READY,   /* message: posted on both sides, its latency has passed */
    FIRE_SIM_THROUGH, /* pipe: its next message has passed the network */
    FIRE_SIM_TAKEN,   /* message: its receiver has copied or added it */
    FIRE_SIM_SUMMED   /* step, a SUM: its operands are added */
} fire_sim_event_t;

/* The way of a pipe's messages. */
typedef struct fire_sim_route {
    const fire_wire_t *wire;
    bool               lent; /* zero-copy: no bytes go through the network */
} fire_sim_route_t;

typedef struct fire_sim {
    fire_traffic_t     t;
    fire_flows_t       flows; /* flow k carries the messages of pipe k */
    fire_sim_route_t  *route; /* [npipe] */
    fire_event_queue_t events;
    bool               mingle;     /* messages of a pipe share its way, see machine.h */
    double            *busy;       /* [rank] seconds: until then its core is occupied */
    double             crowd;      /* slowdown because ranks share cores; 1: none */
    double             now;        /* seconds: first of the events handled together */
    double             event_time; /* seconds: of the event being handled */
} fire_sim_t;

/* The step at the sending (out) or receiving end of a message. */
fire_sim_step_t *fire_sim_end(fire_sim_t *s, int64_t message, bool out);
/* Occupy the rank's core for so many seconds, after what it is doing; returns the time
 * at which that ends. */
double fire_sim_work(fire_sim_t *s, int rank, double seconds);
/* Post the receives of a pipe that may be posted now. */
fire_status_t fire_sim_post_in(fire_sim_t *s, fire_sim_pipe_t *p);
/* Begin to copy or add messages that have arrived and whose round has come. */
fire_status_t fire_sim_take(fire_sim_t *s, fire_sim_pipe_t *p);
/* Let the chain enter its next round, if this one is done. */
fire_status_t fire_sim_advance(fire_sim_t *s, fire_sim_chain_t *chain);
/* One end of a message is done. */
fire_status_t fire_sim_finish(fire_sim_t *s, int64_t message, bool out);
#endif
