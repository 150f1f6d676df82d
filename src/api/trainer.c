/* trainer.c - creates trainers for users of the library, from a file, a text or a
 * message. All else of <fire/trainer.h> is in src/train/. */
#include <string.h>

#include "api/kernels.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "device/gpu.h"
#include "model/load.h"
#include "model/text.h"
#include "model/upgrade.h"
#include "train/settings.h"
#include "train/trainer.h"

/* What a trainer is created from; it owns all of it then. */
typedef struct parts {
    fire_trainer_config_t   config;
    fire_trainer_options_t  options;
    Caffe__SolverParameter *param;
    char                   *kernels;
} parts_t;

static fire_status_t read_config(const fire_trainer_config_t *from,
                                 fire_trainer_config_t       *to)
{
    *to = (fire_trainer_config_t)FIRE_TRAINER_CONFIG_INIT;
    FIRE_TRY(fire_config_read(from, to, sizeof(*to), "config of a trainer"));
    if (to->mode != FIRE_OBSERVED && to->mode != FIRE_LEAN)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "mode %d is neither FIRE_OBSERVED nor FIRE_LEAN",
                         (int)to->mode);
    if (to->nstage < 0 || (to->nstage > 0 && to->stage == NULL))
        return FIRE_FAIL(FIRE_ERR_INVALID, "the config of a trainer has %d stages%s",
                         to->nstage, to->stage == NULL ? " (NULL)" : "");
    if (to->threads < 0 || to->gpu < FIRE_GPU_OF_SOLVER)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the config of a trainer has %d threads and GPU %d",
                         to->threads, to->gpu);
    return fire_kernels_check("kernels", to->kernels);
}

/* Settings of a text replace those of the solver's fire { }. */
static fire_status_t merge_fire(const char *text, Caffe__SolverParameter *param)
{
    ProtobufCMessage     *given;
    Caffe__FireParameter *into;
    fire_status_t         st;

    if (text == NULL) return FIRE_OK;
    FIRE_TRY(fire_text_parse(text, strlen(text), "fire settings",
                             &caffe__fire_parameter__descriptor, &given));
    st = fire_message_add_message(param, "fire", &into);
    if (st >= 0) st = fire_message_merge(given, into);
    fire_message_free(given);
    return st;
}

static fire_status_t open_gpu(parts_t *p)
{
    int         index = p->config.gpu;
    char        text[256];
    const char *why;

    if (index == FIRE_GPU_OF_SOLVER) {
        if (p->param->solver_mode != CAFFE__SOLVER_PARAMETER__SOLVER_MODE__GPU ||
            fire_gpu_count(&why) == 0)
            return FIRE_OK;
        index = p->param->device_id;
    }
    if (index < 0) return FIRE_OK;
    FIRE_TRY(fire_gpu_open(index, &p->options.ctx.stream));
    p->options.ctx.place = FIRE_GPU;
    FIRE_TRY(fire_gpu_describe(index, text, sizeof(text)));
    FIRE_LOG(INFO, "Use GPU with device ID %d", index);
    FIRE_LOG(INFO, "GPU device name: %s", text);
    return FIRE_OK;
}

/* Tuning may choose another algorithm on each run: not if runs must be repeatable. */
static fire_status_t read_fire(parts_t *p)
{
    const Caffe__FireParameter *fire = p->param->fire;

    if (fire == NULL) return FIRE_OK;
    p->options.ctx.deterministic = fire->deterministic;
    p->options.ctx.tune          = fire->tune || !fire->deterministic;
    return fire_ctx_set_precision(&p->options.ctx, fire->precision);
}

