/* loop.c - iterations, with display, tests and snapshots when they are due. Log lines
 * repeat Caffe's word by word, since log parsers read them. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "train/trainer_state.h"

/* Mean over the last average_loss iterations, computed as Caffe does. */
static void smooth(fire_trainer_t *t, double loss)
{
    int64_t size = t->param->average_loss > 0 ? t->param->average_loss : 1;

    if (t->nwindow < size) {
        t->smoothed_loss =
            (t->smoothed_loss * (double)t->nwindow + loss) / (double)(t->nwindow + 1);
    } else {
        t->smoothed_loss += (loss - t->window[t->nwindow % size]) / (double)size;
    }
    t->window[t->nwindow++ % size] = loss;
}

/* Most outputs in one event; the log shows all of them. */
enum { MAX_OUTPUTS = 64 };

static int display_outputs(const fire_trainer_t *t,
                           fire_named_value_t    output[MAX_OUTPUTS])
{
    const fire_net_t *net   = t->net;
    const float      *value = t->grads->sum + FIRE_SCALAR_OUTPUTS;
    int               k     = 0;

    for (int i = 0; i < net->noutput && t->grads->nscalar > FIRE_SCALAR_OUTPUTS; i++) {
        const fire_net_blob_t *b      = &net->blob[net->output[i]];
        float                  weight = fire_net_loss_weight(net, net->output[i]);

        for (int64_t j = 0; j < net->output_size[i]; j++, value++) {
            char loss[64] = "";

            if (fire_blob_count(b->blob) != net->output_size[i]) continue;
            if (weight != 0)
                snprintf(loss, sizeof(loss), " (* %g = %g loss)", (double)weight,
                         (double)(weight * *value));
            if (k < MAX_OUTPUTS)
                output[k] = (fire_named_value_t){b->name, (double)*value};
            FIRE_LOG(INFO, "    Train net output #%d: %s = %g%s", k, b->name,
                     (double)*value, loss);
            k++;
        }
    }
    return k < MAX_OUTPUTS ? k : MAX_OUTPUTS;
}

/* The present loss scale of fp16, 0 for other precisions. */
static fire_status_t read_scale(const fire_trainer_t *t, int64_t iter, double *scale_p)
{
    float scale = 0;
    int   good;

    *scale_p = 0;
    if (!t->net->ctx.scaled) return FIRE_OK;
    FIRE_TRY(fire_gpu_get_scale(t->net->ctx.stream, &scale, &good));
    FIRE_LOG(INFO, "Iteration %lld, loss scale = %g", (long long)iter, (double)scale);
    *scale_p = (double)scale;
    return FIRE_OK;
}

static fire_status_t display(fire_trainer_t *t, int64_t iter)
{
    double now   = fire_clock_now();
    double lapse = now - t->display_time;
    double rate  = (double)(iter - t->display_iter) / (lapse > 0 ? lapse : 1);
    fire_named_value_t output[MAX_OUTPUTS];
    int                noutput;
    double             scale;

    FIRE_LOG(INFO, "Iteration %lld (%g iter/s, %gs/%d iters), loss = %g",
             (long long)iter, rate, lapse, t->param->display, t->smoothed_loss);
    noutput = display_outputs(t, output);
    FIRE_LOG(INFO, "Iteration %lld, lr = %g", (long long)iter, (double)t->solver->rate);
    if (t->param->fire != NULL && t->param->fire->grad_norm && t->solver->inspects)
        FIRE_LOG(INFO, "Iteration %lld, gradient norm = %g", (long long)iter,
                 t->solver->norm);
    FIRE_TRY(read_scale(t, iter, &scale));
    t->display_time = now;
    t->display_iter = iter;
    fire_trainer_emit(t, (fire_train_event_t){.kind       = FIRE_TRAIN_DISPLAY,
                                              .loss       = t->smoothed_loss,
                                              .lr         = (double)t->solver->rate,
                                              .noutput    = noutput,
                                              .output     = output,
                                              .loss_scale = scale});
    return FIRE_OK;
}

static bool is_due(int64_t iter, int interval)
{
    return interval > 0 && iter % interval == 0;
}

static fire_status_t test_all(fire_trainer_t *t)
{
    for (int i = 0; i < t->ntest && !t->stopped; i++)
        FIRE_TRY(fire_trainer_test(t, i));
    return t->stopped ? FIRE_OK : fire_follow_tested(t);
}

/* Requests of users were summed with the gradients: all workers see the same sums. They
 * are looked at when an iteration lands, since the sums stay until the next one does. */
static void take_requests(fire_trainer_t *t)
{
    const float *sum = t->grads->sum;

    t->snapshot_asked |= sum[FIRE_SCALAR_SNAPSHOT] > 0;
    t->stopped |= sum[FIRE_SCALAR_STOP] > 0;
    t->follow.control_asked |= sum[FIRE_SCALAR_CONTROL] > 0;
    t->save_asked |= sum[FIRE_SCALAR_SAVE] > 0;
    t->memory.asked |= sum[FIRE_SCALAR_MEMORY] > 0;
}

