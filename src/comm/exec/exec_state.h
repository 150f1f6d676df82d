/* exec_state.h - what the executor keeps: made by exec_setup.c, run by exec.c.
 *
 * A channel is what this rank sends to, or gets from, one peer under one color;
 * its messages stay in order and a few of them are under way at a time. A chain is
 * one chunk of one color; it goes through its rounds. */
#ifndef FIRE_COMM_EXEC_STATE_H
#define FIRE_COMM_EXEC_STATE_H
#include "comm/exec/exec.h"

/* Messages of a channel under way at a time: the least, which is all that an ideal
 * network needs; the least of those that are not pipelines; and the most. */
enum { FIRE_WINDOW = 2, FIRE_WINDOW_WIDE = 4, FIRE_WINDOW_MOST = 8 };

typedef struct fire_chain {
    int64_t first, end, next; /* its steps; the first one of the next round */
    int64_t sum;              /* the round's SUM, and how many it waits for */
    int     holds;
    int     round, left; /* where it is, and what is unfinished there */
    int     color, block;
} fire_chain_t;

typedef struct fire_channel {
    int        peer, color;
    bool       out, lent;
    int64_t    first, end;       /* its steps are order[first ... end) */
    int64_t    tail, seen, head; /* oldest unreleased, next to finish, to post */
    int        window;           /* how many may be under way */
    fire_req_t req[FIRE_WINDOW_MOST];
    char      *memory; /* for messages that do not lie in the buffer itself: */
    size_t     stride; /* `window` places of so many bytes, */
    size_t     floats; /* decoded elements so far behind the encoded ones */
} fire_channel_t;

struct fire_exec {
    fire_exec_setup_t s;
    fire_chain_t     *chain;
    fire_channel_t   *channel;
    int64_t           nchain, nchannel, live; /* live: chains not yet done */
    int64_t          *front;                  /* by color: its first live chain */
    int               ncolor;
    int64_t          *order;                 /* steps, channel by channel */
    int              *chain_of, *channel_of; /* by step */
    void            **held;                  /* by step: what a HOLD got */
    const float     **src;                   /* of the SUM being made */
    float           **dst;
    char             *memory;
    int               requests, reserved; /* it needs, it has */
    bool              moved;
    double            last_move;
    int64_t           bytes;
};

static inline const fire_step_t *fire_exec_step(const fire_exec_t *x, int64_t i)
{
    return &x->s.sched->step[i];
}

static inline bool fire_step_is_local(fire_step_kind_t kind)
{
    return kind == FIRE_SUM || kind == FIRE_FINAL;
}

static inline bool fire_step_is_out(fire_step_kind_t kind)
{
    return kind == FIRE_SEND || kind == FIRE_LEND || kind == FIRE_NATIVE;
}

static inline bool fire_step_is_held(fire_step_kind_t kind)
{
    return kind == FIRE_HOLD || kind == FIRE_BORROW;
}

/* The bytes stay where they are; only a note of them travels. */
static inline bool fire_step_is_loan(fire_step_kind_t kind)
{
    return kind == FIRE_LEND || kind == FIRE_BORROW;
}

/* Two messages of a channel keep a link busy. Four and more make up for ranks that lose
 * their core now and then, or whose cores are far apart; but those shall not take up too
 * much memory. */
static inline int fire_window_of(int wish, size_t longest_bytes)
{
    const size_t room   = 2 << 20;
    int          window = wish < FIRE_WINDOW_WIDE ? FIRE_WINDOW : FIRE_WINDOW_WIDE;

    while (window < wish && (size_t)window * longest_bytes < room)
        window++;
    return window;
}

/* How many HOLDs and BORROWs the SUM at i adds. */
static inline int fire_exec_holds(const fire_exec_t *x, int64_t i)
{
    int64_t first = x->chain[x->chain_of[i]].first, h = i;

    while (h > first && fire_step_is_held(fire_exec_step(x, h - 1)->kind) &&
           fire_exec_step(x, h - 1)->round == fire_exec_step(x, i)->round)
        h--;
    return (int)(i - h);
}
#endif
