/* nan.c - what happens when loss or gradients are no finite numbers (on_nan):
 *
 *   warn      the update is applied, as in Caffe; one warning
 *   stop      the update is not applied; training fails
 *   skip      the update is not applied; training goes on with the next batch
 *   rollback  training goes on from the newest snapshot, with half the learning rate
 *
 * Gradients are looked at when all are summed, before the first update. The worker whose
 * lane lost its finite numbers knows the layer, and tells the others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "train/trainer_state.h"

enum { MOST_ROLLBACKS = 10 };

/* The warning of one that goes on, or the first words of a failure. */
static void describe(const fire_trainer_t *t, int64_t iter, double loss, char *text,
                     size_t size)
{
    const char *guilty = t->follow.guilty;
    char        what[64];

    if (isfinite(loss))
        snprintf(what, sizeof(what), "the gradients are not finite");
    else
        snprintf(what, sizeof(what), "the loss is %s",
                 isnan(loss)  ? "nan"
                 : loss < 0.0 ? "-inf"
                              : "inf");
    snprintf(text, size, "Iteration %lld: %s%s%s", (long long)iter, what,
             guilty[0] != '\0' ? ", first in " : "", guilty);
}

/* Every worker takes the text of the first one that has any. */
static fire_status_t share_guilty(fire_trainer_t *t)
{
    char text[FIRE_GUILTY], found[FIRE_GUILTY] = "";

    if (t->options.comm == NULL) return FIRE_OK;
    for (int r = 0; r < fire_trainer_size(t); r++) {
        memcpy(text, t->follow.guilty, sizeof(text));
        FIRE_TRY(fire_comm_broadcast(t->options.comm, r, text, sizeof(text)));
        if (found[0] == '\0') memcpy(found, text, sizeof(found));
    }
    memcpy(t->follow.guilty, found, sizeof(found));
    return FIRE_OK;
}

fire_status_t fire_nan_forward(fire_trainer_t *t, float loss)
{
    bool known = t->follow.guilty[0] != '\0' ||
                 (t->diverged && t->follow.on_nan == FIRE_NAN_WARN);

    if (isfinite(loss) || known) return FIRE_OK;
    return fire_nan_find(t, false);
}

/* To the newest snapshot of this run. If training from it fails again before it could
 * write another, its weights are what is wrong, and one before it is taken if there is.
 * Halving the rate makes the second try another one. */
static fire_status_t roll_back(fire_trainer_t *t, const char *what)
{
    fire_follow_t *f      = &t->follow;
    float          factor = t->solver->rate_factor / 2;
    int64_t        iter   = t->solver->iter;
    bool           found  = false;

    if (++f->rollbacks > MOST_ROLLBACKS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s; gave up after %d rollbacks", what,
                         MOST_ROLLBACKS);
    if (f->came_from < iter) FIRE_TRY(fire_trainer_go_back(t, f->came_from, &found));
    if (!found) FIRE_TRY(fire_trainer_go_back(t, iter, &found));
    if (!found)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s; on_nan: \"rollback\" found no snapshot of this run: set "
                         "`snapshot` to write some",
                         what);
    t->solver->rate_factor = factor;
    f->came_from           = t->solver->iter;
    FIRE_LOG(WARNING, "%s: back at iteration %lld, with %g of the learning rate", what,
             (long long)t->solver->iter, (double)factor);
    return FIRE_OK;
}

static void warn(const fire_trainer_t *t, const char *what)
{
    if (t->follow.on_nan == FIRE_NAN_SKIP)
        FIRE_LOG(WARNING, "%s: %s", what,
                 t->solver->bad ? "update skipped"
                                : "its update was finite and applied");
    else
        FIRE_LOG(WARNING,
                 "%s: training has diverged; a smaller base_lr or clip_gradients may "
                 "prevent it, --on_nan can stop, skip or roll back",
                 what);
}

fire_status_t fire_nan_settle(fire_trainer_t *t, int64_t iter, double loss)
{
    fire_follow_t *f     = &t->follow;
    bool           known = t->diverged && f->on_nan == FIRE_NAN_WARN;
    char           what[FIRE_GUILTY + 128];
    fire_status_t  st = FIRE_OK;

    if ((isfinite(loss) && !t->solver->bad) || known) return FIRE_OK;
    t->diverged = true;
    FIRE_TRY(fire_trainer_wait(t));
    if (t->solver->bad && f->guilty[0] == '\0') FIRE_TRY(fire_nan_find(t, true));
    FIRE_TRY(share_guilty(t));
    describe(t, iter, loss, what, sizeof(what));
    if (f->on_nan == FIRE_NAN_STOP)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "%s", what);
    else if (f->on_nan == FIRE_NAN_ROLLBACK)
        st = roll_back(t, what);
    else if (fire_trainer_rank(t) == 0)
        warn(t, what);
    f->guilty[0] = '\0';
    return st;
}
