/* iterate.c - one iteration: every lane of this worker forward and backward, their
 * gradients added, weights updated. */
#include <string.h>

#include "train/trainer.h"

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

/* Add this pass's loss and outputs, weighted, to the scalars. */
static fire_status_t add_scalars(fire_trainer_t *t, float loss)
{
    fire_grads_t *g     = t->grads;
    float         share = t->net->loss_scale / (float)t->param->iter_size;
    float        *at    = g->sum;

    *at++ += share * loss;
    for (int i = 0; i < t->net->noutput && g->nscalar > 1; i++) {
        fire_blob_t *b = t->net->blob[t->net->output[i]].blob;
        const float *x;

        FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < b->count; k++)
            *at++ += share * x[k];
    }
    return FIRE_OK;
}

static fire_status_t run_lane(fire_trainer_t *t, int lane)
{
    fire_net_t *net       = t->net;
    int         iter_size = t->param->iter_size;
    float       loss;

    fire_grads_clear(t->grads);
    net->moment.lane = t->lane_first + lane;
    net->loss_scale  = lane_share(t, net->moment.lane);
    for (int k = 0; k < iter_size; k++) {
        net->moment.step = t->solver->iter * iter_size + k;
        FIRE_TRY(fire_net_forward(net, 0, -1, &loss));
        FIRE_TRY(add_scalars(t, loss));
        FIRE_TRY(fire_net_backward(net, -1, 0));
    }
    fire_grads_add_lane(t->grads, lane, t->lane_count, 0, t->grads->n);
    return FIRE_OK;
}

fire_status_t fire_trainer_iterate(fire_trainer_t *t, double *loss_p)
{
    fire_solver_t *s = t->solver;

    for (int lane = 0; lane < t->lane_count; lane++)
        FIRE_TRY(run_lane(t, lane));
    *loss_p = (double)t->grads->sum[0];
    FIRE_TRY(fire_solver_begin(s));
    for (int i = 0; i < t->net->nparam; i++)
        FIRE_TRY(fire_solver_update(s, i, 0, fire_blob_count(t->net->learn[i].blob)));
    fire_solver_end(s);
    return FIRE_OK;
}
