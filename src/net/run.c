/* run.c - runs a net forward and backward, layer by layer. The public functions are in
 * src/api/run.c. */
#include "net/net_state.h"

#include "device/cpu/parallel.h"
#include "device/gpu.h"

/* A hash (FNV-1a) of the bottoms' shapes. */
static uint64_t shapes_of(const fire_layer_t *l)
{
    uint64_t h = 1469598103934665603u;

    for (int i = 0; i < l->nbottom; i++) {
        const fire_blob_t *b = l->bottom[i];

        h = (h ^ (uint64_t)b->ndim) * 1099511628211u;
        for (int k = 0; k < b->ndim; k++)
            h = (h ^ (uint64_t)b->dim[k]) * 1099511628211u;
    }
    return h;
}

/* Choose the kernel for new shapes. Another kernel may not be able to compute the
 * layers that the old one did, so fusion is undone then. */
static fire_status_t select_again(fire_net_t *net, fire_layer_t *l)
{
    const fire_kernel_t *before = l->kernel;

    FIRE_TRY(fire_kernel_select(l, NULL, NULL));
    if (l->kernel == before) return FIRE_OK;
    if (l->fusion.absorbed || l->fusion.nfollower > 0 || l->fusion.borrower != NULL)
        FIRE_TRY(fire_net_unfuse(net));
    return fire_net_plan_memory(net);
}

/* Reshape the layer if a bottom changed shape, or if its type must always be asked. */
static fire_status_t update_shapes(fire_net_t *net, fire_net_layer_t *l)
{
    uint64_t now    = shapes_of(&l->base);
    bool     always = l->base.ops->flags & (FIRE_LAYER_DYNAMIC | FIRE_LAYER_SOURCE);

    if (l->shapes == now && !always) return FIRE_OK;
    FIRE_TRY(l->base.ops->reshape(&l->base));
    if (l->shapes != now) FIRE_TRY(select_again(net, &l->base));
    l->shapes = now;
    return FIRE_OK;
}

/* Add the layer's losses times their weights. */
static fire_status_t add_loss(const fire_layer_t *l, float *loss)
{
    for (int i = 0; i < l->ntop; i++) {
        const float *x;
        float        sum = 0;

        if (l->loss_weight[i] == 0) continue;
        FIRE_TRY(fire_blob_read(l->top[i], FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < fire_blob_count(l->top[i]); k++)
            sum += x[k] * l->loss_weight[i];
        *loss += sum;
    }
    return FIRE_OK;
}

/* Call a hook unless it is NULL. */
#define HOOK(hooks, name, i) \
    ((hooks).name != NULL ? (hooks).name((hooks).arg, (i)) : FIRE_OK)

/* Tell the GPU back end which layer runs, for its error messages and profiles. */
static void set_current_layer(const fire_net_t *net, const fire_layer_t *l)
{
    if (net->ctx.place == FIRE_GPU)
        fire_gpu_set_current_layer(net->ctx.stream, l->param->name);
}

/* Prepare a layer and the layers that its kernel computes as well: call the hooks and
 * update the shapes of all of them. */
static fire_status_t start_group(fire_net_t *net, int leader)
{
    int followers = net->layer[leader].base.fusion.nfollower;

    for (int i = leader; i <= leader + followers; i++)
        FIRE_TRY(HOOK(net->hooks, before_forward, i));
    FIRE_TRY(HOOK(net->watch, before_forward, leader));
    for (int i = leader; i <= leader + followers; i++)
        FIRE_TRY(
            fire_layer_blame(update_shapes(net, &net->layer[i]), &net->layer[i].base));
    return FIRE_OK;
}

/* Is exactly one of a lender and its borrower in the range first ... last? */
static bool separates_pair(const fire_net_t *net, int i, int first, int last)
{
    const fire_layer_t *borrower = net->layer[i].base.fusion.borrower;
    int                 k        = i;

    if (borrower == NULL) return false;
    while (&net->layer[k].base != borrower)
        k++;
    return (i >= first && i <= last) != (k >= first && k <= last);
}

/* Does the range separate layers that one kernel computes together? */
static bool cuts_group(const fire_net_t *net, int first, int last)
{
    for (int i = 0; i <= last; i++)
        if (separates_pair(net, i, first, last)) return true;
    return net->layer[first].base.fusion.absorbed ||
           (last + 1 < net->nlayer && net->layer[last + 1].base.fusion.absorbed);
}

/* Fail unless low ... high are layers of the net; an empty range is none of them. */
static fire_status_t check_range(const fire_net_t *net, int low, int high)
{
    if (low > high || (low >= 0 && high < net->nlayer)) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "layers %d to %d: the net has layers 0 to %d",
                     low, high, net->nlayer - 1);
}

