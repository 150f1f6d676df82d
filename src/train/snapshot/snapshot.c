/* snapshot.c - the state of a training: Caffe's, with our position in the data added.
 * Makes it for a snapshot (save.c writes that), restores it from one. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "model/load.h"
#include "train/snapshot/snapshot.h"
#include "train/snapshot/vigil.h"
#include "train/trainer_state.h"

const char *fire_trainer_prefix(const fire_trainer_t *t)
{
    return t->param->snapshot_prefix != NULL ? t->param->snapshot_prefix : "snapshot";
}

/* Fail before training if snapshots cannot be written, not hours later. */
fire_status_t fire_trainer_check_prefix(const fire_trainer_t *t)
{
    char         *probe;
    double        now;
    fire_status_t st;

    if (t->param->snapshot <= 0 && !t->param->snapshot_after_train) return FIRE_OK;
    FIRE_TRY(fire_asprintf(&probe, "%s_iter_%d.tempfile", fire_trainer_prefix(t),
                           t->param->max_iter));
    st = fire_file_probe(probe, &now);
    fire_free(probe);
    if (st >= 0) return st;
    return fire_error_prefix(st,
                             "snapshots go to \"%s_iter_...\"; create its directory or "
                             "set snapshot_prefix",
                             fire_trainer_prefix(t));
}

/* Where the run is in its data and its random numbers. */
static void save_position(const fire_trainer_t *t, Caffe__FireState *ours)
{
    ours->has_origin = ours->has_seed = ours->has_lanes = ours->has_threads = true;

    ours->origin  = t->net->moment.origin;
    ours->seed    = t->net->moment.seed;
    ours->lanes   = (uint32_t)t->lanes;
    ours->threads = (uint32_t)t->options.ctx.threads;
}

/* The loss scale of fp16 is part of a run's state: with another one, the first
 * iterations after a resume might be skipped. */
static fire_status_t save_scale(const fire_trainer_t *t, Caffe__FireState *ours)
{
    if (!t->net->ctx.scaled) return FIRE_OK;
    ours->has_loss_scale = ours->has_loss_scale_steps = true;
    return fire_gpu_get_scale(t->net->ctx.stream, &ours->loss_scale,
                              &ours->loss_scale_steps);
}

static fire_status_t restore_scale(fire_trainer_t *t, const Caffe__FireState *ours)
{
    if (!t->net->ctx.scaled || ours == NULL || !ours->has_loss_scale) return FIRE_OK;
    return fire_gpu_set_scale(t->net->ctx.stream, ours->loss_scale,
                              ours->loss_scale_steps);
}

fire_status_t fire_trainer_make_state(const fire_trainer_t *t,
                                      Caffe__SolverState  **state_p)
{
    Caffe__FireState *ours;

    FIRE_TRY(fire_solver_save(t->solver, state_p));
    FIRE_TRY(fire_message_add_message(*state_p, "fire", &ours));
    save_position(t, ours);
    FIRE_TRY(fire_trainer_save_origin(t, ours));
    FIRE_TRY(fire_follow_save(t, ours));
    return save_scale(t, ours);
}

/* A state of Caffe (ours NULL) has no position in the data: they restart at the first
 * record, as in Caffe. */
static void restore_position(fire_trainer_t *t, const Caffe__FireState *ours)
{
    int64_t here = t->solver->iter * t->param->iter_size;

    t->net->moment.origin = ours != NULL ? ours->origin : here;
    if (ours == NULL)
        FIRE_LOG(INFO,
                 "The state holds no data position: data start at the first record.");
    if (ours != NULL && ours->has_seed) {
        t->net->moment.seed = ours->seed;
        for (int i = 0; i < t->ntest; i++)
            t->test[i].net->moment.seed = ours->seed;
    }
    if (ours != NULL && ours->lanes != (uint32_t)t->lanes)
        FIRE_LOG(WARNING,
                 "the snapshot was made with %u lanes, this run has %d: results will "
                 "differ in the last bits; --lanes %u would continue exactly",
                 ours->lanes, t->lanes, ours->lanes);
    if (ours != NULL && ours->has_threads &&
        ours->threads != (uint32_t)t->options.ctx.threads)
        FIRE_LOG(
            INFO,
            "The snapshot was made with --threads %u: with another number, results "
            "may differ in the last bits.",
            ours->threads);
}

