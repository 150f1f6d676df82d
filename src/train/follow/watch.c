/* watch.c - follows one output of the tests: keeps the snapshot with its best value, stops
 * when it gets no better (early_stop), lowers the rate (lr_policy "plateau"). */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "train/snapshot/snapshot.h"
#include "train/trainer_state.h"

static const Caffe__FireParameter *settings(const fire_trainer_t *t)
{
    static const Caffe__FireParameter defaults = CAFFE__FIRE_PARAMETER__INIT;

    return t->param->fire != NULL ? t->param->fire : &defaults;
}

static bool is_plateau(const Caffe__SolverParameter *p)
{
    return p->lr_policy != NULL && strcmp(p->lr_policy, "plateau") == 0 &&
           p->n_plateau_winsize == 0;
}

fire_status_t fire_follow_check(const Caffe__SolverParameter *p)
{
    const char *best = p->fire != NULL ? p->fire->best : NULL;

    if (best == NULL && p->fire != NULL && p->fire->early_stop > 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "early_stop needs best: the test output that must get better, "
                         "as best: \"accuracy\"");
    if (best == NULL && is_plateau(p))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "lr_policy \"plateau\" needs fire { best }, the test output that "
            "must get better, or plateau_winsize, to follow the training's "
            "loss");
    if (best != NULL && p->n_test_iter == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "best: \"%s\" needs a test net: give test_iter and test_interval", best);
    return FIRE_OK;
}

/* Is there such an output? If not, *list names those that are. */
static bool has_output(const fire_trainer_t *t, const char *name, fire_str_t *list)
{
    for (int i = 0; i < t->ntest; i++)
        for (int k = 0; k < t->test[i].net->noutput; k++) {
            const fire_net_t *net = t->test[i].net;
            const char       *out = net->blob[net->output[k]].name;

            if (strcmp(out, name) == 0) return true;
            fire_str_printf(list, "%s%s", list->n > 0 ? ", " : "", out);
        }
    return false;
}

static fire_status_t check_output(const fire_trainer_t *t)
{
    const char   *best = settings(t)->best;
    fire_str_t    list = {0};
    fire_status_t st   = FIRE_OK;

    if (best != NULL && !has_output(t, best, &list))
        st = FIRE_FAIL(FIRE_ERR_INVALID,
                       "best: the test nets have no output \"%s\"; they have %s", best,
                       list.n > 0 ? list.text : "none");
    fire_str_fini(&list);
    return st;
}

static fire_on_nan_t on_nan(const char *word)
{
    static const char *const words[] = {"warn", "stop", "skip", "rollback"};
    int                      i       = 0;

    while (i < 3 && strcmp(words[i], word) != 0)
        i++;
    return (fire_on_nan_t)i;
}

fire_status_t fire_follow_start(fire_trainer_t *t)
{
    fire_follow_t *f = &t->follow;

    f->tested     = -1;
    f->best_iter  = -1;
    f->least_loss = INFINITY;
    f->came_from  = INT64_MAX;
    f->on_nan     = on_nan(settings(t)->on_nan);
    FIRE_TRY(fire_follow_check(t->param));
    FIRE_TRY(check_output(t));
    if (f->on_nan == FIRE_NAN_ROLLBACK && fire_trainer_rank(t) == 0)
        FIRE_TRY(fire_snapshot_now(fire_trainer_prefix(t), &f->since));
    return fire_average_start(t);
}

void fire_follow_end(fire_trainer_t *t)
{
    for (int i = 0; t->follow.mean != NULL && i < t->net->nparam; i++)
        fire_blob_destroy(t->follow.mean[i]);
    fire_free(t->follow.mean);
}

/* The first one of that name counts. */
void fire_follow_value(fire_trainer_t *t, const char *name, double weight, double value)
{
    const Caffe__FireParameter *f = settings(t);

    if (f->best == NULL || t->follow.seen || strcmp(name, f->best) != 0) return;
    t->follow.seen  = true;
    t->follow.value = value;
    t->follow.higher =
        strcmp(f->best_is, "auto") == 0 ? weight == 0 : strcmp(f->best_is, "max") == 0;
}

/* A value that is no number is never better. */
static bool is_better(const fire_trainer_t *t)
{
    const fire_follow_t *f     = &t->follow;
    double               delta = (double)settings(t)->best_delta;

    if (isnan(f->value)) return false;
    if (f->best_iter < 0) return true;
    return f->higher ? f->value > f->best + delta : f->value < f->best - delta;
}

