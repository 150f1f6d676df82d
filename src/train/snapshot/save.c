/* save.c - when a snapshot is written and what happens if it cannot be. Those that the
 * solver asks for are written beside training (saver.h), by rank 0: what was on disk
 * before stays, training goes on while a disk is slow or full, and the snapshot is tried
 * again. */
#include <math.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "train/snapshot/vigil.h"
#include "train/trainer_state.h"

/* Seconds between tries to write the last snapshot: 1/8, 1/4 ... up to this. */
static const double LONGEST_WAIT = 4;
/* If the next one is due before the last one is written, a small one (bytes) is waited
 * for so many seconds: it takes no time unless the disk hangs. A large one is waited for
 * this fraction of the time since it was begun, so that no disk slows training by more. */
static const int64_t SMALL = 64 << 20;
static const double  WAIT = 5, FRACTION = 0.05;
static const double  LOOK = 0.1; /* seconds between looks at the patience */

static void pause_for(double seconds)
{
    time_t whole = (time_t)seconds;

    nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

/* ---- what became of one (rank 0) ---- */

/* Seconds for which snapshots may fail or be late; 0: any time. */
static double patience_of(const fire_trainer_t *t)
{
    static const Caffe__FireParameter defaults = CAFFE__FIRE_PARAMETER__INIT;
    const Caffe__FireParameter *f = t->param->fire != NULL ? t->param->fire : &defaults;

    return (double)f->snapshot_patience;
}

static fire_status_t check_patience(const fire_trainer_t *t)
{
    double since    = t->failing_since > 0    ? t->failing_since
                      : t->saver.copy != NULL ? t->saver.began
                                              : 0;
    double patience = patience_of(t), late = fire_clock_now() - since;

    if (since <= 0 || patience <= 0 || late <= patience) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_IO,
                     "no snapshot could be written for %.0f s: is the disk full or "
                     "disconnected? (snapshot_patience is %g s)",
                     late, patience);
}

static void note(fire_trainer_t *t, int64_t iter, fire_status_t written, double began)
{
    t->retry_after = written >= 0 ? 0 : t->retry_after > 0 ? 2 * t->retry_after : 1;
    t->retry_at    = t->solver->iter + t->retry_after;
    if (written >= 0)
        t->failing_since = 0;
    else if (t->failing_since == 0)
        t->failing_since = began;
    if (written < 0 && fire_trainer_rank(t) == 0)
        FIRE_LOG(WARNING,
                 "no snapshot of iteration %lld: %s; training goes on, the next try is "
                 "at iteration %lld",
                 (long long)iter, fire_last_error(), (long long)t->retry_at);
}

static void tell(fire_trainer_t *t, const fire_copy_t *c)
{
    fire_trainer_emit(t, (fire_train_event_t){.kind = FIRE_TRAIN_SNAPSHOT,
                                              .iter = c->iter,
                                              .name = c->path});
}

/* A disk that is full costs the best snapshot, not the training. */
static fire_status_t settle(fire_trainer_t *t)
{
    double        began = t->saver.began;
    fire_copy_t  *copy;
    fire_status_t st = fire_saver_finish(&t->saver, &copy);

    if (!copy->best)
        note(t, copy->iter, st, began);
    else if (st < 0)
        FIRE_LOG(WARNING, "the best snapshot was not written: %s", fire_last_error());
    if (st >= 0) tell(t, copy);
    fire_copy_free(copy);
    return st == FIRE_ERR_IO ? FIRE_OK : st;
}

fire_status_t fire_trainer_collect_snapshot(fire_trainer_t *t)
{
    if (t->saver.copy != NULL && fire_saver_wait(&t->saver, 0)) FIRE_TRY(settle(t));
    return check_patience(t);
}

bool fire_trainer_must_save_again(const fire_trainer_t *t)
{
    return fire_trainer_rank(t) == 0 && t->retry_after > 0 && t->saver.copy == NULL &&
           t->solver->iter + 1 >= t->retry_at;
}

/* Other workers are answered meanwhile. *over_p: nothing is being written any more. */
static fire_status_t wait_for(fire_trainer_t *t, double seconds, bool *over_p)
{
    double        until = fire_clock_now() + seconds;
    fire_vigil_t  vigil;
    fire_status_t st = FIRE_OK;

    *over_p = fire_saver_wait(&t->saver, seconds < LOOK ? seconds : LOOK);
    if (*over_p) return FIRE_OK;
    fire_vigil_begin(t, &vigil);
    while (st >= 0 && !*over_p && fire_clock_now() < until) {
        *over_p = fire_saver_wait(&t->saver, LOOK);
        st      = check_patience(t);
    }
    fire_vigil_end(&vigil);
    return st;
}

static fire_status_t wait_for_all(fire_trainer_t *t)
{
    bool over;

    if (t->saver.copy == NULL) return FIRE_OK;
    FIRE_TRY(wait_for(t, INFINITY, &over));
    return settle(t);
}

/* All workers; afterwards they know alike whether the last one is still to be written.
 * Updates must not be under way while workers talk, here and below. */
fire_status_t fire_trainer_settle(fire_trainer_t *t)
{
    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(fire_trainer_agree(t, wait_for_all(t)));
    t->saves = false;
    if (t->options.comm == NULL) return FIRE_OK;
    return fire_comm_broadcast(t->options.comm, 0, &t->retry_after,
                               sizeof(t->retry_after));
}