/* A worker that fails here makes all fail: the caller agrees on the status. */
static fire_status_t restore(fire_trainer_t *t, const char *path)
{
    Caffe__SolverState *state;
    char               *model;
    fire_status_t       st;

    FIRE_TRY(fire_snapshot_open(path, &state, &model));
    FIRE_TRY_GOTO(st, fire_solver_load(t->solver, state, path), out);
    if (model != NULL) FIRE_TRY_GOTO(st, fire_net_load_file(t->net, model), out);
    FIRE_TRY_GOTO(st, fire_trainer_load_residual(t, state->fire), out);
    FIRE_TRY_GOTO(st, restore_scale(t, state->fire), out);
    FIRE_TRY_GOTO(st, fire_follow_restore(t, state->fire, path), out);
    restore_position(t, state->fire);
    fire_trainer_compare_origin(t, state->fire);
out:
    fire_free(model);
    fire_message_free(state);
    return st;
}

fire_status_t fire_trainer_restore(fire_trainer_t *t, const char *path)
{
    fire_trainer_call_t call = fire_trainer_enter(t);
    fire_status_t       st   = call.st;
    fire_vigil_t        vigil;

    FIRE_LOG(INFO, "Resuming from %s", path);
    if (st >= 0) st = fire_trainer_wait(t);
    if (st >= 0 && t->saves) st = fire_trainer_settle(t);
    fire_vigil_begin(t, &vigil);
    if (st >= 0) st = restore(t, path);
    fire_vigil_end(&vigil);
    return fire_trainer_leave(t, call, fire_trainer_agree(t, st));
}

/* The newest snapshot of those that were written after `since` and are of iterations below
 * `below`, "" if there is none, as rank 0 finds
 * it; all workers get the same path. */
static fire_status_t find_newest(fire_trainer_t *t, double since, int64_t below,
                                 char path[PATH_MAX])
{
    char         *found = NULL;
    fire_vigil_t  vigil;
    fire_status_t st = FIRE_OK;

    memset(path, 0, PATH_MAX);
    if (t->saves) FIRE_TRY(fire_trainer_settle(t));
    fire_vigil_begin(t, &vigil);
    if (fire_trainer_rank(t) == 0) {
        fire_snapshot_clean(fire_trainer_prefix(t));
        st = fire_snapshot_find_below(fire_trainer_prefix(t), since, below, &found);
    }
    fire_vigil_end(&vigil);
    if (found != NULL) snprintf(path, PATH_MAX, "%s", found);
    fire_free(found);
    if (t->options.comm == NULL) return st;
    FIRE_TRY(fire_comm_agree(t->options.comm, st));
    return fire_comm_broadcast(t->options.comm, 0, path, PATH_MAX);
}

/* From this snapshot, "" for none, or from memory if that is newer. */
static fire_status_t recover(fire_trainer_t *t, const char *path, bool *found_p)
{
    FIRE_TRY(fire_memory_recover(t, fire_snapshot_iteration(path), found_p));
    if (*found_p || path[0] == '\0') return FIRE_OK;
    *found_p = true;
    return fire_trainer_restore(t, path);
}

fire_status_t fire_trainer_recover(fire_trainer_t *t, const char *path, bool *found_p)
{
    fire_trainer_call_t call = fire_trainer_listen(t);

    return fire_trainer_leave(t, call, recover(t, path, found_p));
}

static fire_status_t resume(fire_trainer_t *t, bool *found_p)
{
    char path[PATH_MAX];

    FIRE_TRY(find_newest(t, 0, INT64_MAX, path));
    FIRE_TRY(recover(t, path, found_p));
    if (*found_p) return FIRE_OK;
    FIRE_LOG(INFO, "No snapshot to resume from: starting at iteration 0");
    return FIRE_OK;
}

fire_status_t fire_trainer_resume(fire_trainer_t *t, bool *found_p)
{
    fire_trainer_call_t call = fire_trainer_listen(t);

    return fire_trainer_leave(t, call, resume(t, found_p));
}

fire_status_t fire_trainer_go_back(fire_trainer_t *t, int64_t below, bool *found_p)
{
    char path[PATH_MAX];

    FIRE_TRY(find_newest(t, t->follow.since, below, path));
    *found_p = path[0] != '\0';
    return *found_p ? fire_trainer_restore(t, path) : FIRE_OK;
}
