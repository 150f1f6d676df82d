/* lanes.c - which lanes of the global batch are this worker's, and what workers agree
 * on (docs/design/0002-lanes.md). */
#include "train/lanes.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text/text.h"
#include "device/gpu.h"
#include "train/trainer_state.h"

fire_status_t fire_lane_weights_parse(const char *text, double *weight, int most,
                                      int *n_p)
{
    const char *at = text;
    int         n  = 0;

    for (;; at++) {
        size_t len = strcspn(at, ",");
        double w;

        if (!fire_number_parse(at, len, &w) || !(w > 0 && w < 1e9))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "lane_weights \"%s\": positive numbers with commas are "
                             "expected, one for each worker, as \"3,2,3\"",
                             text);
        if (n < most) weight[n] = w;
        n++;
        at += len;
        if (*at == '\0') break;
    }
    *n_p = n;
    return FIRE_OK;
}

/* One lane after another goes to the worker that would be done with it first. */
void fire_lanes_share(int lanes, int workers, const double *weight, int *lane)
{
    lane[0] = 0;
    for (int r = 0; r < workers; r++)
        lane[r + 1] = 1; /* for now, how many */
    for (int given = workers; given < lanes; given++) {
        int best = 0;

        for (int r = 1; r < workers; r++)
            if ((lane[r + 1] + 1) / (weight != NULL ? weight[r] : 1) <
                (lane[best + 1] + 1) / (weight != NULL ? weight[best] : 1))
                best = r;
        lane[best + 1]++;
    }
    for (int r = 0; r < workers; r++)
        lane[r + 1] += lane[r];
}

static bool are_measured(const Caffe__FireParameter *f)
{
    return f != NULL && strcmp(f->lane_weights, "auto") == 0;
}

/* lane_weights of so many workers, for the caller to free; NULL if it does not say. A
 * job that goes on with other workers than it began with has numbers that are not
 * theirs: results do not depend on them, so it goes on with equal ones. */
static fire_status_t read_weights(const fire_trainer_t *t, int workers,
                                  double **weight_p)
{
    const Caffe__FireParameter *f = t->param->fire;
    double                     *weight;
    int                         n  = 0;
    fire_status_t               st = FIRE_OK;

    *weight_p = NULL;
    if (f == NULL || f->lane_weights[0] == '\0' || are_measured(f)) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&weight, workers));
    st = fire_lane_weights_parse(f->lane_weights, weight, workers, &n);
    if (st >= 0 && n == workers) {
        *weight_p = weight;
        return FIRE_OK;
    }
    fire_free(weight);
    if (st >= 0 && fire_trainer_rank(t) == 0)
        FIRE_LOG(WARNING,
                 "lane_weights \"%s\" is of %d workers, there are %d: lanes are "
                 "shared equally",
                 f->lane_weights, n, workers);
    return st;
}

/* Each worker runs neighbouring lanes. All workers find out the same. */
static void share(fire_trainer_t *t, const double *weight)
{
    int rank = fire_trainer_rank(t);

    fire_lanes_share(t->lanes, fire_trainer_size(t), weight, t->share);
    t->lane_first = t->share[rank];
    t->lane_count = t->share[rank + 1] - t->lane_first;
}

fire_status_t fire_trainer_take_lanes(fire_trainer_t *t)
{
    const Caffe__FireParameter *f    = t->param->fire;
    int                         size = fire_trainer_size(t);
    double                     *weight;

    t->lanes = f != NULL && f->lanes > 0 ? (int)f->lanes : size;
    if (t->lanes < size)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d lanes cannot be shared by %d workers: each needs one at "
                         "least; use fewer workers or more lanes",
                         t->lanes, size);
    FIRE_TRY(read_weights(t, size, &weight));
    fire_free(t->share);
    t->share = NULL;
    if (FIRE_NEW(&t->share, size + 1) < 0) {
        fire_free(weight);
        return FIRE_ERR_NOMEM;
    }
    share(t, weight);
    fire_free(weight);
    return FIRE_OK;
}

