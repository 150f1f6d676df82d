/* retry.c - a disk that is full for a while costs no training: a snapshot that cannot be
 * written is tried again, and what was on disk before stays. */
#include <time.h>

#include "base/log.h"
#include "train/trainer_state.h"

/* Seconds between tries to write the last snapshot: 1/8, 1/4 ... up to this. */
static const double LONGEST_WAIT = 4;

static void pause_for(double seconds)
{
    time_t whole = (time_t)seconds;

    nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

/* All workers count alike: they know the outcome of each try. */
fire_status_t fire_trainer_save(fire_trainer_t *t)
{
    fire_status_t written;

    FIRE_TRY(fire_trainer_try_snapshot(t, &written));
    t->retry_after = written >= 0 ? 0 : t->retry_after > 0 ? 2 * t->retry_after : 1;
    t->retry_at    = t->solver->iter + t->retry_after;
    if (written < 0 && fire_trainer_rank(t) == 0)
        FIRE_LOG(WARNING,
                 "no snapshot of iteration %lld: %s; training goes on, the next try is "
                 "at iteration %lld",
                 (long long)t->solver->iter, fire_last_error(), (long long)t->retry_at);
    return FIRE_OK;
}

bool fire_trainer_must_save_again(const fire_trainer_t *t)
{
    return t->retry_after > 0 && t->solver->iter == t->retry_at;
}

/* There is no later: tried for some seconds. */
fire_status_t fire_trainer_save_last(fire_trainer_t *t)
{
    double        wait = 0.125;
    fire_status_t written;

    for (;; wait *= 2) {
        FIRE_TRY(fire_trainer_try_snapshot(t, &written));
        if (written >= 0 || wait > LONGEST_WAIT) break;
        if (fire_trainer_rank(t) == 0)
            FIRE_LOG(WARNING, "the last snapshot is tried again: %s",
                     fire_last_error());
        pause_for(wait);
    }
    return fire_trainer_agree(t, fire_trainer_rank(t) == 0 ? written : FIRE_OK);
}