/* Everything but the trainer itself. */
static fire_status_t prepare(parts_t *p, const char *what)
{
    const fire_trainer_config_t *c    = &p->config;
    fire_trainer_options_t      *o    = &p->options;
    int                          size = c->comm != NULL ? fire_comm_size(c->comm) : 1;

    FIRE_TRY(merge_fire(c->fire, p->param));
    FIRE_TRY(fire_settings_check_file(p->param, what));
    FIRE_TRY(read_fire(p));
    if (c->kernels != NULL) FIRE_TRY(fire_strdup(c->kernels, &p->kernels));
    o->comm          = size > 1 ? c->comm : NULL;
    o->level         = c->level;
    o->nstage        = c->nstage;
    o->stage         = (const char **)c->stage;
    o->observed      = c->mode == FIRE_OBSERVED;
    o->ctx.lean      = !o->observed;
    o->ctx.kernels   = p->kernels;
    o->ctx.exact     = c->exact;
    o->ctx.recompute = c->recompute;
    o->ctx.python    = c->python;
    o->ctx.threads   = fire_settings_threads(p->param->fire, c->threads);
    if (o->ctx.threads == 0 && c->comm != NULL)
        o->ctx.threads = fire_comm_threads(c->comm);
    return open_gpu(p);
}

static fire_status_t load_weights(fire_trainer_t *t, const Caffe__SolverParameter *p)
{
    for (size_t i = 0; i < p->n_weights; i++)
        FIRE_TRY(fire_trainer_load_weights(t, p->weights[i]));
    return FIRE_OK;
}

/* Create the trainer of a solver that is loaded, or that could not be (st). If that
 * went wrong on one worker, all of them learn it here. */
static fire_status_t create(parts_t *p, fire_status_t st, const char *what,
                            fire_trainer_t **trainer_p)
{
    fire_trainer_t *t = NULL;

    p->options = FIRE_TRAINER_OPTIONS_INIT;
    if (st >= 0) st = prepare(p, what);
    if (p->config.comm != NULL) st = fire_comm_agree(p->config.comm, st);
    if (st >= 0) st = fire_trainer_create(p->param, &p->options, &t);
    if (st < 0) {
        fire_gpu_close(p->options.ctx.stream);
        fire_free(p->kernels);
        fire_message_free(p->param);
        return st;
    }
    fire_trainer_own(t, p->param, p->options.ctx.stream, p->kernels);
    st = load_weights(t, p->param);
    if (st < 0)
        fire_trainer_destroy(t);
    else
        *trainer_p = t;
    return st;
}

fire_status_t fire_trainer_from_file(const char                  *path,
                                     const fire_trainer_config_t *config,
                                     fire_trainer_t             **trainer_p)
{
    parts_t       p  = {.param = NULL};
    fire_status_t st = read_config(config, &p.config);

    if (st >= 0) st = fire_solver_param_load(path, &p.param);
    return create(&p, st, path, trainer_p);
}

fire_status_t fire_trainer_from_text(const char *text, size_t length,
                                     const fire_trainer_config_t *config,
                                     fire_trainer_t             **trainer_p)
{
    static const char what[] = "text of a solver";
    parts_t           p      = {.param = NULL};
    fire_status_t     st     = read_config(config, &p.config);

    if (st >= 0)
        st = fire_text_parse(text, length, what, &caffe__solver_parameter__descriptor,
                             (ProtobufCMessage **)&p.param);
    if (st >= 0) st = fire_solver_param_upgrade(p.param, what);
    return create(&p, st, what, trainer_p);
}

fire_status_t fire_trainer_from_message(const void *message, size_t length,
                                        const fire_trainer_config_t *config,
                                        fire_trainer_t             **trainer_p)
{
    static const char what[] = "message of a solver";
    parts_t           p      = {.param = NULL};
    fire_status_t     st     = read_config(config, &p.config);

    if (st >= 0)
        st = fire_message_unpack(&caffe__solver_parameter__descriptor, message, length,
                                 what, (ProtobufCMessage **)&p.param);
    if (st >= 0) st = fire_solver_param_upgrade(p.param, what);
    return create(&p, st, what, trainer_p);
}
