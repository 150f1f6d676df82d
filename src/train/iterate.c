/* iterate.c - one iteration: every lane of this worker forward and backward, their
 * gradients added here and across workers, weights updated.
 *
 * In the last lane's last backward pass gradients become final layer by layer, from
 * the top down; from then on they are exchanged and updated behind the trainer's back.
 * The next forward waits for each layer's weights just before that layer runs. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "train/trainer_state.h"

/* This lane's weight in the mean over the global batch. */
static float lane_share(const fire_trainer_t *t, int lane)
{
    int64_t n;

    if (t->lanes == 1) return 1;
    if (t->net->moment.rule == FIRE_BATCH_PER_WORKER || t->batch == 0)
        return 1.0f / (float)t->lanes;
    n = fire_lane_first(t->batch, lane + 1, t->lanes) -
        fire_lane_first(t->batch, lane, t->lanes);
    return (float)n / (float)t->batch;
}

static fire_status_t forward(fire_trainer_t *t)
{
    float loss;

    if (t->net->ctx.place == FIRE_GPU) {
        FIRE_TRY(fire_net_forward(t->net, 0, -1, NULL));
        return fire_trainer_add_scalars_gpu(t, false);
    }
    FIRE_TRY(fire_net_forward(t->net, 0, -1, &loss));
    return fire_trainer_add_scalars(t, loss);
}

static fire_status_t wait_for(fire_trainer_t *t, int64_t first, int64_t n)
{
    const double worth_telling = 1e-6;
    double       began         = fire_clock_now(), ended;

    FIRE_TRY(fire_exchange_wait(t->exchange, first, n));
    ended = fire_clock_now();
    if (t->profile == NULL || ended - began < worth_telling) return FIRE_OK;
    return fire_profile_span(t->profile, FIRE_ACTIVITY_WAIT, 0, began, ended);
}

/* Weights of the layer must be new, and its gradients start from zero. */
static fire_status_t before_forward(void *arg, int layer)
{
    fire_trainer_t *t = arg;
    fire_span_t     s = t->grads->span[layer];

    FIRE_TRY(fire_trainer_beat(t));
    if (!t->first_pass || s.len == 0) return FIRE_OK;
    if (t->exchange != NULL) FIRE_TRY(wait_for(t, (int64_t)s.off, (int64_t)s.len));
    return fire_grads_clear(t->grads, (int64_t)s.off, (int64_t)s.len);
}

/* After the lane's last pass the layer's gradients are complete: add them to those of
 * the lanes before; after the last lane they are this worker's sum. */
static fire_status_t after_backward(void *arg, int layer)
{
    fire_trainer_t *t = arg;
    fire_span_t     s = t->grads->span[layer];

    FIRE_TRY(fire_trainer_beat(t));
    if (!t->last_pass || s.len == 0) return FIRE_OK;
    FIRE_TRY(fire_grads_settle(t->grads, (int64_t)s.off, (int64_t)s.len));
    FIRE_TRY(fire_grads_add_lane(t->grads, t->lane, t->lane_count, (int64_t)s.off,
                                 (int64_t)s.len));
    if (t->lane < t->lane_count - 1) return FIRE_OK;
    if (t->nccl != NULL) return fire_trainer_sum_ready(t, (int64_t)(s.off + s.len));
    if (t->exchange == NULL) return FIRE_OK;
    if (t->net->ctx.scaled)
        FIRE_TRY(fire_gpu_unscale(t->net->ctx.stream, t->grads->here + s.off,
                                  (int64_t)s.len));
    FIRE_TRY(fire_grads_fetch(t->grads, (int64_t)s.off, (int64_t)s.len));
    return fire_exchange_ready(t->exchange, (int64_t)(s.off + s.len));
}

/* All forward passes are done, so all updates of the iteration before are: from here
 * on the solver's settings are this iteration's. */
static fire_status_t begin_update(fire_trainer_t *t)
{
    FIRE_TRY(fire_solver_begin(t->solver));
    if (t->exchange != NULL)
        FIRE_TRY(fire_exchange_begin(t->exchange, t->solver->iter));
    FIRE_TRY(fire_trainer_measure(t));
    if (t->nccl != NULL) return fire_trainer_sum_head(t);
    if (t->exchange == NULL) return FIRE_OK;
    FIRE_TRY(fire_grads_fetch(t->grads, 0, t->grads->head));
    return fire_exchange_ready(t->exchange, t->grads->head);
}

/* What this worker's user asks for goes along with the gradients. */
static fire_status_t add_request(fire_trainer_t *t)
{
    fire_scalar_t which =
        t->request == FIRE_STOP ? FIRE_SCALAR_STOP : FIRE_SCALAR_SNAPSHOT;

    if (t->request == FIRE_GO_ON) return FIRE_OK;
    return fire_device_find(t->net->ctx.place)->fill(t->grads->here + which, 1, 1);
}