/* Wait for the oldest iterations until only `ahead` are in flight. */
static fire_status_t land(fire_trainer_t *t, int ahead)
{
    fire_flight_t f;
    double        loss, now;

    while (t->nflight > ahead) {
        FIRE_TRY(fire_trainer_land(t, &f, &loss));
        take_requests(t);
        smooth(t, loss);
        FIRE_TRY(fire_nan_settle(t, f.iter, loss));
        now = fire_clock_now();
        fire_trainer_emit(t, (fire_train_event_t){.kind    = FIRE_TRAIN_ITERATION,
                                                  .iter    = f.iter,
                                                  .loss    = loss,
                                                  .lr      = (double)f.rate,
                                                  .seconds = now - t->landed});
        t->landed = now;
    }
    return FIRE_OK;
}

fire_action_t fire_trainer_take_request(fire_trainer_t *t)
{
    fire_action_t asked = (fire_action_t)atomic_exchange(&t->asked, FIRE_GO_ON);

    if (asked != FIRE_GO_ON || t->options.action == NULL) return asked;
    return t->options.action(t->options.arg);
}

bool fire_trainer_take_stop(fire_trainer_t *t)
{
    int stop = FIRE_STOP;

    if (atomic_compare_exchange_strong(&t->asked, &stop, FIRE_GO_ON)) return true;
    return t->options.action != NULL && t->options.action(t->options.arg) == FIRE_STOP;
}

/* The one that a user asked for is complete before training goes on: it may be the last
 * thing that this machine does. */
static fire_status_t save(fire_trainer_t *t, bool due, bool last)
{
    fire_status_t st = FIRE_OK;

    if (t->snapshot_asked)
        st = fire_trainer_save_now(t);
    else if (due || t->save_asked)
        st = fire_trainer_save(t, last || t->stopped);
    t->snapshot_asked = t->save_asked = false;
    return st >= 0 ? fire_memory_save(t) : st;
}

/* Nobody looks at the blobs of an iteration if another one follows; but a hook or a
 * listener may look at any time, and a user who stops the training will. */
static fire_status_t launch(fire_trainer_t *t, bool last, bool shown)
{
    fire_status_t st;

    t->net->forgets = !last && !shown && t->request == FIRE_GO_ON &&
                      t->user.start == NULL && t->user.gradients_ready == NULL;
    st              = fire_trainer_launch(t);
    t->net->forgets = false;
    return st;
}

/* One iteration, and what is due before and after it; stop: see step(). A GPU may lag by
 * a few iterations, unless the host has to look at the results of this one. */
static fire_status_t one(fire_trainer_t *t, int64_t stop)
{
    const Caffe__SolverParameter *p     = t->param;
    int64_t                       iter  = t->solver->iter;
    bool                          shown = is_due(iter, p->display), saved, now;
    bool                          last  = iter + 1 >= (stop >= 0 ? stop : p->max_iter);

    if (is_due(iter, p->test_interval) && (iter > 0 || p->test_initialization)) {
        FIRE_TRY(land(t, 0));
        FIRE_TRY(test_all(t));
        if (t->stopped) return FIRE_OK;
    }
    fire_follow_loss(t, t->smoothed_loss);
    t->net->debug_info = shown && p->debug_info;
    FIRE_TRY(fire_trainer_call_hook(t, t->user.start));
    t->request        = fire_trainer_take_request(t);
    t->follow.control = fire_control_is_there(t);
    FIRE_TRY(fire_trainer_collect_snapshot(t));
    t->saves_again   = fire_trainer_must_save_again(t);
    t->memory.wanted = fire_memory_is_wanted(t);
    if (t->nflight == 0) t->landed = fire_clock_now();
    FIRE_TRY(launch(t, last, shown));
    saved = is_due(t->solver->iter, p->snapshot);
    if (t->solver->holds) FIRE_TRY(fire_trainer_wait(t)); /* to know if it was bad */
    now = shown || saved || t->saves_again || t->memory.wanted ||
          fire_memory_is_due(t) || t->request != FIRE_GO_ON || t->follow.control ||
          t->readback == NULL || t->solver->holds;
    FIRE_TRY(land(t, now ? 0 : FIRE_AHEAD));
    if (shown) FIRE_TRY(display(t, iter));
    FIRE_TRY(save(t, saved, last));
    if (t->follow.control_asked) FIRE_TRY(fire_control_apply(t));
    t->follow.control_asked = false;
    return FIRE_OK;
}

/* Up to iteration `stop`; -1: to max_iter, which may change meanwhile. */
static fire_status_t step(fire_trainer_t *t, int64_t stop)
{
    t->nwindow       = 0;
    t->smoothed_loss = 0;
    t->stopped       = false;
    t->display_time  = fire_clock_now();
    t->display_iter  = t->solver->iter;
    t->began_iter    = t->solver->iter;
    while (t->solver->iter < (stop >= 0 ? stop : t->param->max_iter) && !t->stopped)
        FIRE_TRY(one(t, stop));
    FIRE_TRY(land(t, 0));
    return fire_trainer_measure_end(t);
}

