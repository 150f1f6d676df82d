/* trainer.c - creates trainers for users of the library, from a file, a text or a
 * message. All else of <fire/trainer.h> is in src/train/. */
#include <stdio.h>
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

/* A trainer that is to be created. */
typedef struct plan {
    fire_trainer_config_t  config;
    fire_trainer_options_t options;
    fire_trainer_parts_t   parts;  /* what it owns then */
    fire_log_context_t     before; /* of the calling thread */
} plan_t;

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
    if (to->nobserve < 0 || (to->nobserve > 0 && to->observe == NULL))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the config of a trainer has %d names to observe%s",
                         to->nobserve, to->observe == NULL ? " (NULL)" : "");
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

static fire_status_t open_gpu(plan_t *p)
{
    int         index = p->config.gpu;
    char        text[256];
    const char *why;

    if (index == FIRE_GPU_OF_SOLVER) {
        if (p->parts.param->solver_mode != CAFFE__SOLVER_PARAMETER__SOLVER_MODE__GPU ||
            fire_gpu_count(&why) == 0)
            return FIRE_OK;
        index = p->parts.param->device_id;
    }
    if (index < 0) return FIRE_OK;
    FIRE_TRY(fire_gpu_open(index, &p->parts.stream));
    p->parts.gpu          = index;
    p->options.ctx.stream = p->parts.stream;
    p->options.ctx.place  = FIRE_GPU;
    FIRE_TRY(fire_gpu_describe(index, text, sizeof(text)));
    FIRE_LOG(INFO, "Use GPU with device ID %d", index);
    FIRE_LOG(INFO, "GPU device name: %s", text);
    return FIRE_OK;
}

/* Tuning may choose another algorithm on each run: not if runs must be repeatable. */
static fire_status_t read_fire(plan_t *p)
{
    const Caffe__FireParameter *fire = p->parts.param->fire;

    if (fire == NULL) return FIRE_OK;
    p->options.ctx.deterministic = fire->deterministic;
    p->options.ctx.tune          = fire->tune || !fire->deterministic;
    return fire_ctx_set_precision(&p->options.ctx, fire->precision);
}

/* Everything but the trainer itself. */
static fire_status_t prepare(plan_t *p, const char *what)
{
    const fire_trainer_config_t *c    = &p->config;
    fire_trainer_options_t      *o    = &p->options;
    int                          size = c->comm != NULL ? fire_comm_size(c->comm) : 1;

    FIRE_TRY(merge_fire(c->fire, p->parts.param));
    FIRE_TRY(fire_settings_check_file(p->parts.param, what));
    FIRE_TRY(read_fire(p));
    if (c->kernels != NULL) FIRE_TRY(fire_strdup(c->kernels, &p->parts.kernels));
    o->comm          = size > 1 ? c->comm : NULL;
    o->level         = c->level;
    o->nstage        = c->nstage;
    o->stage         = (const char **)c->stage;
    o->observed      = c->mode == FIRE_OBSERVED;
    o->ctx.lean      = !o->observed;
    o->ctx.kernels   = p->parts.kernels;
    o->ctx.exact     = c->exact;
    o->ctx.recompute = c->recompute;
    o->ctx.python    = c->python;
    o->nobserve      = c->nobserve;
    o->observe       = c->observe;
    o->ctx.threads   = fire_settings_threads(p->parts.param->fire, c->threads);
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

/* If the solver could not be loaded (st), or something else went wrong on one worker, all
 * of them learn it here. */
static fire_status_t make(plan_t *p, fire_status_t st, const char *what,
                          fire_trainer_t **trainer_p)
{
    fire_trainer_t *t = NULL;

    if (st >= 0) st = prepare(p, what);
    if (p->config.comm != NULL) st = fire_comm_agree(p->config.comm, st);
    if (st >= 0) st = fire_trainer_create(p->parts.param, &p->options, &t);
    if (st < 0) return st;
    fire_trainer_own(t, &p->parts);
    st       = load_weights(t, p->parts.param);
    p->parts = (fire_trainer_parts_t){NULL};
    if (st < 0)
        fire_trainer_destroy(t);
    else
        *trainer_p = t;
    return st;
}

/* Messages of the trainer go to its own sink, also those of its threads, which begin
 * now; with the name of a worker that is not the first. */
static fire_status_t open_log(plan_t *p)
{
    fire_log_context_t *log  = &p->parts.log;
    const fire_comm_t  *comm = p->config.comm;
    int                 rank = comm != NULL ? fire_comm_rank(comm) : 0;
    fire_log_context_t  now;

    *log       = p->before;
    log->route = NULL;
    if (rank > 0) {
        log->least = FIRE_WARNING;
        snprintf(log->name, sizeof(log->name), "rank %d (%s)", rank,
                 fire_comm_host(comm, rank));
    }
    FIRE_TRY(fire_log_route_create(&p->config.log, &log->route));
    now = *log;
    if (now.route == NULL) now.route = p->before.route;
    fire_log_set_context(&now);
    return FIRE_OK;
}

/* Then the solver is to be loaded, and then create() to be called, also after a
 * failure. */
static fire_status_t begin(const fire_trainer_config_t *config, plan_t *p)
{
    *p = (plan_t){.options = FIRE_TRAINER_OPTIONS_INIT, .before = fire_log_context()};
    FIRE_TRY(read_config(config, &p->config));
    return open_log(p);
}

static fire_status_t create(plan_t *p, fire_status_t st, const char *what,
                            fire_trainer_t **trainer_p)
{
    st = make(p, st, what, trainer_p);
    fire_trainer_parts_fini(&p->parts); /* what no trainer owns */
    fire_log_set_context(&p->before);
    return st;
}

fire_status_t fire_trainer_from_file(const char                  *path,
                                     const fire_trainer_config_t *config,
                                     fire_trainer_t             **trainer_p)
{
    plan_t        p;
    fire_status_t st = begin(config, &p);

    if (st >= 0) st = fire_solver_param_load(path, &p.parts.param);
    return create(&p, st, path, trainer_p);
}

fire_status_t fire_trainer_from_text(const char *text, size_t length,
                                     const fire_trainer_config_t *config,
                                     fire_trainer_t             **trainer_p)
{
    static const char what[] = "text of a solver";
    plan_t            p;
    fire_status_t     st = begin(config, &p);

    if (st >= 0)
        st = fire_text_parse(text, length, what, &caffe__solver_parameter__descriptor,
                             (ProtobufCMessage **)&p.parts.param);
    if (st >= 0) st = fire_solver_param_upgrade(p.parts.param, what);
    return create(&p, st, what, trainer_p);
}

fire_status_t fire_trainer_from_message(const void *message, size_t length,
                                        const fire_trainer_config_t *config,
                                        fire_trainer_t             **trainer_p)
{
    static const char what[] = "message of a solver";
    plan_t            p;
    fire_status_t     st = begin(config, &p);

    if (st >= 0)
        st = fire_message_unpack(&caffe__solver_parameter__descriptor, message, length,
                                 what, (ProtobufCMessage **)&p.parts.param);
    if (st >= 0) st = fire_solver_param_upgrade(p.parts.param, what);
    return create(&p, st, what, trainer_p);
}