static void enter_lane(fire_trainer_t *t, int lane)
{
    fire_net_t *net = t->net;

    t->lane          = lane;
    net->moment.lane = t->lane_first + lane;
    net->loss_scale  = lane_share(t, net->moment.lane);
    net->hooks       = (fire_net_hooks_t){
              .arg = t, .before_forward = before_forward, .after_backward = after_backward};
}

static fire_status_t start_lane(fire_trainer_t *t, int lane)
{
    enter_lane(t, lane);
    if (t->exchange != NULL) FIRE_TRY(wait_for(t, 0, t->grads->head));
    FIRE_TRY(fire_grads_clear(t->grads, 0, t->grads->head));
    return lane == 0 ? add_request(t) : FIRE_OK;
}

static fire_status_t run_lane(fire_trainer_t *t, int lane)
{
    int passes = t->param->iter_size;

    FIRE_TRY(start_lane(t, lane));
    for (int k = 0; k < passes; k++) {
        t->first_pass       = k == 0;
        t->last_pass        = k == passes - 1;
        t->net->moment.step = t->solver->iter * passes + k;
        FIRE_TRY(forward(t));
        if (t->last_pass) {
            FIRE_TRY(fire_grads_settle(t->grads, 0, t->grads->head));
            FIRE_TRY(
                fire_grads_add_lane(t->grads, lane, t->lane_count, 0, t->grads->head));
            if (lane == t->lane_count - 1) FIRE_TRY(begin_update(t));
        }
        FIRE_TRY(fire_net_backward(t->net, -1, 0));
    }
    return FIRE_OK;
}

/* fp16: the true gradients, and whether to take them. */
static fire_status_t unscale(fire_trainer_t *t)
{
    fire_stream_t *s = t->net->ctx.stream;
    float         *g = t->grads->here + t->grads->head;
    int64_t        n = t->grads->n - t->grads->head;

    if (!t->net->ctx.scaled) return FIRE_OK;
    if (t->nccl == NULL) FIRE_TRY(fire_gpu_unscale(s, g, n));
    return fire_gpu_judge(s, g, n);
}

static fire_status_t update_alone(fire_trainer_t *t)
{
    fire_profile_update_begin(t->profile);
    FIRE_TRY(unscale(t));
    FIRE_TRY(fire_solver_clip(t->solver));
    for (int i = 0; i < t->net->nparam; i++)
        FIRE_TRY(fire_solver_update(t->solver, i, 0,
                                    fire_blob_count(t->net->learn[i].blob)));
    FIRE_TRY(fire_solver_flush(t->solver));
    fire_profile_update_end(t->profile);
    return FIRE_OK;
}

/* ---- recorded iterations ---- */

/* Layers in front that bring data; 0 where others do so later on. */
static int count_sources(const fire_net_t *net)
{
    int n = 0;

    while (n < net->nlayer && net->layer[n].base.nbottom == 0)
        n++;
    for (int i = n; i < net->nlayer; i++)
        if (net->layer[i].base.nbottom == 0 ||
            (net->layer[i].base.ops->flags & FIRE_LAYER_DYNAMIC) ||
            net->layer[i].base.kernel->where == FIRE_CPU)
            return 0;
    return n;
}

/* The host takes part in exchanges, in clipping and in adapted rates. */
fire_status_t fire_trainer_make_recording(fire_trainer_t *t)
{
    int sources = count_sources(t->net);

    if (t->net->ctx.place != FIRE_GPU || t->exchange != NULL || t->nccl != NULL ||
        t->lane_count > 1 || t->param->iter_size > 1 || t->param->clip_gradients >= 0 ||
        t->solver->adapt != FIRE_ADAPT_NONE || sources == 0)
        return FIRE_OK;
    return fire_recording_create(t->net, t->solver, sources, &t->recording);
}

static bool is_recordable(const fire_trainer_t *t)
{
    enum { WARM_UP = 2 }; /* iterations: memory is found, kernels are chosen */

    return t->recording != NULL && t->unrecorded >= WARM_UP &&
           t->request == FIRE_GO_ON && !t->net->debug_info &&
           (t->profile == NULL || !t->profile->recording);
}

/* All of an iteration but its data and its settings. */
static fire_status_t compute(fire_trainer_t *t)
{
    FIRE_TRY(fire_grads_clear(t->grads, t->grads->statistics,
                              t->grads->head - t->grads->statistics));
    FIRE_TRY(fire_net_forward(t->net, count_sources(t->net), -1, NULL));
    FIRE_TRY(fire_trainer_add_scalars_gpu(t, true));
    FIRE_TRY(fire_grads_settle(t->grads, 0, t->grads->head));
    FIRE_TRY(fire_net_backward(t->net, -1, 0));
    return update_alone(t);
}

