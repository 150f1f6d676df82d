/* trainer.c - creates a trainer, in the order in which its parts need each other, and
 * destroys it. */
#include "train/settings.h"
#include "train/trainer_state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "layers/plugin/plugin.h"

/* batch_size of a data layer; 0 if it has none. */
static int64_t batch_size_of(const fire_layer_t *l)
{
    const Caffe__LayerParameter *p = l->param;

    if (l->ops->flags & FIRE_LAYER_PLUGIN) return fire_plugin_batch(l);
    if (p->data_param != NULL) return p->data_param->batch_size;
    if (p->image_data_param != NULL) return p->image_data_param->batch_size;
    if (p->hdf5_data_param != NULL) return p->hdf5_data_param->batch_size;
    if (p->memory_data_param != NULL) return p->memory_data_param->batch_size;
    if (p->window_data_param != NULL) return p->window_data_param->batch_size;
    if (p->dummy_data_param != NULL && p->dummy_data_param->n_shape > 0 &&
        p->dummy_data_param->shape[0]->n_dim > 0)
        return p->dummy_data_param->shape[0]->dim[0];
    return 0;
}

/* Images per pass of all workers together: batch_size of the first data layer; with the
 * rule of BVLC Caffe that is the batch of each worker. */
static int64_t global_batch(const fire_trainer_t *t)
{
    for (int i = 0; i < t->net->nlayer; i++) {
        const fire_layer_t *l = &t->net->layer[i].base;

        if ((l->ops->flags & FIRE_LAYER_SOURCE) && batch_size_of(l) > 0)
            return batch_size_of(l) *
                   (t->net->moment.rule == FIRE_BATCH_PER_WORKER ? t->lanes : 1);
    }
    return 0;
}

/* With several lanes, running statistics of BatchNorm are updated from all of them at
 * the end of the iteration (defer_stats); so they are where an update may be skipped. */
static fire_status_t settle_batch(fire_trainer_t *t)
{
    t->batch             = global_batch(t);
    t->net->moment.batch = t->batch;
    if (t->batch > 0 && t->batch < t->lanes)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "a batch of %lld cannot be shared by %d lanes; use fewer workers "
            "or lanes, or a larger batch_size",
            (long long)t->batch, t->lanes);
    t->net->moment.defer_stats = t->lanes > 1 || t->solver->holds;
    t->solver->lanes           = t->lanes;
    return FIRE_OK;
}

/* rng: "caffe" draws from one stream, as Caffe does. Its numbers depend on who draws
 * first, so there can be only one lane. */
static fire_status_t choose_rng(fire_trainer_t *t)
{
    const Caffe__FireParameter *f = t->param->fire;
    int64_t seed = t->param->random_seed >= 0 ? t->param->random_seed : 1;

    if (f == NULL || strcmp(f->rng, "caffe") != 0) return FIRE_OK;
    if (t->lanes > 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "rng: \"caffe\" needs one worker with one lane, not %d lanes",
                         t->lanes);
    FIRE_TRY(fire_mt_create((uint32_t)seed, &t->mt));
    t->options.ctx.mt = t->mt;
    return FIRE_OK;
}

/* Loss scaling: fp16 cannot express small gradients, so the loss is multiplied by a
 * scale that grows until gradients overflow. */
static fire_status_t choose_scale(fire_trainer_t *t)
{
    fire_ctx_t *ctx = &t->options.ctx;

    ctx->scaled = ctx->place == FIRE_GPU && ctx->precision == FIRE_F16;
    return ctx->scaled ? fire_gpu_set_scale(ctx->stream, FIRE_GPU_FIRST_SCALE, 0)
                       : FIRE_OK;
}

/* Settings that a control file may change must be this trainer's own. */
static fire_status_t take_param(fire_trainer_t *t)
{
    if (t->options.control == NULL) return FIRE_OK;
    FIRE_TRY(fire_message_copy(t->param, (ProtobufCMessage **)&t->changing));
    t->param = t->changing;
    return FIRE_OK;
}

static fire_status_t set_up(fire_trainer_t *t)
{
    int window = t->param->average_loss > 0 ? t->param->average_loss : 1;

    FIRE_TRY(take_param(t));
    FIRE_TRY(fire_plugin_load_of(t->param->fire));
    FIRE_TRY(fire_settings_check(t->param->fire));
    FIRE_TRY(fire_trainer_take_lanes(t));
    FIRE_TRY(choose_scale(t));
    FIRE_TRY(choose_rng(t));
    if (fire_trainer_rank(t) == 0) FIRE_TRY(fire_trainer_check_prefix(t));
    FIRE_TRY(fire_trainer_make_nets(t));
    FIRE_TRY(fire_solver_create(t->param, t->net, &t->solver));
    FIRE_TRY(settle_batch(t));
    FIRE_TRY(fire_trainer_keep_data(t));
    FIRE_TRY(fire_follow_start(t));
    if (t->options.measure) FIRE_TRY(fire_profile_create(t->net, &t->profile));
    return FIRE_NEW(&t->window, window);
}

