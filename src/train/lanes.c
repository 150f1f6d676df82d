/* lanes.c - which lanes of the global batch are this worker's, and what workers agree
 * on (docs/design/0002-lanes.md). */
#include "base/clock.h"
#include "train/trainer_state.h"

/* Worker r runs lanes r * lane_count ... (r + 1) * lane_count - 1. The canonical sum
 * over lanes is a binary tree; a worker's lanes must be one subtree of it, so their
 * number is a power of two, unless there is only one worker. */
fire_status_t fire_trainer_take_lanes(fire_trainer_t *t)
{
    const Caffe__FireParameter *f    = t->param->fire;
    int                         size = fire_trainer_size(t);

    t->lanes      = f != NULL && f->lanes > 0 ? (int)f->lanes : size;
    t->lane_count = t->lanes / size;
    t->lane_first = t->lane_count * fire_trainer_rank(t);
    if (t->lanes % size != 0 ||
        (size > 1 && (t->lane_count & (t->lane_count - 1)) != 0))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d lanes cannot be shared by %d workers: each needs the same "
                         "number, a power of two",
                         t->lanes, size);
    return FIRE_OK;
}

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
