/* net.c - creates nets for users of the library, from a file, a text or a message. */
#include "api/kernels.h"
#include "base/config.h"
#include "device/gpu.h"
#include "model/load.h"
#include "model/text.h"
#include "model/upgrade.h"
#include "net/net_state.h"

static fire_status_t read_config(const fire_net_config_t *from, fire_net_config_t *to)
{
    *to = (fire_net_config_t)FIRE_NET_CONFIG_INIT;
    FIRE_TRY(fire_config_read(from, to, sizeof(*to), "config of a net"));
    if (to->phase != FIRE_TRAIN && to->phase != FIRE_TEST)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "phase %d is neither FIRE_TRAIN nor FIRE_TEST",
                         (int)to->phase);
    if (to->mode != FIRE_OBSERVED && to->mode != FIRE_LEAN)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "mode %d is neither FIRE_OBSERVED nor FIRE_LEAN",
                         (int)to->mode);
    if (to->nstage < 0 || to->threads < 0 || (to->nstage > 0 && to->stage == NULL))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the config of a net has %d stages%s and %d threads",
                         to->nstage, to->stage == NULL ? " (NULL)" : "", to->threads);
    if (to->nobserve < 0 || (to->nobserve > 0 && to->observe == NULL) || to->gpu < -1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the config of a net has %d names to observe%s and GPU %d",
                         to->nobserve, to->observe == NULL ? " (NULL)" : "", to->gpu);
    return FIRE_OK;
}

/* What a net is created with, and owns then. */
typedef struct parts {
    fire_net_config_t  config;
    fire_net_options_t options;
    fire_log_route_t  *log;
    char              *kernels;
} parts_t;

static fire_status_t open_gpu(parts_t *p)
{
    char text[256];

    if (p->config.gpu < 0) return FIRE_OK;
    FIRE_TRY(fire_gpu_open(p->config.gpu, &p->options.ctx.stream));
    p->options.ctx.place = FIRE_GPU;
    FIRE_TRY(fire_gpu_describe(p->config.gpu, text, sizeof(text)));
    FIRE_LOG(INFO, "Use GPU with device ID %d", p->config.gpu);
    FIRE_LOG(INFO, "GPU device name: %s", text);
    return FIRE_OK;
}

static fire_status_t prepare(parts_t *p)
{
    const fire_net_config_t *c = &p->config;
    fire_net_options_t      *o = &p->options;

    FIRE_TRY(fire_ctx_set_precision(&o->ctx, c->precision != NULL ? c->precision : ""));
    FIRE_TRY(fire_kernels_check("kernels", c->kernels));
    if (c->kernels != NULL) FIRE_TRY(fire_strdup(c->kernels, &p->kernels));
    o->ctx.kernels   = p->kernels;
    o->ctx.exact     = c->exact;
    o->ctx.recompute = c->recompute;
    o->ctx.lean      = c->mode == FIRE_LEAN;
    o->ctx.threads   = c->threads;
    o->ctx.python    = c->python;
    o->moment.seed   = c->seed;
    o->phase    = c->phase == FIRE_TRAIN ? CAFFE__PHASE__TRAIN : CAFFE__PHASE__TEST;
    o->level    = c->level;
    o->nstage   = c->nstage;
    o->stage    = (const char **)c->stage;
    o->nobserve = c->nobserve;
    o->observe  = c->observe;
    return open_gpu(p);
}

/* Hand over to the net what was made for it. */
static fire_status_t finish(const parts_t *p, fire_net_t *net)
{
    net->log       = p->log;
    net->stream    = p->options.ctx.stream;
    net->kernels   = p->kernels;
    net->gpu       = p->config.gpu;
    net->own_steps = true;
    for (size_t i = 0; i < net->param->n_layer; i++) /* the layers have them now */
        fire_message_clear_field(net->param->layer[i], "blobs");
    /* fusion of layers in place would hide the steps between them from hooks */
    return p->config.mode == FIRE_OBSERVED ? fire_net_unfuse(net) : FIRE_OK;
}

static fire_status_t make(parts_t *p, const Caffe__NetParameter *param,
                          fire_net_t **net_p)
{
    fire_net_t   *net;
    fire_status_t st = prepare(p);

    if (st >= 0) st = fire_net_create(param, &p->options, &net);
    if (st < 0) {
        fire_gpu_close(p->options.ctx.stream);
        fire_free(p->kernels);
        fire_log_route_destroy(p->log);
        return st;
    }
    st = finish(p, net);
    if (st < 0)
        fire_net_destroy(net);
    else
        *net_p = net;
    return st;
}

/* Create the net of a message that is upgraded. */
static fire_status_t create(const Caffe__NetParameter *param,
                            const fire_net_config_t *config, fire_net_t **net_p)
{
    parts_t           p = {.options = FIRE_NET_OPTIONS_INIT};
    fire_log_route_t *before;
    fire_status_t     st;

    FIRE_TRY(read_config(config, &p.config));
    FIRE_TRY(fire_log_route_create(&p.config.log, &p.log));
    before = fire_log_enter(p.log);
    st     = make(&p, param, net_p);
    fire_log_leave(before);
    return st;
}

fire_status_t fire_net_from_file(const char *path, const fire_net_config_t *config,
                                 fire_net_t **net_p)
{
    Caffe__NetParameter *param;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_text(path, &param));
    st = create(param, config, net_p);
    fire_message_free(param);
    return st < 0 ? fire_error_prefix(st, "%s", path) : st;
}

/* Upgrade a message, create its net and free the message. */
static fire_status_t create_from(ProtobufCMessage *msg, const char *what,
                                 const fire_net_config_t *config, fire_net_t **net_p)
{
    Caffe__NetParameter *param = (Caffe__NetParameter *)msg;
    fire_status_t        st    = fire_net_param_upgrade(param, what);

    if (st == FIRE_OK) st = create(param, config, net_p);
    fire_message_free(msg);
    return st;
}

fire_status_t fire_net_from_text(const char *text, size_t length,
                                 const fire_net_config_t *config, fire_net_t **net_p)
{
    static const char what[] = "text of a net";
    ProtobufCMessage *msg;

    FIRE_TRY(
        fire_text_parse(text, length, what, &caffe__net_parameter__descriptor, &msg));
    return create_from(msg, what, config, net_p);
}

fire_status_t fire_net_from_message(const void *message, size_t length,
                                    const fire_net_config_t *config, fire_net_t **net_p)
{
    static const char what[] = "message of a net";
    ProtobufCMessage *msg;

    FIRE_TRY(fire_message_unpack(&caffe__net_parameter__descriptor, message, length,
                                 what, &msg));
    return create_from(msg, what, config, net_p);
}