/* ---- beside training ---- */

/* Is there room for another? `must`: wait until there is. */
static fire_status_t make_room(fire_trainer_t *t, bool must, bool *room_p)
{
    const fire_saver_t *s = &t->saver;
    double              wait;
    bool                over;

    *room_p = true;
    if (s->copy == NULL || must) return wait_for_all(t);
    wait = s->copy->bytes < SMALL ? WAIT : FRACTION * (fire_clock_now() - s->began);
    FIRE_TRY(wait_for(t, wait, &over));
    if (over) return settle(t);
    FIRE_LOG(WARNING,
             "no snapshot of iteration %lld: that of iteration %lld is still being "
             "written, since %.1f s",
             (long long)t->solver->iter, (long long)s->copy->iter,
             fire_clock_now() - s->began);
    *room_p = false;
    return check_patience(t);
}

static fire_status_t begin(fire_trainer_t *t, const fire_copy_place_t *place, bool must)
{
    fire_copy_t  *copy = NULL;
    bool          room = true;
    fire_status_t st   = FIRE_OK;

    FIRE_TRY(fire_trainer_wait(t));
    if (fire_trainer_rank(t) == 0) st = make_room(t, must, &room);
    FIRE_TRY(fire_trainer_agree(t, st));
    if (t->options.comm != NULL)
        FIRE_TRY(fire_comm_broadcast(t->options.comm, 0, &room, sizeof(room)));
    if (!room) return FIRE_OK;
    FIRE_TRY(fire_copy_take(t, place, fire_trainer_rank(t) == 0, &copy));
    if (copy != NULL) fire_saver_start(&t->saver, copy);
    t->saves            = true;
    t->follow.came_from = INT64_MAX;
    return FIRE_OK;
}

static fire_copy_place_t ordinary_place(const fire_trainer_t *t)
{
    const Caffe__FireParameter *f = t->param->fire;

    return (fire_copy_place_t){.prefix = fire_trainer_prefix(t),
                               .keep   = f != NULL ? f->keep : 0};
}

fire_status_t fire_trainer_save(fire_trainer_t *t, bool must)
{
    fire_copy_place_t place = ordinary_place(t);

    return begin(t, &place, must);
}

/* The new one is complete before the last one goes. */
fire_status_t fire_trainer_snapshot_best(fire_trainer_t *t)
{
    char         *prefix;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&prefix, "%s_best", fire_trainer_prefix(t)));
    st = begin(t, &(fire_copy_place_t){prefix, 1, true}, true);
    fire_free(prefix);
    return st;
}

/* ---- at once ---- */

static fire_status_t write_at_once(fire_trainer_t *t, fire_copy_t *copy)
{
    fire_vigil_t  vigil;
    fire_status_t st = FIRE_OK;

    fire_vigil_begin(t, &vigil);
    if (copy != NULL) st = fire_copy_write(copy);
    fire_vigil_end(&vigil);
    return st;
}

/* The others wait until rank 0 has written. */
static fire_status_t try_now(fire_trainer_t *t, fire_status_t *written_p)
{
    fire_copy_place_t place = ordinary_place(t);
    fire_copy_t      *copy  = NULL;
    fire_status_t     st, written;

    FIRE_TRY(fire_trainer_settle(t));
    FIRE_TRY(fire_copy_take(t, &place, fire_trainer_rank(t) == 0, &copy));
    written = write_at_once(t, copy);
    if (written >= 0 && copy != NULL) tell(t, copy);
    fire_copy_free(copy);
    st = written != FIRE_ERR_IO && written < 0 ? written : FIRE_OK;
    FIRE_TRY(fire_trainer_agree(t, st));
    if (t->options.comm != NULL)
        FIRE_TRY(fire_comm_broadcast(t->options.comm, 0, &written, sizeof(written)));
    if (written >= 0) t->follow.came_from = INT64_MAX;
    *written_p = written;
    return FIRE_OK;
}

fire_status_t fire_trainer_save_now(fire_trainer_t *t)
{
    fire_status_t written;
    double        began = fire_clock_now();

    FIRE_TRY(try_now(t, &written));
    note(t, t->solver->iter, written, began);
    return FIRE_OK;
}

/* There is no later: tried for some seconds. */
fire_status_t fire_trainer_save_last(fire_trainer_t *t)
{
    double        wait = 0.125;
    fire_status_t written;

    for (;; wait *= 2) {
        FIRE_TRY(try_now(t, &written));
        if (written >= 0 || wait > LONGEST_WAIT) break;
        if (fire_trainer_rank(t) == 0)
            FIRE_LOG(WARNING, "the last snapshot is tried again: %s",
                     fire_last_error());
        pause_for(wait);
    }
    return fire_trainer_agree(t, fire_trainer_rank(t) == 0 ? written : FIRE_OK);
}

fire_status_t fire_trainer_snapshot(fire_trainer_t *t)
{
    fire_trainer_call_t call    = fire_trainer_enter(t);
    fire_status_t       written = FIRE_OK, st = call.st;

    if (st >= 0) st = try_now(t, &written);
    if (st >= 0)
        st = fire_trainer_agree(t, fire_trainer_rank(t) == 0 ? written : FIRE_OK);
    return fire_trainer_leave(t, call, st);
}
