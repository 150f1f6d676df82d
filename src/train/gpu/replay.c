/* replay.c - iterations on a GPU that are recorded once as a graph and then replayed,
 * which takes the host one call instead of one per kernel.
 *
 * Everything is recorded from the first layer after the data layers to the update of
 * the weights. What changes from one iteration to the next stays outside: the data
 * layers run before it, the learning rate is read from GPU memory (fire_solver_begin).
 * recording.h keeps the graph and knows whether it still fits. */
#include "base/log.h"
#include "train/trainer_state.h"

/* Does a pass differ from the one before, in more than values? */
static bool is_unsteady(const fire_layer_t *l)
{
    unsigned flags = l->ops->flags;

    return (flags & FIRE_LAYER_DYNAMIC) ||
           ((flags & FIRE_LAYER_PLUGIN) && !(flags & FIRE_LAYER_STEADY));
}

/* Data layers at the front of the net; 0 if a later layer brings data too, computes on
 * the host, or changes the shape of its output by itself: then nothing is recorded. */
static int count_sources(const fire_net_t *net)
{
    int n = 0;

    while (n < net->nlayer && net->layer[n].base.nbottom == 0)
        n++;
    for (int i = n; i < net->nlayer; i++)
        if (net->layer[i].base.nbottom == 0 || is_unsteady(&net->layer[i].base) ||
            net->layer[i].base.kernel->where == FIRE_CPU)
            return 0;
    return n;
}

/* Clipping, other looks at gradients, and rates per layer (LARS, LARC) need norms on the
 * host in the middle of an iteration, as several workers need the host for their exchange. */
fire_status_t fire_trainer_make_recording(fire_trainer_t *t)
{
    int sources = count_sources(t->net);

    if (t->net->ctx.place != FIRE_GPU || !t->reducer->ops->unattended ||
        t->lane_count > 1 || t->param->iter_size > 1 || t->solver->inspects ||
        t->solver->adapt != FIRE_ADAPT_NONE || sources == 0)
        return FIRE_OK;
    return fire_recording_create(t->net, t->solver, sources, &t->recording);
}

static bool is_recordable(const fire_trainer_t *t)
{
    enum {
        WARM_UP = 2
    }; /* iterations in which memory is taken and kernels are chosen */

    return t->recording != NULL && t->unrecorded >= WARM_UP &&
           t->request == FIRE_GO_ON && !t->follow.control && !t->net->debug_info &&
           (t->profile == NULL || !t->profile->recording);
}

/* What is recorded: one pass of one lane, without the data layers. */
static fire_status_t compute(fire_trainer_t *t)
{
    FIRE_TRY(fire_grads_clear(t->grads, t->grads->statistics,
                              t->grads->head - t->grads->statistics));
    FIRE_TRY(fire_net_run_forward(t->net, count_sources(t->net), -1, NULL));
    FIRE_TRY(fire_trainer_add_scalars_gpu(t, true));
    FIRE_TRY(fire_grads_settle(t->grads, 0, t->grads->head));
    FIRE_TRY(fire_net_run_backward(t->net, -1, 0));
    return fire_reducer_finish(t->reducer);
}

/* On failure the trainer stops recording for good, and the iteration is computed. */
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
    fire_trainer_enter_lane(t, 0);
    FIRE_TRY(fire_solver_begin(t->solver));
    FIRE_TRY(fire_trainer_measure(t));
    FIRE_TRY(fire_net_run_forward(net, 0, count_sources(net) - 1, NULL));
    if (t->readback != NULL && fire_gpu_readback_is_pending(t->readback))
        fire_profile_hide_data(t->profile);
    if (!fire_recording_is_good(t->recording)) FIRE_TRY(record(t));
    return t->recording != NULL ? fire_recording_run(t->recording) : compute(t);
}

fire_status_t fire_trainer_replay(fire_trainer_t *t, bool whole,
                                  fire_status_t (*run)(fire_trainer_t *t))
{
    if (whole && is_recordable(t)) return run_recorded(t);
    FIRE_TRY(run(t));
    t->unrecorded++;
    if (t->recording != NULL) {
        fire_recording_drop(t->recording);
        fire_recording_note(t->recording);
    }
    return FIRE_OK;
}
