/* run.c - runs nets for users of the library: their messages go to the net's own sink,
 * and views of blobs are live before and after each call. */
#include "api/enter.h"

/* After a call that may have changed values. What a GPU computes is there then, for
 * whoever reads its memory, and faults of its kernels are reported. */
static fire_status_t finish(fire_net_t *net, fire_status_t st)
{
    st = fire_net_refresh_views_after(net, st);
    if (st >= 0 && net->ctx.stream != NULL) FIRE_TRY(fire_gpu_sync(net->ctx.stream));
    return st;
}

fire_status_t fire_net_forward(fire_net_t *net, int first, int last, float *loss_p)
{
    fire_log_route_t *before = fire_net_enter(net);
    fire_status_t     st     = fire_net_absorb_views(net);

    if (st >= 0) st = fire_net_run_forward(net, first, last, loss_p);
    return fire_net_leave(before, finish(net, st));
}

fire_status_t fire_net_backward(fire_net_t *net, int first, int last)
{
    fire_log_route_t *before = fire_net_enter(net);
    fire_status_t     st     = fire_net_absorb_views(net);

    if (st >= 0) st = fire_net_run_backward(net, first, last);
    return fire_net_leave(before, finish(net, st));
}

fire_status_t fire_net_reshape(fire_net_t *net)
{
    fire_log_route_t *before = fire_net_enter(net);

    return fire_net_leave(before, fire_net_update_shapes(net));
}

fire_status_t fire_net_clear_diffs(fire_net_t *net)
{
    fire_log_route_t *before = fire_net_enter(net);

    return fire_net_leave(before, finish(net, fire_net_zero_diffs(net)));
}
