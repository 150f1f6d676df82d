/* debug.c - debug_info: logs mean absolute values of blobs in Caffe's format, so that
 * the logs of both programs can be compared line by line. */
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
