/* run.c - trains the points of a sweep. Each point is a training of one worker alone;
 * workers share no gradients, they only divide the points. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "train/log.h"
#include "train/run_solver.h"
#include "sweep/sweep.h"
#include "train/snapshot/snapshot.h"

/* One training, for the trainer's callbacks. */
typedef struct session {
    const fire_sweep_run_t *run;
    const fire_worker_t    *worker;
    fire_runlog_t          *log;
    bool                    diverged; /* the loss is not a number any more */
    fire_status_t           peers;    /* an error of another worker, if there is one */
} session_t;

/* ---- one point ---- */

static fire_action_t requested(void *arg)
{
    const session_t *s    = arg;
    bool             stop = s->run->stop(s->run->arg) || s->diverged || s->peers < 0;

    return stop ? FIRE_STOP : FIRE_GO_ON;
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    session_t *s = arg;

    if (e->kind == FIRE_TRAIN_ITERATION) {
        s->diverged |= !isfinite(e->loss);
        if (s->worker->rank == 0)
            s->run->progress(s->run->arg, fire_log_context().name, e->iter,
                             e->max_iter);
    }
    if (s->worker->comm != NULL && s->peers >= 0)
        s->peers = fire_comm_poll(s->worker->comm);
    fire_train_log_event(s->log, e);
}

static void on_measured(void *arg, const fire_measured_t *m)
{
    fire_runlog_add_measured(((session_t *)arg)->log, m);
}

/* The command line in the log is that of an equivalent `train`, so that `train
 * --repeat` can repeat the point. */
static fire_status_t open_log(const char *dir, const fire_trainer_t *t, bool goes_on,
                              fire_runlog_t **log_p)
{
    char                 *path, *solver = NULL, threads[32];
    const char           *words[] = {"firecaffe", "train", "--solver", NULL,
                                     "--run_dir", dir,     threads};
    fire_runlog_options_t o       = {.append = goes_on, .kind = "train"};
    fire_status_t         st;

    snprintf(threads, sizeof(threads), "--threads=%d", fire_trainer_ctx(t)->threads);
    FIRE_TRY(fire_asprintf(&path, "%s/run.jsonl", dir));
    st       = fire_asprintf(&solver, "%s/solver.prototxt", dir);
    words[3] = solver;
    o.path   = path;
    o.argc   = sizeof(words) / sizeof(words[0]);
    o.argv   = words;
    if (st >= 0) st = fire_train_log_open(&o, t, log_p);
    fire_free(solver);
    fire_free(path);
    return st;
}

/* Restore the newest snapshot, or load the solver's weights if there is none. */
static fire_status_t load(fire_trainer_t *t, const Caffe__SolverParameter *p,
                          const char *newest)
{
    if (newest != NULL) return fire_trainer_restore(t, newest);
    for (size_t i = 0; i < p->n_weights; i++)
        FIRE_TRY(fire_trainer_load_weights(t, p->weights[i]));
    return FIRE_OK;
}

static fire_status_t train(const fire_sweep_run_t *run, const char *dir,
                           const Caffe__SolverParameter *p, const fire_worker_t *worker)
{
    fire_trainer_options_t o       = run->options;
    session_t              session = {.run = run, .worker = worker};
    fire_trainer_t        *trainer = NULL;
    char                  *newest  = NULL;
    fire_status_t          st;

    o.ctx.threads = worker->threads;
    o.measure     = true;
    o.arg         = &session;
    o.action      = requested;
    o.event       = on_event;
    o.measured    = on_measured;
    FIRE_TRY(fire_dir_make(dir));
    FIRE_TRY(fire_snapshot_find(p->snapshot_prefix, 0, &newest));
    st = fire_run_dir_prepare(dir, newest != NULL, p);
    if (st >= 0) st = run->open_device(run->arg, worker->rank, &o.ctx);
    if (st >= 0) st = fire_trainer_create(p, &o, &trainer);
    if (st >= 0) st = load(trainer, p, newest);
    if (st >= 0) st = open_log(dir, trainer, newest != NULL, &session.log);
    if (st >= 0) st = fire_trainer_solve(trainer);
    fire_runlog_close(session.log, st);
    fire_trainer_destroy(trainer);
    run->close_device(run->arg, &o.ctx);
    fire_free(newest);
    return session.peers < 0 ? session.peers : st;
}

/* A directory may hold a run with other settings: that is an error, as its results would
 * be taken for those of this point. */