fire_status_t fire_trainer_step(fire_trainer_t *t, int64_t iterations)
{
    fire_trainer_call_t call = fire_trainer_enter(t);
    fire_status_t       st   = call.st;

    if (st >= 0) st = step(t, t->solver->iter + iterations);
    if (st >= 0) st = fire_trainer_wait(t);
    if (st >= 0 && t->saves) st = fire_trainer_settle(t);
    return fire_trainer_leave(t, call, fire_trainer_inform(t, st));
}

/* The loss with the final weights, which no iteration has computed. The pass must not
 * change the running statistics, which are in the snapshot already: they are deferred,
 * and not applied. */
static fire_status_t lane_losses(fire_trainer_t *t, float *loss)
{
    bool defer = t->net->moment.defer_stats;

    t->net->moment.defer_stats = true;
    t->net->moment.step        = t->solver->iter * t->param->iter_size;
    fire_trainer_watch(t, t->net);
    for (int i = t->lane_first; i < t->lane_first + t->lane_count; i++) {
        t->net->moment.lane = i;
        FIRE_TRY(fire_net_run_forward(t->net, 0, -1, &loss[i]));
    }
    t->net->hooks              = (fire_net_hooks_t){0};
    t->net->moment.defer_stats = defer;
    return FIRE_OK;
}

/* loss[lanes] is zero where other workers know it, so the sum over workers is exact. */
static fire_status_t mean_loss(fire_trainer_t *t, float *loss)
{
    float mean = 0;

    FIRE_TRY(lane_losses(t, loss));
    if (fire_trainer_size(t) > 1)
        FIRE_TRY(fire_comm_allreduce(t->options.comm, "tree", loss, (size_t)t->lanes));
    for (int i = 0; i < t->lanes; i++)
        mean += loss[i] / (float)t->lanes;
    smooth(t, (double)mean);
    FIRE_LOG(INFO, "Iteration %lld, loss = %g", (long long)t->solver->iter,
             t->smoothed_loss);
    return FIRE_OK;
}

static fire_status_t final_loss(fire_trainer_t *t)
{
    float        *loss;
    fire_status_t st;

    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(FIRE_NEW(&loss, t->lanes));
    st = mean_loss(t, loss);
    fire_free(loss);
    return st;
}

static fire_status_t solve(fire_trainer_t *t)
{
    const Caffe__SolverParameter *p = t->param;

    FIRE_TRY(fire_memory_begin(t));
    FIRE_TRY(step(t, -1));
    FIRE_TRY(fire_trainer_settle(t));
    if (p->snapshot_after_train &&
        (!is_due(t->solver->iter, p->snapshot) || t->retry_after > 0))
        FIRE_TRY(fire_trainer_save_last(t));
    if (t->stopped) {
        FIRE_LOG(INFO, "Optimization stopped early.");
        if (p->snapshot_after_train) fire_memory_finish(t);
        return FIRE_OK;
    }
    if (is_due(t->solver->iter, p->display)) FIRE_TRY(final_loss(t));
    if (is_due(t->solver->iter, p->test_interval)) FIRE_TRY(test_all(t));
    FIRE_TRY(fire_trainer_wait(t));
    fire_memory_finish(t);
    fire_trainer_log_memory(t);
    FIRE_LOG(INFO, "Optimization Done.");
    fire_trainer_emit(t, (fire_train_event_t){.kind = FIRE_TRAIN_DONE});
    return FIRE_OK;
}

/* Caffe accepts both silently. We accept them too, with a warning, since they are
 * rarely intended. */
static void warn_of_nothing(const fire_trainer_t *t)
{
    if (t->param->max_iter <= t->solver->iter)
        FIRE_LOG(WARNING,
                 "max_iter is %d, and iteration %lld is reached: nothing is "
                 "left to train",
                 t->param->max_iter, (long long)t->solver->iter);
    if (t->param->base_lr == 0)
        FIRE_LOG(WARNING, "base_lr is 0 or not set: the weights will not change");
}

fire_status_t fire_trainer_solve(fire_trainer_t *t)
{
    fire_trainer_call_t call = fire_trainer_enter(t);

    FIRE_LOG(INFO, "Solving %s",
             t->net->param->name != NULL ? t->net->param->name : "");
    FIRE_LOG(INFO, "Learning Rate Policy: %s", t->param->lr_policy);
    if (fire_trainer_rank(t) == 0) warn_of_nothing(t);
    fire_trainer_emit(t, (fire_train_event_t){.kind = FIRE_TRAIN_START});
    return fire_trainer_leave(
        t, call, fire_trainer_inform(t, call.st >= 0 ? solve(t) : call.st));
}
