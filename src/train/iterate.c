/* iterate.c - one iteration: each lane of this worker forward and backward, then the
 * sum of all lanes' gradients to the reducer, which sums over workers and updates
 * weights.
 *
 *   for each lane           (run_lane)
 *       for each of iter_size passes
 *           forward         before_forward() of a layer: wait for its weights
 *           backward        after_backward() of a layer, in the last pass: its gradients
 *                           are complete for this lane
 *   reducer finish
 *   scalars (loss, outputs, requests) to the host
 *
 * Where the user looks at gradients before they are applied, the iteration is done in
 * two halves: all lanes, then all gradients to the reducer.
 *
 * After the last lane's last forward, nothing reads the old weights any more except
 * that lane's backward: gradients are handed over layer by layer, from the last layer
 * to the first, and summed and applied while backward goes on with the layers below.
 * The next iteration waits for the weights of a layer just before that layer runs. */
#include <string.h>

#include "base/clock.h"
#include "train/trainer_state.h"

/* The weight of a lane's loss in the mean over the global batch: its share of the
 * images (lanes may differ by one image). */
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
        FIRE_TRY(fire_net_run_forward(t->net, 0, -1, NULL));
        return fire_trainer_add_scalars_gpu(t, false);
    }
    FIRE_TRY(fire_net_run_forward(t->net, 0, -1, &loss));
    FIRE_TRY(fire_nan_forward(t, loss));
    return fire_trainer_add_scalars(t, loss);
}

/* ---- between layers (hooks of the net) ---- */

/* A layer computes with this iteration's weights and adds to zeroed gradients. */
static fire_status_t before_forward(void *arg, int layer)
{
    fire_trainer_t *t = arg;
    fire_span_t     s = t->grads->span[layer];

    FIRE_TRY(fire_trainer_beat(t));
    if (!t->first_pass || s.len == 0) return FIRE_OK;
    FIRE_TRY(fire_reducer_wait(t->reducer, (int64_t)s.off, (int64_t)s.len));
    return fire_grads_clear(t->grads, (int64_t)s.off, (int64_t)s.len);
}

/* After the lane's last pass its gradients are added to those of the lanes before.
 * After the last lane the sum is complete on this worker. */
static fire_status_t after_backward(void *arg, int layer)
{
    fire_trainer_t *t = arg;
    fire_span_t     s = t->grads->span[layer];

    FIRE_TRY(fire_trainer_beat(t));
    if (!t->last_pass || s.len == 0) return FIRE_OK;
    FIRE_TRY(fire_grads_settle(t->grads, (int64_t)s.off, (int64_t)s.len));
    FIRE_TRY(fire_grads_add_lane(t->grads, t->lane, (int64_t)s.off, (int64_t)s.len));
    if (t->lane < t->lane_count - 1 || t->apart) return FIRE_OK;
    return fire_reducer_ready(t->reducer, (int64_t)s.off, (int64_t)s.len);
}

/* ---- lanes ---- */

/* All forward passes of the iteration are done, and with them all updates of the one
 * before: the solver's settings may change now, and nothing is in flight between
 * workers until the head is handed over. */
static fire_status_t begin_update(fire_trainer_t *t)
{
    FIRE_TRY(fire_solver_begin(t->solver));
    FIRE_TRY(fire_reducer_begin(t->reducer, t->solver->iter));
    FIRE_TRY(fire_trainer_measure(t));
    return fire_reducer_ready(t->reducer, 0, t->grads->head);
}

/* Write the request of this worker's user into its scalar, which is summed over workers
 * as the loss is. */
static fire_status_t add_request(fire_trainer_t *t)
{
    const fire_device_t *d = fire_device_find(t->net->ctx.place);
    fire_scalar_t        which =
        t->request == FIRE_STOP ? FIRE_SCALAR_STOP : FIRE_SCALAR_SNAPSHOT;

    if (t->follow.control)
        FIRE_TRY(d->fill(t->grads->here + FIRE_SCALAR_CONTROL, 1, 1));
    if (t->saves_again) FIRE_TRY(d->fill(t->grads->here + FIRE_SCALAR_SAVE, 1, 1));
    if (t->memory.wanted) FIRE_TRY(d->fill(t->grads->here + FIRE_SCALAR_MEMORY, 1, 1));
    if (t->request == FIRE_GO_ON) return FIRE_OK;
    return d->fill(t->grads->here + which, 1, 1);
}

void fire_trainer_enter_lane(fire_trainer_t *t, int lane)
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
    fire_trainer_enter_lane(t, lane);
    FIRE_TRY(fire_reducer_wait(t->reducer, 0, t->grads->head));
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
            FIRE_TRY(fire_grads_add_lane(t->grads, lane, 0, t->grads->head));
            if (lane == t->lane_count - 1 && !t->apart) FIRE_TRY(begin_update(t));
        }
        FIRE_TRY(fire_net_run_backward(t->net, -1, 0));
    }
    return FIRE_OK;
}

static fire_status_t run_lanes(fire_trainer_t *t)
{
    for (int lane = 0; lane < t->lane_count; lane++)
        FIRE_TRY(run_lane(t, lane));
    return t->apart ? FIRE_OK : fire_reducer_finish(t->reducer);
}

/* ---- in two halves ---- */

