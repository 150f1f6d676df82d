/* blocking.c - calls that return when all ranks are done: allreduce, broadcast,
 * allgather, barrier, agreement. Each is a small collective of its own; they are for
 * set-up and for ends of iterations, not for gradients. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "comm/comm_state.h"

static fire_status_t run(fire_comm_t *c, const fire_collective_options_t *o, float *buf,
                         size_t count)
{
    fire_collective_t *x = NULL;
    fire_status_t      st;

    pthread_mutex_lock(&c->in_use);
    st = fire_collective_create(c, o, buf, count, &x);
    if (st == FIRE_OK) st = fire_collective_start(x);
    if (st == FIRE_OK) st = fire_collective_wait(x);
    fire_collective_destroy(x);
    pthread_mutex_unlock(&c->in_use);
    return st;
}

fire_status_t fire_comm_allreduce(fire_comm_t *c, const char *algo, float *buf,
                                  size_t count)
{
    const fire_collective_options_t o = {.op   = FIRE_ALLREDUCE,
                                         .algo = algo != NULL ? algo : "auto"};

    return run(c, &o, buf, count);
}

static size_t floats_for(size_t bytes)
{
    return (bytes + sizeof(float) - 1) / sizeof(float);
}

fire_status_t fire_comm_broadcast(fire_comm_t *c, int root, void *data, size_t bytes)
{
    const fire_collective_options_t o = {
        .op = FIRE_BROADCAST, .algo = "tree", .root = root};
    float        *copy;
    fire_status_t st;

    if (root < 0 || root >= c->tp->size)
        return FIRE_FAIL(FIRE_ERR_INVALID, "there is no rank %d: the ranks are 0 to %d",
                         root, c->tp->size - 1);
    FIRE_TRY(FIRE_NEW(&copy, floats_for(bytes)));
    memcpy(copy, data, bytes);
    st = run(c, &o, copy, floats_for(bytes));
    if (st == FIRE_OK) memcpy(data, copy, bytes);
    fire_free(copy);
    return st;
}

/* Done as an allreduce: every byte is a float, and other ranks contribute zeros. That
 * takes log P messages per rank over connections that gradients need anyway; sending to
 * everybody would take P squared messages and connections. */
fire_status_t fire_comm_allgather(fire_comm_t *c, const void *mine, size_t bytes,
                                  void *all)
{
    const unsigned char *from = mine;
    unsigned char       *to   = all;
    size_t        n = (size_t)c->tp->size * bytes, own = (size_t)c->tp->rank * bytes;
    float        *sum;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&sum, n));
    for (size_t i = 0; i < bytes; i++)
        sum[own + i] = from[i];
    st = fire_comm_allreduce(c, "rhd", sum, n);
    for (size_t i = 0; i < n && st == FIRE_OK; i++)
        to[i] = (unsigned char)sum[i];
    fire_free(sum);
    return st;
}

/* Sum one float over all ranks. */
static fire_status_t sum_flag(fire_comm_t *c, float mine, float *sum_p)
{
    fire_status_t st;

    pthread_mutex_lock(&c->in_use);
    *c->flag = mine;
    st       = fire_collective_start(c->flag_sum);
    if (st == FIRE_OK) st = fire_collective_wait(c->flag_sum);
    if (st == FIRE_OK) *sum_p = *c->flag;
    pthread_mutex_unlock(&c->in_use);
    return st;
}

fire_status_t fire_comm_barrier(fire_comm_t *c)
{
    float sum;

    return sum_flag(c, 0, &sum);
}

/* What a rank tells the others: its status and, if it failed, its message. */
typedef struct report {
    int32_t status;
    char    text[508];
} report_t;

/* Some rank failed: gather all reports and return the lowest failed rank's, as its own
 * status there and as FIRE_ERR_PEER elsewhere. */
static fire_status_t share_reports(fire_comm_t *c, const report_t *mine)
{
    char          name[FIRE_HOST_LEN + 16];
    report_t     *all;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&all, c->tp->size));
    st = fire_comm_allgather(c, mine, sizeof(*mine), all);
    for (int r = 0; r < c->tp->size && st == FIRE_OK; r++)
        if (all[r].status < 0 && r == c->tp->rank)
            st = FIRE_FAIL((fire_status_t)mine->status, "%s", mine->text);
        else if (all[r].status < 0)
            st = FIRE_FAIL(FIRE_ERR_PEER, "rank %s: %s",
                           fire_comm_name(c, r, name, sizeof(name)), all[r].text);
    fire_free(all);
    return st;
}

fire_status_t fire_comm_agree(fire_comm_t *c, fire_status_t mine)
{
    report_t      report   = {.status = mine};
    float         failures = 0;
    fire_status_t st;

    if (mine < 0) snprintf(report.text, sizeof(report.text), "%s", fire_last_error());
    st = sum_flag(c, mine < 0, &failures);
    if (st == FIRE_OK && failures > 0) return share_reports(c, &report);
    /* The sum failed too: keep the first message. */
    if (mine < 0) return FIRE_FAIL(mine, "%s", report.text);
    return st < 0 ? st : mine;
}
