/* net.c - a net as a plan needs it: arithmetic and bytes of each layer, per sample. */
#include <string.h>

#include "base/alloc.h"
#include "plan/plan.h"

static double bytes_of(const fire_blob_t *b)
{
    return 4.0 * (double)fire_blob_count(b);
}

/* Data layers and Splits cost nothing: they have no arithmetic, and a Split does not
 * copy. */
static bool does_work(const fire_net_t *net, int layer)
{
    return fire_net_layer_nbottom(net, layer) > 0 &&
           strcmp(fire_net_layer_type(net, layer), "Split") != 0;
}

static const fire_blob_t *bottom_of(const fire_net_t *net, int layer, int i)
{
    return fire_net_blob(net, fire_net_layer_bottom(net, layer, i));
}

static fire_layer_cost_t work_of(const fire_net_t *net, int layer)
{
    fire_layer_cost_t w = {0};

    if (!does_work(net, layer)) return w;
    w.flops = 2 * fire_net_layer_macs(net, layer);
    for (int i = 0; i < fire_net_layer_nbottom(net, layer); i++)
        w.bytes += bytes_of(bottom_of(net, layer, i));
    for (int i = 0; i < fire_net_layer_ntop(net, layer); i++) {
        const fire_blob_t *top = fire_net_blob(net, fire_net_layer_top(net, layer, i));

        w.bytes += bytes_of(top);
        if (top != bottom_of(net, layer, 0)) w.kept += bytes_of(top); /* in place */
    }
    return w;
}

fire_status_t fire_plan_net_read(const fire_net_t *net, fire_plan_net_t *out)
{
    int n = fire_net_nlayer(net);

    out->nlayer = n;
    FIRE_TRY(FIRE_NEW(&out->work, n));
    FIRE_TRY(FIRE_NEW(&out->name, n));
    FIRE_TRY(FIRE_NEW(&out->w, n));
    FIRE_TRY(FIRE_NEW(&out->d, n));
    for (int i = 0; i < n; i++) {
        out->work[i] = work_of(net, i);
        out->name[i] = fire_net_layer_name(net, i);
        out->flops += out->work[i].flops;
        out->moved += out->work[i].bytes;
        if (!fire_net_layer_is_product(net, i)) continue;
        out->w_bytes += out->w[i] = bytes_of(fire_net_layer_param(net, i, 0));
        out->d_bytes += out->d[i] = bytes_of(bottom_of(net, i, 0));
    }
    for (int i = 0; i < fire_net_nparam(net); i++) {
        const fire_param_t *p = fire_net_param(net, i);

        out->work[p->first_use].weights += bytes_of(p->blob);
        out->weights += bytes_of(p->blob);
    }
    return FIRE_OK;
}

fire_load_t fire_plan_net_load(const fire_plan_net_t *n)
{
    return (fire_load_t){n->work, n->nlayer, n->timing, n->ntiming};
}

void fire_plan_net_fini(fire_plan_net_t *n)
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
    *n = (fire_plan_net_t){0};
}

/* ---- before it is built ---- */

static void drop_fillers(Caffe__LayerParameter *l)
{
    if (l->convolution_param != NULL)
        fire_message_clear(
            l->convolution_param,
            fire_field_find(l->convolution_param->base.descriptor, "weight_filler"));
    if (l->inner_product_param != NULL)
        fire_message_clear(
            l->inner_product_param,
            fire_field_find(l->inner_product_param->base.descriptor, "weight_filler"));
}

void fire_plan_drop_fillers(Caffe__NetParameter *param)
{
    for (size_t i = 0; i < param->n_layer; i++)
        drop_fillers(param->layer[i]);
}
