/* reducer_local.c - one worker: its gradients are the sum already. */
#include "base/alloc.h"
#include "train/exchange/reducer.h"

static fire_status_t finish(fire_reducer_t *r)
{
    return fire_reducer_update(r, false);
}

static void destroy(fire_reducer_t *r)
{
    fire_free(r);
}

static const fire_reducer_ops_t local_ops = {
    .name = "local", .unattended = true, .finish = finish, .destroy = destroy};

fire_status_t fire_reducer_create_local(const fire_reducer_t *base,
                                        fire_reducer_t      **reducer_p)
{
    fire_reducer_t *r;

    FIRE_TRY(FIRE_NEW(&r, 1));
    *r         = *base;
    r->ops     = &local_ops;
    *reducer_p = r;
    return FIRE_OK;
}
