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

static bool is_fused(const fire_net_t *net)
{
    bool fused = false;

    for (int i = 0; i < net->nlayer; i++)
        fused |= net->layer[i].base.fusion.absorbed;
    return fused && !net->ctx.lean;
}

/* On the CPU a trainer runs observed layers in place together with the one before
 * (train/nets.c). Whoever runs the net by hand may do so in pieces: each layer runs
 * alone from then on. */
static fire_status_t unfuse_observed(fire_net_t *net)
{
    return is_fused(net) ? fire_net_unfuse(net) : FIRE_OK;
}

/* What layers that ran as one have kept for backward is not enough for one of them. */
static fire_status_t check_piece(const fire_net_t *net, int first, int last)
{
    if (!is_fused(net) || ((first < 0 || first == net->nlayer - 1) && last == 0))
        return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "backward of layers %d to %d after the forward pass of a trainer: "
                     "run forward of the net first",
                     first, last);
}

fire_status_t fire_net_forward(fire_net_t *net, int first, int last, float *loss_p)
{
    fire_log_route_t *before = fire_net_enter(net);
    fire_status_t     st     = fire_net_absorb_views(net);

    if (st >= 0) st = unfuse_observed(net);
    if (st >= 0) st = fire_net_run_forward(net, first, last, loss_p);
    return fire_net_leave(before, finish(net, st));
}

fire_status_t fire_net_backward(fire_net_t *net, int first, int last)
{
    fire_log_route_t *before = fire_net_enter(net);
    fire_status_t     st     = fire_net_absorb_views(net);

    if (st >= 0) st = check_piece(net, first, last);
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
