/* memory.c - how much GPU memory a training needs, and for what: for the log, and for
 * the error message when it is too much. */
#include <math.h>

#include "base/alloc.h"
#include "base/log.h"
#include "train/trainer_state.h"

typedef struct needs {
    double weights, gradients, history; /* bytes, independent of the batch */
    double activations;                 /* and their gradients: in proportion to it */
} needs_t;

/* Bytes of all activations and their gradients, if none of them shares memory over
 * time; blobs that are views of the same memory count once. */
static double sum_of_blobs(const fire_net_t *net)
{
    double                 sum = 0, size = (double)fire_dtype_size(net->ctx.precision);
    const fire_storage_t **seen;
    int                    n = 0;

    if (FIRE_NEW(&seen, 2 * net->nblob) < 0) return 0;
    for (int i = 0; i < net->nblob; i++)
        for (int part = 0; part < (net->blob[i].need_backward ? 2 : 1); part++) {
            const fire_blob_t *b = net->blob[i].blob;
            int                k = 0;

            while (k < n && seen[k] != b->part[part])
                k++;
            if (k < n) continue;
            seen[n++] = b->part[part];
            sum += size * (double)fire_blob_count(b);
        }
    fire_free(seen);
    return sum;
}

static double activation_bytes(const fire_net_t *net)
{
    bool   reuses_memory = fire_pool_on(net->ctx.pool, net->ctx.place) != NULL;
    size_t most;

    if (net->ctx.lean && reuses_memory &&
        fire_net_blob_bytes(net, true, net->ctx.recompute, &most) >= 0)
        return (double)most;
    return sum_of_blobs(net);
}

static needs_t find_needs(const fire_trainer_t *t)
{
    const fire_net_t *net    = t->net;
    double            floats = 0;

    for (int i = 0; i < net->nparam; i++)
        floats += (double)fire_blob_count(net->learn[i].blob);
    return (needs_t){
        .weights     = floats * (net->ctx.precision == FIRE_F32
                                     ? 4
                                     : 6), /* fp32 and the copy that kernels read */
        .gradients   = (double)t->grads->n * sizeof(float),
        .history     = 4 * floats * t->solver->rule->nhistory,
        .activations = activation_bytes(net),
    };
}

static double mib(double bytes)
{
    return bytes / (1 << 20);
}

void fire_trainer_log_memory(const fire_trainer_t *t)
{
    fire_gpu_usage_t u;
    needs_t          n;

    if (t->net->ctx.place != FIRE_GPU) return;
    u = fire_gpu_usage(t->net->ctx.stream);
    n = find_needs(t);
    FIRE_LOG(
        INFO,
        "GPU memory: %.0f of %.0f MiB at most: weights %.1f, gradients %.1f, history "
        "%.1f, workspace %.1f, activations and the rest %.1f",
        mib((double)u.peak), mib((double)u.all), mib(n.weights), mib(n.gradients),
        mib(n.history), mib((double)u.workspace),
        mib((double)u.peak - n.weights - n.gradients - n.history -
            (double)u.workspace));
}

fire_status_t fire_trainer_out_of_memory(const fire_trainer_t *t)
{
    const double     usable = 0.95; /* the driver and the libraries take some */
    fire_gpu_usage_t u      = fire_gpu_usage(t->net->ctx.stream);
    needs_t          n      = find_needs(t);
    double fixed = n.weights + n.gradients + n.history + (double)u.workspace, fits;
    double batch = (double)t->batch / t->lanes;

    fits = floor(batch * (usable * (double)u.all - fixed) / (n.activations + 1));
    return FIRE_FAIL(
        FIRE_ERR_NOMEM,
        "out of GPU memory: weights need %.1f MiB, gradients %.1f, history %.1f, "
        "activations %.1f for %.0f images, workspace %.1f so far, of %.1f; about %.0f "
        "images would fit: use a smaller batch_size, --lanes, or --precision bf16",
        mib(n.weights), mib(n.gradients), mib(n.history), mib(n.activations), batch,
        mib((double)u.workspace), mib((double)u.all),
        fits < 0       ? 0
        : fits < batch ? fits
                       : batch - 1);
}