static fire_status_t keep_best(fire_trainer_t *t)
{
    fire_follow_t *f = &t->follow;

    f->best      = f->value;
    f->best_iter = t->solver->iter;
    f->waited = f->stalled = 0;
    FIRE_LOG(INFO, "Iteration %lld: the best %s so far, %g", (long long)t->solver->iter,
             settings(t)->best, f->best);
    return fire_trainer_snapshot_best(t);
}

static void drop_rate(fire_trainer_t *t)
{
    t->solver->current_step++;
    FIRE_LOG(INFO, "Plateau Status: Iteration %lld, step = %d",
             (long long)t->solver->iter, t->solver->current_step);
}

/* A test without a better value. */
static void wait_on(fire_trainer_t *t)
{
    const Caffe__FireParameter *s = settings(t);
    fire_follow_t              *f = &t->follow;

    f->waited++;
    f->stalled++;
    if (is_plateau(t->param) && f->stalled >= s->patience) {
        drop_rate(t);
        f->stalled = 0;
    }
    if (s->early_stop > 0 && f->waited >= s->early_stop) {
        FIRE_LOG(
            INFO,
            "Iteration %lld: stopping early: in %d tests %s was no better than %g, of "
            "iteration %lld",
            (long long)t->solver->iter, f->waited, s->best, f->best,
            (long long)f->best_iter);
        t->stopped = f->stopped = true;
    }
}

/* A run that goes on from a snapshot of this very test runs it again: it counts once. */
fire_status_t fire_follow_tested(fire_trainer_t *t)
{
    fire_follow_t *f = &t->follow;

    if (!f->seen) return FIRE_OK;
    f->seen = false;
    if (f->tested == t->solver->iter) return FIRE_OK;
    f->tested = t->solver->iter;
    if (is_better(t)) return keep_best(t);
    wait_on(t);
    return FIRE_OK;
}

/* As SSD's fork does it. */
void fire_follow_loss(fire_trainer_t *t, double mean)
{
    const Caffe__SolverParameter *p = t->param;
    fire_follow_t                *f = &t->follow;

    if (p->lr_policy == NULL || strcmp(p->lr_policy, "plateau") != 0 ||
        p->n_plateau_winsize == 0)
        return;
    if (mean < f->least_loss) {
        f->least_loss = mean;
        f->least_iter = t->solver->iter;
    }
    if ((size_t)t->solver->current_step >= p->n_plateau_winsize ||
        t->solver->iter < f->least_iter + p->plateau_winsize[t->solver->current_step])
        return;
    drop_rate(t);
    f->least_iter = t->solver->iter;
}

/* ---- snapshots ---- */

fire_status_t fire_follow_save(const fire_trainer_t *t, Caffe__FireState *ours)
{
    const fire_follow_t *f = &t->follow;
    Caffe__FollowState  *s;

    FIRE_TRY(fire_message_add_message(ours, "follow", &s));
    s->has_tested = s->has_waited = s->has_stalled = s->has_rate_factor = true;

    s->tested      = f->tested;
    s->waited      = f->waited;
    s->stalled     = f->stalled;
    s->rate_factor = t->solver->rate_factor;
    s->has_best = s->has_best_iter = f->best_iter >= 0;
    s->best                        = f->best;
    s->best_iter                   = f->best_iter;
    s->has_least_loss = s->has_least_iter = isfinite(f->least_loss);
    s->least_loss                         = f->least_loss;
    s->least_iter                         = f->least_iter;
    return fire_average_save(t, ours);
}

fire_status_t fire_follow_restore(fire_trainer_t *t, const Caffe__FireState *ours,
                                  const char *path)
{
    const Caffe__FollowState *s = ours != NULL ? ours->follow : NULL;
    fire_follow_t            *f = &t->follow;

    f->since = 0; /* snapshots of the run that this one continues are its own */
    if (s != NULL) {
        f->tested              = s->tested;
        f->best                = s->best;
        f->best_iter           = s->has_best_iter ? s->best_iter : -1;
        f->waited              = s->waited;
        f->stalled             = s->stalled;
        f->least_loss          = s->has_least_loss ? s->least_loss : INFINITY;
        f->least_iter          = s->least_iter;
        t->solver->rate_factor = s->rate_factor;
    }
    return fire_average_load(t, ours, path);
}
