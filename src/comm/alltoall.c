/* alltoall.c - all messages in one round of one chain. */
#include "comm/alltoall.h"

#include "base/clock.h"
#include "comm/comm_state.h"

/* Peers in the order rank+1, rank+2, ...: if all ranks began with rank 0, its link
 * would be the bottleneck. */
static fire_status_t plan(const fire_comm_t *c, const fire_span_t *send,
                          const fire_span_t *recv, fire_sched_t *out)
{
    fire_coll_t d = {.rank = c->tp->rank, .size = c->tp->size, .grain = 1};

    for (int i = 1; i < d.size; i++) {
        int to = (d.rank + i) % d.size, from = (d.rank + d.size - i) % d.size;

        FIRE_TRY(fire_sched_add(out, &d, 0, FIRE_SEND, to, send[to]));
        FIRE_TRY(fire_sched_add(out, &d, 0, FIRE_RECV, from, recv[from]));
    }
    return FIRE_OK;
}

/* The first tag after those that take_number() of collective.c gives to collectives. */
static int own_tag(const fire_comm_t *c)
{
    int numbers = c->tp->max_tag / FIRE_MAX_COLORS;

    if (numbers > 64 * FIRE_LIVE_WORDS) numbers = 64 * FIRE_LIVE_WORDS;
    return numbers * FIRE_MAX_COLORS;
}

static fire_status_t finish(fire_comm_t *c, fire_exec_t *x)
{
    fire_pause_t  pause = {0};
    fire_status_t st    = fire_exec_start(x);

    if (st < 0) return st;
    while ((st = fire_exec_progress(x)) == FIRE_IN_PROGRESS) {
        if (fire_exec_moved(x))
            pause = (fire_pause_t){0};
        else
            fire_pause(&pause);
    }
    if (st < 0 && st != FIRE_ERR_PEER) fire_comm_fail(c);
    return st;
}

fire_status_t fire_comm_alltoall(fire_comm_t *c, float *buf, const fire_span_t *send,
                                 const fire_span_t *recv)
{
    fire_sched_t      sched = {0};
    fire_exec_setup_t setup = {.tp      = c->tp,
                               .sched   = &sched,
                               .buf     = buf,
                               .tag     = own_tag(c),
                               .timeout = c->timeout};
    fire_exec_t      *exec  = NULL;
    fire_status_t     st    = plan(c, send, recv, &sched);

    pthread_mutex_lock(&c->in_use);
    if (st == FIRE_OK) st = fire_exec_create(&setup, &exec);
    if (st == FIRE_OK) st = finish(c, exec);
    fire_exec_destroy(exec);
    pthread_mutex_unlock(&c->in_use);
    fire_sched_fini(&sched);
    return st;
}
