/* exec_state.h - the members of an executor, made by exec_setup.c and used by exec.c.
 *
 * A channel is all that this rank sends to, or receives from, one peer under one color.
 * Its messages keep their order, and a window of them is in flight at a time:
 *
 *   order[]  | released | finished | posted             | not yet posted |
 *          first      tail       seen                 head              end
 *                       |<------------ window ------------>|
 *
 * A chain is one chunk of one color (sched.h). It works through its rounds; `left`
 * counts the steps of its round that are unfinished. */
#ifndef FIRE_COMM_EXEC_STATE_H
#define FIRE_COMM_EXEC_STATE_H
#include "comm/exec/exec.h"

/* Messages of a channel in flight: the least, which keeps an ideal network busy; the
 * least of algorithms that are no pipelines; the most; and the most where a SUM waits for
 * all that a peer holds, two sums for each level of the tree over lanes. */
enum {
    FIRE_WINDOW      = 2,
    FIRE_WINDOW_WIDE = 4,
    FIRE_WINDOW_MOST = 8,
    FIRE_WINDOW_HELD = 64
};

typedef struct fire_chain {
    int64_t first, end; /* its steps of the schedule: first ... end-1 */
    int64_t next;       /* first step of the next round */
    int64_t sum;        /* the round's SUM, if it has one */
    int     holds;      /* operands of that SUM that have not arrived */
    int     round;      /* the current one */
    int     left;       /* unfinished messages of this round */
    int     color, block;
} fire_chain_t;

typedef struct fire_channel {
    int        peer, color;
    bool       out;              /* sends; else receives */
    bool       lent;             /* zero-copy: the receiver reads the sender's memory */
    int64_t    first, end;       /* its steps are order[first] ... order[end-1] */
    int64_t    tail, seen, head; /* oldest unreleased; next to finish; next to post */
    int        window;           /* messages in flight at most */
    fire_req_t req[FIRE_WINDOW_HELD]; /* [window] of message k: req[k % window] */
    char      *memory; /* [window * stride] for messages outside of the buffer */
    size_t     stride; /* bytes per message; may be 0 */
    size_t     floats; /* with a codec: offset of the decoded elements in it */
} fire_channel_t;

struct fire_exec {
    fire_exec_setup_t s; /* the caller's */
    fire_chain_t     *chain;
    fire_channel_t   *channel;
    int64_t           nchain, nchannel;
    int64_t           live;  /* chains that are not done */
    int64_t          *front; /* [ncolor] first chain of the color that is not done */
    int               ncolor;
    int64_t          *order;                 /* [messages] steps, channel by channel */
    int              *chain_of, *channel_of; /* [steps] */
    void            **held;                  /* [steps] memory that a HOLD received */
    const float     **src;                   /* [operands] of the current SUM */
    float           **dst;                   /* [size] where its result goes */
    char             *memory;                /* of all channels */
    int               requests, reserved;    /* it needs; the transport has for it */
    bool              moved;                 /* by the last advance() */
    double            last_move;             /* fire_clock_now() of the last progress */
    int64_t           bytes;                 /* sent, all runs */
};

static inline const fire_step_t *fire_exec_step(const fire_exec_t *x, int64_t i)
{
    return &x->s.sched->step[i];
}

/* No message: runs when its round begins or, a SUM, when its operands are there. */
static inline bool fire_step_is_local(fire_step_kind_t kind)
{
    return kind == FIRE_SUM || kind == FIRE_FINAL || kind == FIRE_MERGE;
}

static inline bool fire_step_is_out(fire_step_kind_t kind)
{
    return kind == FIRE_SEND || kind == FIRE_LEND || kind == FIRE_NATIVE;
}

/* An operand of a SUM. */
static inline bool fire_step_is_held(fire_step_kind_t kind)
{
    return kind == FIRE_HOLD || kind == FIRE_BORROW;
}

/* Zero-copy: only the address is sent. */
static inline bool fire_step_is_loan(fire_step_kind_t kind)
{
    return kind == FIRE_LEND || kind == FIRE_BORROW;
}

/* Messages in flight, if `wanted` are asked for. Two keep a link busy. Four and more
 * keep it busy while a rank loses its core for a moment, or where cores are far apart;
 * more than four only while they fit into 2 MB. */
static inline int fire_window_of(int wanted, size_t longest_bytes)
{
    const size_t room   = 2 << 20;
    int          window = wanted < FIRE_WINDOW_WIDE ? FIRE_WINDOW : FIRE_WINDOW_WIDE;

    while (window < wanted && (size_t)window * longest_bytes < room)
        window++;
    return window;
}

/* deadline.c: FIRE_IN_PROGRESS, or FIRE_ERR_TIMEOUT if nothing has moved for too
 * long. */
fire_status_t fire_exec_check_deadline(fire_exec_t *x);

/* How many HOLDs and BORROWs the SUM at step i adds: those of its round right
 * before. */
static inline int fire_exec_holds(const fire_exec_t *x, int64_t i)
{
    int64_t first = x->chain[x->chain_of[i]].first, h = i;

    while (h > first && fire_step_is_held(fire_exec_step(x, h - 1)->kind) &&
           fire_exec_step(x, h - 1)->round == fire_exec_step(x, i)->round)
        h--;
    return (int)(i - h);
}
#endif
