/* keep.c - which snapshots stay: the best one under a name of its own, and the newest
 * ones where `keep` says how many. */
#include "base/alloc.h"
#include "base/log.h"
#include "train/snapshot/snapshot.h"
#include "train/trainer_state.h"

/* The new one is complete before the last one goes (prune). A disk that is full costs the
 * best snapshot, not the training. */
fire_status_t fire_trainer_snapshot_best(fire_trainer_t *t)
{
    fire_status_t st, written = FIRE_OK;

    t->saves_best = true;
    st            = fire_trainer_try_snapshot(t, &written);
    t->saves_best = false;
    if (st >= 0 && written < 0 && fire_trainer_rank(t) == 0)
        FIRE_LOG(WARNING, "the best snapshot was not written: %s", fire_last_error());
    return st;
}

fire_status_t fire_trainer_prune(const fire_trainer_t *t)
{
    int           keep = t->param->fire != NULL ? t->param->fire->keep : 0;
    char         *prefix;
    fire_status_t st;

    if (t->saves_best) keep = 1;
    if (keep == 0) return FIRE_OK;
    FIRE_TRY(fire_asprintf(&prefix, "%s%s", fire_trainer_prefix(t),
                           t->saves_best ? "_best" : ""));
    st = fire_snapshot_prune(prefix, t->solver->iter, keep);
    fire_free(prefix);
    return st;
}
