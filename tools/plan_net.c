#include <string.h>
#include "base/alloc.h"
#include "view/layer_text.h"
#include "plan.h"

static double bytes_of(const fire_blob_t *b)
{
    return 4.0 * (double)fire_blob_count(b);
}

/* What backward passes through and forward works on; a Split only hands on. */
static bool does_work(const fire_layer_t *l)
{
    return l->nbottom > 0 && strcmp(l->ops->type, "Split") != 0;
}

static fire_layer_cost_t work_of(const fire_layer_t *l)
{
    fire_layer_cost_t w = {0};

    if (!does_work(l)) return w;
    w.flops = l->ops->macs != NULL ? 2 * l->ops->macs(l) : 0;
    for (int i = 0; i < l->nbottom; i++)
        w.bytes += bytes_of(l->bottom[i]);
    for (int i = 0; i < l->ntop; i++) {
        w.bytes += bytes_of(l->top[i]);
        if (l->nbottom == 0 || l->top[i] != l->bottom[0]) w.kept += bytes_of(l->top[i]);
    }
    return w;
}

fire_status_t plan_net_read(const fire_net_t *net, plan_net_t *out)
{
    out->nlayer = net->nlayer;
    FIRE_TRY(FIRE_NEW(&out->work, net->nlayer));
    FIRE_TRY(FIRE_NEW(&out->name, net->nlayer));
    FIRE_TRY(FIRE_NEW(&out->w, net->nlayer));
    FIRE_TRY(FIRE_NEW(&out->d, net->nlayer));
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        out->work[i] = work_of(l);
        out->name[i] = l->param->name;
        out->flops += out->work[i].flops;
        out->moved += out->work[i].bytes;
        if (!layer_is_conv_or_fc(l)) continue;
        out->w_bytes += out->w[i] = bytes_of(l->blob[0]);
        out->d_bytes += out->d[i] = bytes_of(l->bottom[0]);
    }
    for (int i = 0; i < net->nparam; i++) {
        out->work[net->learn[i].first_use].weights += bytes_of(net->learn[i].blob);
        out->weights += bytes_of(net->learn[i].blob);
    }
    return FIRE_OK;
}

fire_load_t plan_net_load(const plan_net_t *n)
{
    return (fire_load_t){n->work, n->nlayer, n->timing, n->ntiming};
}

void plan_net_fini(plan_net_t *n)
{
    for (int i = 0; i < n->ntiming; i++) {
        fire_free((void *)n->timing[i].forward);
        fire_free((void *)n->timing[i].backward);
    }
    fire_free(n->timing);
    fire_free(n->work);
    fire_free(n->name);
    fire_free(n->w);
    fire_free(n->d);
    *n = (plan_net_t){0};
}
