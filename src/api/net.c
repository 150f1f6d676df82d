/* net.c - creates nets for users of the library, from a file, a text or a message. */
#include "base/config.h"
#include "base/log.h"
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
    return FIRE_OK;
}

/* Create the net of a message that is upgraded. */
static fire_status_t make(const Caffe__NetParameter *param, const fire_net_config_t *c,
                          fire_net_t **net_p)
{
    fire_net_options_t options = FIRE_NET_OPTIONS_INIT;
    fire_net_t        *net;
    fire_status_t      st;

    options.ctx.lean    = c->mode == FIRE_LEAN;
    options.ctx.threads = c->threads;
    options.ctx.python  = c->python;
    options.moment.seed = c->seed;
    options.phase  = c->phase == FIRE_TRAIN ? CAFFE__PHASE__TRAIN : CAFFE__PHASE__TEST;
    options.level  = c->level;
    options.nstage = c->nstage;
    options.stage  = (const char **)c->stage;
    FIRE_TRY(fire_net_create(param, &options, &net));
    net->own_steps = true;
    for (size_t i = 0; i < net->param->n_layer; i++) /* the layers have them now */
        fire_message_clear_field(net->param->layer[i], "blobs");
    /* fusion of layers in place would hide the steps between them from hooks */
    st = c->mode == FIRE_OBSERVED ? fire_net_unfuse(net) : FIRE_OK;
    if (st < 0)
        fire_net_destroy(net);
    else
        *net_p = net;
    return st;
}

/* The same, with messages to the net's own sink, which the net owns from then on. */
static fire_status_t create(const Caffe__NetParameter *param,
                            const fire_net_config_t *config, fire_net_t **net_p)
{
    fire_net_config_t c;
    fire_log_route_t *log, *before;
    fire_status_t     st;

    FIRE_TRY(read_config(config, &c));
    FIRE_TRY(fire_log_route_create(&c.log, &log));
    before = fire_log_enter(log);
    st     = make(param, &c, net_p);
    fire_log_leave(before);
    if (st < 0)
        fire_log_route_destroy(log);
    else
        (*net_p)->log = log;
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