/* Record it, then; where that cannot be, never try again. */
static fire_status_t record(fire_trainer_t *t)
{
    fire_status_t st = fire_recording_begin(t->recording), ended;

    if (st >= 0) {
        st    = compute(t);
        ended = fire_recording_end(t->recording);
        if (st >= 0) st = ended;
    }
    if (st >= 0) return FIRE_OK;
    FIRE_LOG(INFO, "Iterations cannot be recorded: %s", fire_last_error());
    fire_recording_destroy(t->recording);
    t->recording = NULL;
    return FIRE_OK;
}

static fire_status_t run_recorded(fire_trainer_t *t)
{
    fire_net_t *net = t->net;

    t->first_pass = t->last_pass = true;
    net->moment.step             = t->solver->iter;
    enter_lane(t, 0);
    FIRE_TRY(fire_solver_begin(t->solver));
    FIRE_TRY(fire_trainer_measure(t));
    FIRE_TRY(fire_net_forward(net, 0, count_sources(net) - 1, NULL));
    if (t->readback != NULL && fire_gpu_readback_is_pending(t->readback))
        fire_profile_hide_data(t->profile);
    if (!fire_recording_is_good(t->recording)) FIRE_TRY(record(t));
    return t->recording != NULL ? fire_recording_run(t->recording) : compute(t);
}

/* One step after another. */
static fire_status_t run_by_hand(fire_trainer_t *t)
{
    for (int lane = 0; lane < t->lane_count; lane++)
        FIRE_TRY(run_lane(t, lane));
    t->unrecorded++;
    if (t->nccl != NULL) FIRE_TRY(fire_trainer_sum_rest(t));
    if (t->exchange == NULL) FIRE_TRY(update_alone(t));
    if (t->recording != NULL) {
        fire_recording_drop(t->recording);
        fire_recording_note(t->recording);
    }
    return FIRE_OK;
}

/* ---- iterations that are under way ---- */

/* One worker alone needs nothing from the host but data and settings. */
fire_status_t fire_trainer_make_readback(fire_trainer_t *t)
{
    if (t->net->ctx.place != FIRE_GPU || t->exchange != NULL || t->nccl != NULL)
        return FIRE_OK;
    return fire_gpu_readback_create(t->net->ctx.stream, t->grads->nscalar,
                                    &t->readback);
}

/* Without a readback queue they are on the host already. */
static fire_status_t send_scalars(fire_trainer_t *t)
{
    if (t->readback != NULL) return fire_gpu_readback_send(t->readback, t->grads->here);
    return t->exchange == NULL ? fire_grads_fetch(t->grads, 0, t->grads->nscalar)
                               : wait_for(t, 0, t->grads->head);
}

fire_status_t fire_trainer_launch(fire_trainer_t *t)
{
    fire_status_t st;

    fire_trainer_measure_begin(t);
    st            = is_recordable(t) ? run_recorded(t) : run_by_hand(t);
    t->net->hooks = (fire_net_hooks_t){0};
    if (st == FIRE_ERR_NOMEM && t->net->ctx.place == FIRE_GPU)
        return fire_trainer_out_of_memory(t);
    FIRE_TRY(st);
    FIRE_TRY(send_scalars(t));
    fire_solver_end(t->solver);
    t->flight[t->nflight++] = (fire_flight_t){t->solver->iter, t->solver->rate};
    fire_profile_iteration_end(t->profile);
    return FIRE_OK;
}

fire_status_t fire_trainer_land(fire_trainer_t *t, fire_flight_t *flight_p,
                                double *loss_p)
{
    double began = fire_clock_now();

    *flight_p = t->flight[0];
    t->nflight--;
    memmove(t->flight, t->flight + 1, (size_t)t->nflight * sizeof(*t->flight));
    if (t->readback != NULL)
        FIRE_TRY(fire_gpu_readback_take(t->readback, t->grads->sum));
    *loss_p = (double)t->grads->sum[FIRE_SCALAR_LOSS];
    if (t->profile != NULL) t->profile->times.seconds += fire_clock_now() - began;
    return FIRE_OK;
}

fire_status_t fire_trainer_iterate(fire_trainer_t *t, double *loss_p)
{
    fire_flight_t f;

    FIRE_TRY(fire_trainer_launch(t));
    return fire_trainer_land(t, &f, loss_p);
}

/* What is still under way belongs to the iteration before, and so does its time. */
fire_status_t fire_trainer_sync(fire_trainer_t *t)
{
    double        began = fire_clock_now();
    fire_status_t st    = FIRE_OK;

    if (t->exchange != NULL) st = fire_exchange_finish(t->exchange);
    if (t->profile != NULL) t->profile->times.seconds += fire_clock_now() - began;
    return st;
}
