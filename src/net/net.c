/* net.c - creates a net by running all passes, and destroys it. */
#include "net/net_state.h"

#include <string.h>

#include "base/log.h"
#include "base/text/text.h"
#include "device/cpu/parallel.h"
#include "device/cpu/precision.h"
#include "device/gpu.h"
#include "layers/plugin/plugin.h"

/* The NetState by which layers are filtered: the phase that the caller wants, its stages
 * and those of the net's own `state`, its level or, if that is 0, the net's. */
static fire_status_t make_state(const Caffe__NetParameter *param,
                                const fire_net_options_t *o, Caffe__NetState **state_p)
{
    const Caffe__NetState *own = o->whole_state ? NULL : param->state;
    Caffe__NetState       *state;
    fire_status_t          st;

    FIRE_TRY(fire_message_create(&caffe__net_state__descriptor,
                                 (ProtobufCMessage **)&state));
    state->has_phase = state->has_level = true;
    state->phase                        = o->phase;
    state->level = o->level == 0 && own != NULL ? own->level : o->level;
    for (size_t i = 0; own != NULL && i < own->n_stage; i++)
        FIRE_TRY_GOTO(st, fire_message_add_string(state, "stage", own->stage[i]), err);
    for (int i = 0; i < o->nstage; i++)
        FIRE_TRY_GOTO(st, fire_message_add_string(state, "stage", o->stage[i]), err);
    *state_p = state;
    return FIRE_OK;

err:
    fire_message_free(state);
    return st;
}

/* A net with Python layers cannot be lean: Python code may keep a view of a blob and
 * look at it later. */
static bool may_be_lean(const fire_net_t *net)
{
    for (size_t i = 0; i < net->param->n_layer; i++)
        if (net->param->layer[i]->type != NULL &&
            strcmp(net->param->layer[i]->type, "Python") == 0)
            return false;
    return true;
}

static const char *blob_name_at(const void *net, int i)
{
    const fire_net_t *n = net;

    return i < n->nblob ? n->blob[i].name : NULL;
}

fire_status_t fire_net_observe(fire_net_t *net, int n, const char *const *name)
{
    for (int i = 0; i < n; i++) {
        bool found = false;

        for (int k = 0; k < net->nblob; k++)
            if (strcmp(net->blob[k].name, name[i]) == 0)
                net->blob[k].observed = found = true;
        if (!found) {
            const char *near = fire_name_nearest(name[i], blob_name_at, net);

            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "cannot observe blob \"%s\": the net has none of that "
                             "name%s%s%s",
                             name[i], near != NULL ? "; did you mean \"" : "",
                             near != NULL ? near : "", near != NULL ? "\"?" : "");
        }
    }
    return FIRE_OK;
}

/* The passes that make a net out of a NetParameter. */
static fire_status_t run_passes(fire_net_t *net, const Caffe__NetParameter *param,
                                const fire_net_options_t *options)
{
    Caffe__NetState *state;
    fire_status_t    st;

    FIRE_TRY(make_state(param, options, &state));
    st = fire_net_filter(param, state, &net->param);
    fire_message_free(state);
    FIRE_TRY(st);
    net->ctx.lean      = net->ctx.lean && may_be_lean(net);
    net->ctx.inference = net->ctx.lean && net->phase == CAFFE__PHASE__TEST &&
                         net->ctx.place == FIRE_CPU && !net->param->force_backward;
    net->may_forget = options->may_forget && !net->ctx.lean && may_be_lean(net) &&
                      net->ctx.place == FIRE_CPU;
    FIRE_TRY(fire_net_insert_splits(net->param));
    FIRE_TRY(fire_net_build(net));
    FIRE_TRY(fire_net_plan_gradients(net));
    FIRE_TRY(fire_net_collect_params(net));
    FIRE_TRY(fire_net_observe(net, options->nobserve, options->observe));
    fire_net_fuse(net);
    FIRE_TRY(fire_net_plan_memory(net));
    return fire_net_load(net, net->param, NULL);
}

fire_status_t fire_net_create(const Caffe__NetParameter *param,
                              const fire_net_options_t *options, fire_net_t **net_p)
{
    fire_net_t   *net;
    fire_status_t st;

    if (options->ctx.place == FIRE_CPU)
        FIRE_TRY(fire_cpu_check_precision(options->ctx.precision));
    else if (options->ctx.stream != NULL)
        FIRE_TRY(fire_gpu_check_precision(options->ctx.stream, options->ctx.precision,
                                          options->ctx.tf32));
    FIRE_TRY(fire_plugin_load_environment());
    FIRE_TRY(FIRE_NEW(&net, 1));
    net->ctx = options->ctx;
    if (net->ctx.threads == 0) net->ctx.threads = fire_threads_granted();
    net->moment     = options->moment;
    net->phase      = options->phase;
    net->loss_scale = 1;
    net->debug_info = param->debug_info;
    FIRE_TRY_GOTO(st, fire_pool_create(&net->ctx.pool), err_net);
    if (net->ctx.lean && net->ctx.place == FIRE_GPU) fire_pool_add_gpu(net->ctx.pool);
    FIRE_TRY_GOTO(st, run_passes(net, param, options), err_net);
    *net_p = net;
    return FIRE_OK;

err_net:
    fire_net_destroy(net);
    return st;
}

void fire_net_destroy(fire_net_t *net)
{
    if (net == NULL) return;
    for (int i = 0; i < net->nlayer; i++) {
        fire_net_layer_t *l = &net->layer[i];

        fire_layer_fini(&l->base);
        fire_free(l->base.bottom);
        fire_free(l->base.top);
        fire_free(l->base.propagate_down);
        fire_free(l->base.loss_weight);
        fire_free(l->bottom_id);
        fire_free(l->top_id);
    }
    for (int i = 0; i < net->nblob; i++)
        fire_blob_destroy(net->blob[i].blob);
    fire_free(net->layer);
    fire_free(net->blob);
    fire_free(net->learn);
    fire_free(net->output);
    fire_free(net->output_size);
    fire_free(net->drop);
    fire_free(net->recompute);
    fire_pool_release(net->ctx.pool);
    fire_message_free(net->param);
    fire_gpu_close(net->stream);
    fire_free(net->kernels);
    fire_log_route_destroy(net->log);
    fire_free(net);
}

fire_blob_t *fire_net_find_blob(const fire_net_t *net, const char *name)
{
    for (int i = 0; i < net->nblob; i++)
        if (strcmp(net->blob[i].name, name) == 0) return net->blob[i].blob;
    return NULL;
}

fire_layer_t *fire_net_find_layer(const fire_net_t *net, const char *name)
{
    for (int i = 0; i < net->nlayer; i++)
        if (strcmp(net->layer[i].base.param->name, name) == 0)
            return &net->layer[i].base;
    return NULL;
}

fire_status_t fire_net_read_output(const fire_net_t *net, int i, fire_place_t where,
                                   const float **x_p)
{
    fire_blob_t *b = net->blob[net->output[i]].blob;

    *x_p = NULL;
    return b->count == net->output_size[i] ? fire_blob_read(b, FIRE_DATA, where, x_p)
                                           : FIRE_OK;
}

float fire_net_loss_weight(const fire_net_t *net, int blob)
{
    for (int i = net->nlayer - 1; i >= 0; i--)
        for (int j = 0; j < net->layer[i].base.ntop; j++)
            if (net->layer[i].top_id[j] == blob)
                return net->layer[i].base.loss_weight[j];
    return 0;
}
