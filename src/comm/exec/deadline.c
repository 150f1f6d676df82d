/* deadline.c - what an executor does when nothing has moved for long.
 *
 *   idle for   timeout / 2      ask the ranks that it waits for: are you alive?
 *              timeout * 3/4    warn, once, about those that do not answer
 *              timeout          FIRE_ERR_TIMEOUT if one does not answer
 *              timeout * 20     FIRE_ERR_TIMEOUT even if all answer: a deadlock  */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "comm/exec/exec_state.h"

int fire_exec_waits_for(const fire_exec_t *x, int *rank, int most)
{
    int n = 0;

    for (int r = 0; r < x->s.tp->size && n < most; r++)
        for (int64_t k = 0; k < x->nchannel; k++) {
            const fire_channel_t *ch = &x->channel[k];

            if (ch->peer != r || ch->seen == ch->head) continue;
            if (x->s.tp->ops->test(x->s.tp, ch->req[ch->seen % ch->window], NULL) ==
                FIRE_OK)
                continue;
            rank[n++] = r;
            break;
        }
    return n;
}

/* Write "rank 3" or "ranks 3 (node07), 5 (node09)" into text. */
static void name_ranks(const fire_exec_t *x, const int *rank, int nrank, char *text,
                       size_t size)
{
    char   name[128];
    size_t n = (size_t)snprintf(text, size, "rank%s", nrank > 1 ? "s" : "");

    for (int i = 0; i < nrank && n < size; i++) {
        snprintf(name, sizeof(name), "%d", rank[i]);
        if (x->s.name != NULL) x->s.name(x->s.who, rank[i], name, sizeof(name));
        n += (size_t)snprintf(text + n, size - n, "%s%s", i > 0 ? ", " : " ", name);
    }
}

/* Move the ranks that have not answered for half the timeout to the front; returns how
 * many they are. alive() asks those that it does not know about. */
static int silent_ones(const fire_exec_t *x, int *rank, int nrank)
{
    int n = 0;

    for (int i = 0; i < nrank; i++)
        if (!x->s.tp->ops->alive(x->s.tp, rank[i], x->s.timeout / 2)) {
            int other = rank[n];

            rank[n++] = rank[i];
            rank[i]   = other;
        }
    return n;
}

/* Nothing has moved for `idle` seconds. A rank that answers is computing, or waits
 * itself, and the rank next to the fault will report it. A rank that does not answer is
 * given up after the timeout. If all answer for very long, they wait for each other: a
 * deadlock. */
static fire_status_t overdue(fire_exec_t *x, double idle)
{
    enum { NAMED = 8 }; /* ranks in a message, at most */
    const double warn_at = 0.75 * x->s.timeout, give_up = 20 * x->s.timeout;
    char         text[512];
    int          rank[NAMED], nrank = fire_exec_waits_for(x, rank, NAMED);
    int          nsilent = silent_ones(x, rank, nrank);

    name_ranks(x, rank, nsilent > 0 ? nsilent : nrank, text, sizeof(text));
    if (nsilent > 0 && idle >= warn_at && x->s.warned != NULL && !*x->s.warned) {
        FIRE_LOG(WARNING, "no word from %s for %.0f s; giving up after %.0f s", text,
                 idle, x->s.timeout);
        *x->s.warned = true;
    }
    if (idle < (nsilent > 0 ? x->s.timeout : give_up)) return FIRE_IN_PROGRESS;
    return FIRE_FAIL(FIRE_ERR_TIMEOUT, "no word from %s for %.1f s", text, idle);
}

fire_status_t fire_exec_check_deadline(fire_exec_t *x)
{
    double now = fire_clock_now();

    if (x->moved) {
        x->last_move = now;
        if (x->s.warned != NULL) *x->s.warned = false;
    }
    return now - x->last_move < x->s.timeout / 2 ? FIRE_IN_PROGRESS
                                                 : overdue(x, now - x->last_move);
}