static fire_status_t run_lanes_apart(fire_trainer_t *t)
{
    fire_status_t st;

    t->apart = true;
    st       = run_lanes(t);
    t->apart = false;
    return st >= 0 ? fire_grads_fold(t->grads) : st;
}

/* The user may have written the diffs on the host, or never at all: bring them to where
 * the net computes. Then hand them over in the order of the array. */
static fire_status_t hand_over(fire_trainer_t *t)
{
    fire_grads_t *g = t->grads;

    FIRE_TRY(fire_grads_settle(g, 0, g->n));
    FIRE_TRY(begin_update(t));
    for (int i = t->net->nlayer - 1; i >= 0; i--)
        if (g->span[i].len > 0)
            FIRE_TRY(fire_reducer_ready(t->reducer, (int64_t)g->span[i].off,
                                        (int64_t)g->span[i].len));
    return fire_reducer_finish(t->reducer);
}

static fire_status_t run_halves(fire_trainer_t *t)
{
    FIRE_TRY(run_lanes_apart(t));
    FIRE_TRY(fire_trainer_call_hook(t, t->user.gradients_ready));
    return hand_over(t);
}

/* ---- the iteration ---- */

/* A GPU that works for one worker alone brings the loss to the host when it gets there;
 * the host need not wait for it before it launches the next iteration. */
fire_status_t fire_trainer_make_readback(fire_trainer_t *t)
{
    if (t->net->ctx.place != FIRE_GPU || !t->reducer->ops->unattended) return FIRE_OK;
    return fire_gpu_readback_create(t->net->ctx.stream, t->grads->nscalar,
                                    &t->readback);
}

/* To grads->sum, now or, with a readback, in land(). */
static fire_status_t fetch_scalars(fire_trainer_t *t)
{
    if (t->readback != NULL) return fire_gpu_readback_send(t->readback, t->grads->here);
    if (t->reducer->ops->sums_on_host)
        return fire_reducer_wait(t->reducer, 0, t->grads->head);
    return fire_grads_fetch(t->grads, 0, t->grads->nscalar);
}

/* All is queued. */
static fire_status_t end_iteration(fire_trainer_t *t)
{
    FIRE_TRY(fetch_scalars(t));
    fire_solver_end(t->solver);
    FIRE_TRY(fire_average_add(t));
    t->flight[t->nflight++] = (fire_flight_t){t->solver->iter, t->solver->rate};
    fire_profile_iteration_end(t->profile);
    return FIRE_OK;
}

fire_status_t fire_trainer_launch(fire_trainer_t *t)
{
    bool          whole = t->user.gradients_ready == NULL;
    fire_status_t st;

    fire_trainer_measure_begin(t);
    t->half       = false;
    st            = fire_trainer_replay(t, whole, whole ? run_lanes : run_halves);
    t->net->hooks = (fire_net_hooks_t){0};
    if (st == FIRE_ERR_NOMEM && t->net->ctx.place == FIRE_GPU)
        return fire_trainer_out_of_memory(t);
    FIRE_TRY(st);
    return end_iteration(t);
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

static fire_status_t gradients(fire_trainer_t *t, double *loss_p)
{
    float         loss;
    fire_status_t st;

    FIRE_TRY(fire_trainer_wait(t));
    fire_trainer_measure_begin(t);
    t->request    = FIRE_GO_ON;
    st            = fire_trainer_replay(t, false, run_lanes_apart);
    t->net->hooks = (fire_net_hooks_t){0};
    FIRE_TRY(st);
    t->half = true;
    FIRE_TRY(fire_device_find(t->net->ctx.place)
                 ->to_host(&loss, t->grads->here + FIRE_SCALAR_LOSS, sizeof(loss)));
    if (loss_p != NULL) *loss_p = (double)loss;
    return FIRE_OK;
}

fire_status_t fire_trainer_gradients(fire_trainer_t *t, double *loss_p)
{
    fire_trainer_call_t call = fire_trainer_enter(t);
    fire_status_t       st   = call.st >= 0 ? gradients(t, loss_p) : call.st;

    return fire_trainer_leave(t, call, fire_trainer_inform(t, st));
}

/* Without a pass there are no scalars, and no statistics to update. */
static fire_status_t update(fire_trainer_t *t)
{
    bool          defer = t->net->moment.defer_stats;
    fire_flight_t f;
    double        loss;
    fire_status_t st = fire_trainer_wait(t);

    if (st >= 0 && !t->half) {
        fire_trainer_measure_begin(t);
        t->net->moment.defer_stats = false;
        st                         = fire_grads_clear(t->grads, 0, t->grads->head);
        if (st >= 0) st = fire_grads_clear_slots(t->grads);
    }
    if (st >= 0) st = hand_over(t);
    t->net->moment.defer_stats = defer && st >= 0;
    t->half                    = false;
    FIRE_TRY(st);
    FIRE_TRY(end_iteration(t));
    FIRE_TRY(fire_trainer_land(t, &f, &loss));
    return fire_trainer_wait(t);
}

fire_status_t fire_trainer_update(fire_trainer_t *t)
{
    fire_trainer_call_t call = fire_trainer_enter(t);
    fire_status_t       st   = call.st >= 0 ? update(t) : call.st;

    return fire_trainer_leave(t, call, fire_trainer_inform(t, st));
}