/* As in Caffe, where a data layer gives the next batch whenever it runs. */
static void take_step(fire_net_t *net)
{
    bool alone = net->own_steps && net->hooks.before_forward == NULL;

    if (alone && net->passed == net->moment.step + 1) net->moment.step++;
    net->passed = net->moment.step + 1;
}

fire_status_t fire_net_run_forward(fire_net_t *net, int first, int last, float *loss_p)
{
    float loss = 0;

    if (last < 0) last = net->nlayer - 1;
    FIRE_TRY(check_range(net, first, last));
    if (first <= last && (net->debug_info || cuts_group(net, first, last)))
        FIRE_TRY(fire_net_unfuse(net));
    if (net->ctx.threads > 0) fire_threads_set(net->ctx.threads);
    if (first == 0) take_step(net);
    if (net->ctx.place == FIRE_GPU && first == 0)
        FIRE_TRY(fire_gpu_set_step(net->ctx.stream, net->moment.step));
    for (int i = first; i <= last; i++) {
        fire_net_layer_t *l = &net->layer[i];

        if (!l->base.fusion.absorbed) {
            FIRE_TRY(start_group(net, i));
            set_current_layer(net, &l->base);
            FIRE_TRY(fire_layer_blame(l->base.kernel->forward(&l->base), &l->base));
            if (loss_p != NULL) FIRE_TRY(add_loss(&l->base, &loss));
        } else {
            FIRE_TRY(HOOK(net->watch, before_forward, i));
        }
        if (net->debug_info) FIRE_TRY(fire_net_debug_forward(net, i));
        FIRE_TRY(HOOK(net->watch, after_forward, i));
        FIRE_TRY(HOOK(net->hooks, after_forward, i));
        fire_net_drop(net, i);
    }
    if (loss_p != NULL) *loss_p = loss;
    return FIRE_OK;
}

/* Set the gradient of a loss to weight * loss_scale; with loss scaling for fp16,
 * multiplied on the GPU by the current scale. */
static fire_status_t seed_loss(fire_net_t *net, const fire_layer_t *l, fire_blob_t *top,
                               float weight)
{
    float *d;

    FIRE_TRY(
        fire_blob_fill(top, FIRE_DIFF, l->kernel->where, weight * net->loss_scale));
    if (!net->ctx.scaled) return FIRE_OK;
    FIRE_TRY(fire_blob_update(top, FIRE_DIFF, FIRE_GPU, &d));
    return fire_gpu_scale(net->ctx.stream, d, fire_blob_count(top));
}

/* Begin backward: the gradient of the objective with respect to a loss is its
 * weight. */
static fire_status_t seed_losses(fire_net_t *net, const fire_layer_t *l)
{
    for (int i = 0; i < l->ntop; i++)
        if (l->loss_weight[i] != 0)
            FIRE_TRY(seed_loss(net, l, l->top[i], l->loss_weight[i]));
    return FIRE_OK;
}

fire_status_t fire_net_run_backward(fire_net_t *net, int first, int last)
{
    if (net->ctx.inference)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "the net is for inference: nothing is kept for backward; say "
                         "force_backward: true in its prototxt");
    if (first < 0) first = net->nlayer - 1;
    FIRE_TRY(check_range(net, last, first));
    if (net->ctx.threads > 0) fire_threads_set(net->ctx.threads);
    for (int i = first; i >= last; i--) {
        fire_layer_t *l = &net->layer[i].base;

        if (net->layer[i].need_backward) {
            FIRE_TRY(HOOK(net->hooks, before_backward, i));
            FIRE_TRY(HOOK(net->watch, before_backward, i));
            FIRE_TRY(fire_net_recompute(net, 2 * net->nlayer - 1 - i));
            FIRE_TRY(fire_layer_blame(seed_losses(net, l), l));
            if (l->kernel->backward != NULL && !l->fusion.absorbed)
                FIRE_TRY(fire_layer_blame(l->kernel->backward(l), l));
            if (net->debug_info) FIRE_TRY(fire_net_debug_backward(net, i));
            FIRE_TRY(HOOK(net->watch, after_backward, i));
        }
        if (net->debug_info && first == net->nlayer - 1)
            FIRE_TRY(fire_net_debug_norms(net, i));
        FIRE_TRY(HOOK(net->hooks, after_backward, i));
        fire_net_drop(net, 2 * net->nlayer - 1 - i);
    }
    return FIRE_OK;
}

fire_status_t fire_net_update_shapes(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++)
        FIRE_TRY(
            fire_layer_blame(update_shapes(net, &net->layer[i]), &net->layer[i].base));
    return FIRE_OK;
}

fire_status_t fire_net_zero_diffs(fire_net_t *net)
{
    for (int i = 0; i < net->nparam; i++) {
        const fire_param_t *p = &net->learn[i];

        FIRE_TRY(fire_layer_blame(fire_blob_fill(p->blob, FIRE_DIFF, net->ctx.place, 0),
                                  &net->layer[p->layer].base));
    }
    return FIRE_OK;
}
