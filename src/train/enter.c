/* enter.c - what a public function of a trainer does first and last: messages go to the
 * trainer's own sink, work to its GPU, and views of its nets' blobs are live before and
 * after. Trainers of the program, which owns what they use, need none of that. */
#include <stdio.h>

#include "train/trainer_state.h"

static fire_status_t for_nets(fire_trainer_t *t, fire_status_t (*call)(fire_net_t *net))
{
    FIRE_TRY(call(t->net));
    for (int i = 0; i < t->ntest; i++)
        FIRE_TRY(call(t->test[i].net));
    return FIRE_OK;
}

fire_trainer_call_t fire_trainer_listen(fire_trainer_t *t)
{
    fire_trainer_call_t call    = {.before = fire_log_context()};
    fire_log_context_t  context = t->own.log;

    if (t->own.param == NULL) return call;
    if (context.route == NULL) context.route = call.before.route;
    fire_log_set_context(&context);
    if (t->own.stream != NULL) fire_gpu_use(t->own.stream);
    return call;
}

fire_trainer_call_t fire_trainer_enter(fire_trainer_t *t)
{
    fire_trainer_call_t call = fire_trainer_listen(t);

    if (t->own.param != NULL) call.st = for_nets(t, fire_net_absorb_views);
    return call;
}

fire_status_t fire_trainer_leave(fire_trainer_t *t, fire_trainer_call_t call,
                                 fire_status_t st)
{
    char          why[2048] = "";
    fire_status_t views     = FIRE_OK;

    if (st < 0) snprintf(why, sizeof(why), "%s", fire_last_error());
    if (t->own.param != NULL) views = for_nets(t, fire_net_refresh_views);
    if (views >= 0 && t->own.stream != NULL) views = fire_gpu_sync(t->own.stream);
    if (t->own.param != NULL) fire_log_set_context(&call.before);
    if (views >= 0) return st;
    return st < 0 ? FIRE_FAIL(st, "%s", why) : views; /* the cause is what to tell */
}

/* Updates of the iteration before may be under way. */
fire_status_t fire_trainer_call_hook(fire_trainer_t *t,
                                     fire_status_t (*hook)(void *arg))
{
    if (hook == NULL) return FIRE_OK;
    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(for_nets(t, fire_net_refresh_views));
    FIRE_TRY(hook(t->user.arg));
    return for_nets(t, fire_net_absorb_views);
}
