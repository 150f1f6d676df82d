/* access.c - the functions by which tools and the training loop look into a net, one
 * for each fact. */
#include <string.h>
#include "net/net_state.h"

static const fire_layer_t *layer_at(const fire_net_t *net, int layer)
{
    return &net->layer[layer].base;
}

const char *fire_net_name(const fire_net_t *net)
{
    return net->param->name != NULL ? net->param->name : "";
}

Caffe__Phase fire_net_phase(const fire_net_t *net)
{
    return net->phase;
}

int fire_net_gpu(const fire_net_t *net)
{
    return net->ctx.place == FIRE_GPU ? net->gpu : -1;
}

const fire_ctx_t *fire_net_ctx(const fire_net_t *net)
{
    return &net->ctx;
}

int64_t fire_net_step(const fire_net_t *net)
{
    return net->moment.step;
}

void fire_net_set_step(fire_net_t *net, int64_t step)
{
    net->moment.step = step;
}

void fire_net_set_threads(fire_net_t *net, int threads)
{
    net->ctx.threads = threads;
}

void fire_net_set_watch(fire_net_t *net, const fire_net_hooks_t *hooks)
{
    net->watch = *hooks;
}

/* ---- layers ---- */

int fire_net_nlayer(const fire_net_t *net)
{
    return net->nlayer;
}

const char *fire_net_layer_name(const fire_net_t *net, int layer)
{
    return layer_at(net, layer)->param->name;
}

const char *fire_net_layer_type(const fire_net_t *net, int layer)
{
    return layer_at(net, layer)->ops->type;
}

int fire_net_layer_number(const fire_net_t *net, const char *name)
{
    for (int i = 0; i < net->nlayer; i++)
        if (strcmp(fire_net_layer_name(net, i), name) == 0) return i;
    return -1;
}

const char *fire_net_layer_kernel(const fire_net_t *net, int layer)
{
    const fire_kernel_t *k = layer_at(net, layer)->kernel;

    return k != NULL ? k->name : "";
}

fire_place_t fire_net_layer_place(const fire_net_t *net, int layer)
{
    return layer_at(net, layer)->kernel->where;
}

bool fire_net_layer_has_backward(const fire_net_t *net, int layer)
{
    return net->layer[layer].need_backward;
}

double fire_net_layer_macs(const fire_net_t *net, int layer)
{
    const fire_layer_t *l = layer_at(net, layer);

    return l->ops->macs != NULL ? l->ops->macs(l) : 0;
}

int fire_net_layer_nbottom(const fire_net_t *net, int layer)
{
    return layer_at(net, layer)->nbottom;
}

int fire_net_layer_bottom(const fire_net_t *net, int layer, int i)
{
    return net->layer[layer].bottom_id[i];
}

int fire_net_layer_ntop(const fire_net_t *net, int layer)
{
    return layer_at(net, layer)->ntop;
}

int fire_net_layer_top(const fire_net_t *net, int layer, int i)
{
    return net->layer[layer].top_id[i];
}

int fire_net_layer_nparam(const fire_net_t *net, int layer)
{
    return layer_at(net, layer)->nblob;
}

fire_blob_t *fire_net_layer_param(const fire_net_t *net, int layer, int i)
{
    return layer_at(net, layer)->blob[i];
}

/* Types whose first parameter is a matrix of weights. */
bool fire_net_layer_is_product(const fire_net_t *net, int layer)
{
    static const char *const types[] = {"Convolution", "Deconvolution", "InnerProduct"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(fire_net_layer_type(net, layer), types[i]) == 0) return true;
    return false;
}

/* ---- blobs, outputs, parameters ---- */

int fire_net_nblob(const fire_net_t *net)
{
    return net->nblob;
}

const char *fire_net_blob_name(const fire_net_t *net, int blob)
{
    return net->blob[blob].name;
}

fire_blob_t *fire_net_blob(const fire_net_t *net, int blob)
{
    return net->blob[blob].blob;
}

/* The number of tops of Input layers, or with i >= 0 the number of the i-th one's
 * blob. */
static int look_for_inputs(const fire_net_t *net, int i)
{
    int n = 0;

    for (int k = 0; k < net->nlayer; k++)
        for (int j = 0; j < layer_at(net, k)->ntop; j++)
            if (strcmp(fire_net_layer_type(net, k), "Input") == 0 && n++ == i)
                return net->layer[k].top_id[j];
    return n;
}

int fire_net_ninput(const fire_net_t *net)
{
    return look_for_inputs(net, -1);
}

int fire_net_input(const fire_net_t *net, int i)
{
    return look_for_inputs(net, i);
}

int fire_net_noutput(const fire_net_t *net)
{
    return net->noutput;
}

int fire_net_output(const fire_net_t *net, int i)
{
    return net->output[i];
}

int64_t fire_net_output_size(const fire_net_t *net, int i)
{
    return net->output_size[i];
}

int fire_net_nparam(const fire_net_t *net)
{
    return net->nparam;
}

const fire_param_t *fire_net_param(const fire_net_t *net, int i)
{
    return &net->learn[i];
}

fire_blob_t *fire_net_param_blob(const fire_net_t *net, int i)
{
    return net->learn[i].blob;
}

int fire_net_param_layer(const fire_net_t *net, int i)
{
    return net->learn[i].layer;
}

int fire_net_param_index(const fire_net_t *net, int i)
{
    return net->learn[i].index;
}

const char *fire_net_param_name(const fire_net_t *net, int i)
{
    return net->learn[i].name;
}

fire_blob_t *fire_net_find_param(const fire_net_t *net, const char *name)
{
    for (int i = 0; i < net->nparam && name[0] != '\0'; i++)
        if (strcmp(net->learn[i].name, name) == 0) return net->learn[i].blob;
    return NULL;
}

/* ---- kernels ---- */

/* The caller's report function, for fire_kernel_select(). */
typedef struct listener {
    fire_net_report_t report;
    void             *arg;
} listener_t;

static void report_kernel(void *arg, const fire_layer_t *l, const fire_kernel_t *k,
                          const char *reason)
{
    const listener_t *to = arg;

    (void)l;
    to->report(to->arg, k->name, reason);
}

fire_status_t fire_net_choose_kernel(fire_net_t *net, int layer,
                                     fire_net_report_t report, void *arg)
{
    listener_t to = {report, arg};

    return fire_kernel_select(&net->layer[layer].base, report_kernel, &to);
}