static fire_status_t make_reducer(fire_trainer_t *t)
{
    fire_reducer_options_t o = {.param      = t->param,
                                .comm       = t->options.comm,
                                .net        = t->net,
                                .solver     = t->solver,
                                .profile    = t->profile,
                                .lanes      = t->lanes,
                                .lane_count = t->lane_count,
                                .lane       = t->share,
                                .batch      = t->batch};

    return fire_reducer_create(&o, &t->grads, &t->reducer);
}

fire_status_t fire_trainer_create(const Caffe__SolverParameter *param,
                                  const fire_trainer_options_t *options,
                                  fire_trainer_t              **trainer_p)
{
    fire_trainer_t *t;
    fire_status_t   st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    t->param   = param;
    t->options = *options;
    t->user    = (fire_trainer_hooks_t)FIRE_TRAINER_HOOKS_INIT;
    /* If one worker fails, all return here instead of waiting for it later. */
    FIRE_TRY_GOTO(st, fire_trainer_agree(t, set_up(t)), err_trainer);
    FIRE_TRY_GOTO(st, fire_trainer_weigh_lanes(t), err_trainer);
    FIRE_TRY_GOTO(st, fire_trainer_agree(t, make_reducer(t)), err_trainer);
    FIRE_TRY_GOTO(st, fire_trainer_make_recording(t), err_trainer);
    FIRE_TRY_GOTO(st, fire_trainer_make_readback(t), err_trainer);
    FIRE_LOG(INFO, "Solver scaffolding done.");
    *trainer_p = t;
    return FIRE_OK;

err_trainer:
    fire_trainer_destroy(t);
    return st;
}

void fire_trainer_parts_fini(fire_trainer_parts_t *p)
{
    fire_gpu_close(p->stream);
    fire_free(p->kernels);
    fire_message_free(p->param);
    fire_log_route_destroy(p->log.route);
}

void fire_trainer_destroy(fire_trainer_t *t)
{
    fire_trainer_call_t call;

    if (t == NULL) return;
    call = fire_trainer_listen(t);
    fire_saver_end(&t->saver);
    fire_memory_end(&t->memory);
    fire_gpu_readback_destroy(t->readback);
    fire_reducer_destroy(t->reducer);
    fire_profile_destroy(t->profile);
    fire_profile_destroy(t->paused);
    fire_recording_destroy(t->recording);
    for (int i = 0; i < t->ntest; i++)
        fire_net_destroy(t->test[i].net);
    fire_follow_end(t);
    fire_solver_destroy(t->solver);
    fire_net_destroy(t->net);
    fire_grads_destroy(t->grads); /* after the net, whose parameters use its memory */
    fire_mt_destroy(t->mt);
    fire_free(t->test);
    fire_free(t->share);
    fire_free(t->window);
    fire_str_fini(&t->text);
    fire_log_set_context(&call.before);
    fire_trainer_parts_fini(&t->own);
    fire_message_free(t->changing);
    fire_free(t);
}

void fire_trainer_own(fire_trainer_t *t, const fire_trainer_parts_t *parts)
{
    t->own            = *parts;
    t->net->own_steps = true;
    t->net->gpu       = parts->gpu;
    for (int i = 0; i < t->ntest; i++) {
        t->test[i].net->own_steps = true;
        t->test[i].net->gpu       = parts->gpu;
    }
}

static fire_status_t load_weights(fire_trainer_t *t, const char *paths)
{
    char         *copy, *rest, *path;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(fire_strdup(paths, &copy));
    rest = copy;
    while (st >= 0 && (path = strsep(&rest, ",")) != NULL) {
        FIRE_LOG(INFO, "Finetuning from %s", path);
        st = fire_net_load_file(t->net, path);
        /* Test nets share the weights, but may have layers that the training net
         * lacks. */
        for (int i = 0; i < t->ntest && st >= 0; i++)
            st = fire_net_load_file(t->test[i].net, path);
    }
    fire_free(copy);
    return fire_trainer_agree(t, st);
}

fire_status_t fire_trainer_load_weights(fire_trainer_t *t, const char *paths)
{
    fire_trainer_call_t call = fire_trainer_enter(t);

    return fire_trainer_leave(t, call, call.st >= 0 ? load_weights(t, paths) : call.st);
}

void fire_trainer_emit(fire_trainer_t *t, fire_train_event_t e)
{
    if (e.kind != FIRE_TRAIN_ITERATION && e.kind != FIRE_TRAIN_SNAPSHOT)
        e.iter = t->solver->iter;
    e.max_iter = t->param->max_iter;
    e.batch    = t->batch;
    if (t->options.event != NULL) t->options.event(t->options.arg, &e);
    if (t->user.event != NULL) t->user.event(t->user.arg, &e);
}
