/* access.c - what others may see of a trainer. */
#include "train/trainer_state.h"

int fire_trainer_rank(const fire_trainer_t *t)
{
    return t->options.comm != NULL ? fire_comm_rank(t->options.comm) : 0;
}

int fire_trainer_size(const fire_trainer_t *t)
{
    return t->options.comm != NULL ? fire_comm_size(t->options.comm) : 1;
}

fire_comm_t *fire_trainer_comm(const fire_trainer_t *t)
{
    return t->options.comm;
}

int fire_trainer_lanes(const fire_trainer_t *t)
{
    return t->lanes;
}

int64_t fire_trainer_batch(const fire_trainer_t *t)
{
    return t->batch;
}

double fire_trainer_loss(const fire_trainer_t *t)
{
    return t->smoothed_loss;
}

const char *fire_trainer_type(const fire_trainer_t *t)
{
    return t->solver->rule->type;
}

bool fire_trainer_stopped(const fire_trainer_t *t)
{
    return t->stopped;
}

void fire_trainer_request(fire_trainer_t *t, fire_action_t action)
{
    atomic_store(&t->asked, action);
}

int64_t fire_trainer_iter(const fire_trainer_t *t)
{
    return t->solver->iter;
}

float fire_trainer_rate(const fire_trainer_t *t)
{
    return t->solver->rate;
}

const Caffe__SolverParameter *fire_trainer_param(const fire_trainer_t *t)
{
    return t->param;
}

const fire_ctx_t *fire_trainer_ctx(const fire_trainer_t *t)
{
    return &t->options.ctx;
}

fire_net_t *fire_trainer_net(const fire_trainer_t *t)
{
    return t->net;
}

int fire_trainer_ntest(const fire_trainer_t *t)
{
    return t->ntest;
}

fire_net_t *fire_trainer_test_net(const fire_trainer_t *t, int i)
{
    return i >= 0 && i < t->ntest ? t->test[i].net : NULL;
}

fire_solver_t *fire_trainer_solver(const fire_trainer_t *t)
{
    return t->solver;
}

int fire_trainer_ahead(const fire_trainer_t *t)
{
    return t->readback != NULL ? FIRE_AHEAD : 0;
}

int fire_trainer_nflight(const fire_trainer_t *t)
{
    return t->nflight;
}

/* The profile listens to the net's `watch` hooks: both come and go together. */
void fire_trainer_set_measuring(fire_trainer_t *t, bool on)
{
    fire_profile_t  *profile = t->profile;
    fire_net_hooks_t hooks   = t->net->watch;

    if (on == (profile != NULL)) return;
    t->profile          = t->paused;
    t->net->watch       = t->paused_hooks;
    t->paused           = profile;
    t->reducer->profile = t->profile;
    t->paused_hooks     = hooks;
}