static fire_status_t check_settings(const char *dir, const Caffe__SolverParameter *p)
{
    ProtobufCMessage *then = NULL, *now = NULL;
    char             *path;
    fire_status_t     st;

    FIRE_TRY(fire_asprintf(&path, "%s/solver.prototxt", dir));
    if (access(path, F_OK) != 0) {
        fire_free(path);
        return FIRE_OK;
    }
    st = fire_message_load_text(path, &caffe__solver_parameter__descriptor, &then);
    if (st >= 0) st = fire_message_copy(p, &now);
    if (st >= 0) {
        fire_message_clear_field(then, "snapshot_prefix"); /* it may have moved */
        fire_message_clear_field(now, "snapshot_prefix");
        if (!fire_message_equal(then, now))
            st = FIRE_FAIL(FIRE_ERR_INVALID,
                           "\"%s\" holds a run with other settings; give another "
                           "--run_dir, or remove it",
                           dir);
    }
    fire_message_free(then);
    fire_message_free(now);
    fire_free(path);
    return st;
}

static fire_status_t run_point(const fire_sweep_run_t *run, int point,
                               const fire_worker_t *worker)
{
    Caffe__SolverParameter *p   = NULL;
    char                   *dir = NULL;
    fire_status_t           st;

    FIRE_TRY_GOTO(st, fire_sweep_dir(run->sweep, point, &dir), out);
    FIRE_TRY_GOTO(st, fire_sweep_solver(run->sweep, point, &p), out);
    FIRE_TRY_GOTO(st, check_settings(dir, p), out);
    st = train(run, dir, p, worker);
out:
    fire_message_free(p);
    fire_free(dir);
    return st;
}

/* ---- the points of a worker ---- */

/* Put the point's name before log lines. While a point trains, only warnings and errors
 * are logged. */
static void log_as(const fire_sweep_t *s, int point, fire_log_level_t least)
{
    fire_log_context_t context = fire_log_context();

    context.least = least;
    fire_sweep_name(s, point, context.name);
    fire_log_set_context(&context);
}

static fire_status_t try_point(const fire_sweep_run_t *run, int point,
                               const fire_worker_t *worker)
{
    double              began = fire_clock_now();
    fire_status_t       st;
    fire_point_result_t r;

    log_as(run->sweep, point, FIRE_INFO);
    FIRE_LOG(INFO, "training");
    log_as(run->sweep, point, FIRE_WARNING);
    st = run_point(run, point, worker);
    log_as(run->sweep, point, FIRE_INFO);
    if (st == FIRE_ERR_PEER || st == FIRE_ERR_NOMEM) return st;
    if (st < 0) {
        FIRE_LOG(ERROR, "%s", fire_last_error());
        return FIRE_OK;
    }
    FIRE_TRY(fire_sweep_read_result(run->sweep, point, &r));
    FIRE_LOG(INFO, "%s %g after %lld iterations, %.1f s", r.measure, r.last,
             (long long)r.iter, fire_clock_now() - began);
    return FIRE_OK;
}

/* The points to train, as rank 0 sees it: all workers must have the same list. */
static fire_status_t find_open(const fire_sweep_run_t *run, const fire_worker_t *w,
                               int *open, int *n_p)
{
    fire_point_result_t r;
    fire_status_t       st = FIRE_OK;
    int                 n = 0, points = fire_sweep_points(run->sweep);

    for (int i = 0; w->rank == 0 && i < points && st >= 0; i++) {
        st = fire_sweep_read_result(run->sweep, i, &r);
        if (st >= 0 && !fire_point_is_finished(&r)) open[n++] = i;
    }
    if (w->comm != NULL) {
        FIRE_TRY(fire_comm_agree(w->comm, st));
        FIRE_TRY(fire_comm_broadcast(w->comm, 0, &n, sizeof(n)));
        st = fire_comm_broadcast(w->comm, 0, open, (size_t)points * sizeof(*open));
    }
    if (w->rank == 0 && n < points)
        FIRE_LOG(INFO, "%d of %d points are finished already", points - n, points);
    *n_p = n;
    return st;
}

/* Points are dealt out one by one: neighbours on the grid take about as long. */
static fire_status_t try_points(const fire_sweep_run_t *run, const fire_worker_t *w,
                                int *open)
{
    int           n = 0, all = w->comm != NULL ? fire_comm_size(w->comm) : 1;
    fire_status_t st = find_open(run, w, open, &n);

    for (int k = w->rank; k < n && st >= 0 && !run->stop(run->arg); k += all)
        st = try_point(run, open[k], w);
    return st;
}

fire_status_t fire_sweep_train(const fire_sweep_run_t *run, const fire_worker_t *w)
{
    fire_log_context_t context = fire_log_context();
    int               *open;
    fire_status_t      st;

    FIRE_TRY(FIRE_NEW(&open, fire_sweep_points(run->sweep)));
    st = try_points(run, w, open);
    fire_free(open);
    fire_log_set_context(&context);
    return w->comm != NULL ? fire_comm_agree(w->comm, st) : st;
}
