/* debug.c - debug_info: logs mean absolute values of blobs, and norms of all parameters,
 * in Caffe's format, so that the logs of both programs can be compared line by line. */
#include <math.h>

#include "base/log.h"
#include "net/net_state.h"

/* Mean of |x| over data or gradient of a blob; 0 for an empty one. */
static fire_status_t mean_abs(fire_blob_t *b, fire_part_t part, double *mean_p)
{
    const float *x;
    double       sum = 0;

    FIRE_TRY(fire_blob_read(b, part, FIRE_CPU, &x));
    for (int64_t i = 0; i < b->count; i++)
        sum += fabs((double)x[i]);
    *mean_p = b->count > 0 ? sum / (double)b->count : 0;
    return FIRE_OK;
}

fire_status_t fire_net_debug_forward(fire_net_t *net, int layer)
{
    const fire_net_layer_t *l    = &net->layer[layer];
    const char             *name = l->base.param->name;
    double                  mean;

    for (int i = 0; i < l->base.ntop; i++) {
        FIRE_TRY(mean_abs(l->base.top[i], FIRE_DATA, &mean));
        FIRE_LOG(INFO, "    [Forward] Layer %s, top blob %s data: %g", name,
                 net->blob[l->top_id[i]].name, mean);
    }
    for (int i = 0; i < l->base.nblob; i++) {
        FIRE_TRY(mean_abs(l->base.blob[i], FIRE_DATA, &mean));
        FIRE_LOG(INFO, "    [Forward] Layer %s, param blob %d data: %g", name, i, mean);
    }
    return FIRE_OK;
}

fire_status_t fire_net_debug_backward(fire_net_t *net, int layer)
{
    const fire_net_layer_t *l    = &net->layer[layer];
    const char             *name = l->base.param->name;
    double                  mean;

    for (int i = 0; i < l->base.nbottom; i++) {
        if (!l->base.propagate_down[i]) continue;
        FIRE_TRY(mean_abs(l->base.bottom[i], FIRE_DIFF, &mean));
        FIRE_LOG(INFO, "    [Backward] Layer %s, bottom blob %s diff: %g", name,
                 net->blob[l->bottom_id[i]].name, mean);
    }
    for (int i = 0; i < l->base.nblob; i++) {
        if (!l->base.param_gradient[i]) continue;
        FIRE_TRY(mean_abs(l->base.blob[i], FIRE_DIFF, &mean));
        FIRE_LOG(INFO, "    [Backward] Layer %s, param blob %d diff: %g", name, i,
                 mean);
    }
    return FIRE_OK;
}

/* Add |x| and x^2 of a blob to sum[0] and sum[1]. */
static fire_status_t add_norms(fire_blob_t *b, fire_part_t part, double sum[2])
{
    const float *x;

    FIRE_TRY(fire_blob_read(b, part, FIRE_CPU, &x));
    for (int64_t i = 0; i < b->count; i++) {
        sum[0] += fabs((double)x[i]);
        sum[1] += (double)x[i] * (double)x[i];
    }
    return FIRE_OK;
}

/* A parameter is counted when its gradient is final, and before hooks hand it to other
 * workers or apply it. */
fire_status_t fire_net_debug_norms(fire_net_t *net, int layer)
{
    fire_debug_norms_t *n = &net->norms;

    if (layer == net->nlayer - 1) *n = (fire_debug_norms_t){0};
    for (int i = 0; i < net->nparam; i++)
        if (net->learn[i].first_use == layer) {
            FIRE_TRY(add_norms(net->learn[i].blob, FIRE_DATA, n->data));
            if (net->layer[layer].need_backward)
                FIRE_TRY(add_norms(net->learn[i].blob, FIRE_DIFF, n->diff));
        }
    if (layer == 0)
        FIRE_LOG(
            INFO,
            "    [Backward] All net params (data, diff): L1 norm = (%g, %g); L2 norm "
            "= (%g, %g)",
            n->data[0], n->diff[0], sqrt(n->data[1]), sqrt(n->diff[1]));
    return FIRE_OK;
}

fire_status_t fire_net_debug_update(fire_net_t *net, int param)
{
    const fire_param_t *p = &net->learn[param];
    double              data, diff;

    FIRE_TRY(mean_abs(p->blob, FIRE_DATA, &data));
    FIRE_TRY(mean_abs(p->blob, FIRE_DIFF, &diff));
    FIRE_LOG(INFO, "    [Update] Layer %s, param %d data: %g; diff: %g",
             net->layer[p->layer].base.param->name, p->index, data, diff);
    return FIRE_OK;
}