/* ---- lane_weights: "auto" ---- */

/* Seconds of a pass forward and backward, the least of some: the first one prepares
 * kernels, and others wait for data or for a core. Results of passes are functions of
 * weights and step, and gradients are cleared before training, so nothing remains. */
static fire_status_t time_pass(fire_trainer_t *t, double *seconds_p)
{
    enum { LEAST = 3, MOST = 20 };
    const double enough = 0.5; /* seconds for all */
    double       begin = fire_clock_now(), best = INFINITY;

    for (int i = 0; i < MOST; i++) {
        double start = fire_clock_now(), seconds;

        if (i >= LEAST && start - begin > enough) break;
        FIRE_TRY(fire_net_run_forward(t->net, 0, -1, NULL));
        FIRE_TRY(fire_net_run_backward(t->net, -1, 0));
        if (t->net->ctx.place == FIRE_GPU) FIRE_TRY(fire_gpu_sync(t->net->ctx.stream));
        seconds = fire_clock_now() - start;
        if (i > 0 && seconds < best) best = seconds;
    }
    *seconds_p = best;
    return FIRE_OK;
}

/* seconds[workers] of all workers becomes their speeds; false if some could not
 * measure. */
static bool to_speeds(double *seconds, int workers)
{
    for (int r = 0; r < workers; r++) {
        if (!(seconds[r] > 0)) return false;
        seconds[r] = 1 / seconds[r];
    }
    return true;
}

fire_status_t fire_trainer_weigh_lanes(fire_trainer_t *t)
{
    int           size = fire_trainer_size(t);
    double        mine = 0, *all;
    fire_status_t st;

    if (!are_measured(t->param->fire) || size == 1) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&all, size));
    if (time_pass(t, &mine) < 0)
        FIRE_LOG(WARNING,
                 "lane_weights \"auto\": nothing can be measured before "
                 "training: %s; lanes are shared equally",
                 fire_last_error());
    st = fire_comm_allgather(t->options.comm, &mine, sizeof(mine), all);
    if (st >= 0) {
        share(t, to_speeds(all, size) ? all : NULL);
        t->net->moment.lane = t->net->moment.lane_first = t->lane_first;
        t->net->moment.lane_count                       = t->lane_count;
    }
    fire_free(all);
    return st;
}

/* ---- what workers agree on ---- */

fire_status_t fire_trainer_agree(fire_trainer_t *t, fire_status_t mine)
{
    return t->options.comm != NULL ? fire_comm_agree(t->options.comm, mine) : mine;
}

/* The others would wait until their deadline. One that has FIRE_ERR_PEER was told. */
fire_status_t fire_trainer_inform(fire_trainer_t *t, fire_status_t st)
{
    if (st < 0 && st != FIRE_ERR_PEER && t->options.comm != NULL)
        fire_comm_fail(t->options.comm);
    return st;
}

fire_status_t fire_trainer_beat(fire_trainer_t *t)
{
    return fire_reducer_beat(t->reducer);
}

static fire_status_t beat(void *trainer, int layer)
{
    (void)layer;
    return fire_trainer_beat(trainer);
}

void fire_trainer_watch(fire_trainer_t *t, fire_net_t *net)
{
    net->hooks = (fire_net_hooks_t){.arg = t, .before_forward = beat};
}

/* Updates that are still under way belong to the iteration before, and so does the time
 * spent waiting for them. */
fire_status_t fire_trainer_wait(fire_trainer_t *t)
{
    double        began = fire_clock_now();
    fire_status_t st    = FIRE_OK;

    if (t->reducer != NULL) st = fire_reducer_sync(t->reducer);
    if (t->profile != NULL) t->profile->times.seconds += fire_clock_now() - began;
    return st;
}

fire_status_t fire_trainer_sync(fire_trainer_t *t)
{
    fire_trainer_call_t call = fire_trainer_listen(t);

    return fire_trainer_leave(t, call, fire_trainer_wait(t));
}
