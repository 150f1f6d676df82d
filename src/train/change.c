/* change.c - settings of a trainer that change between iterations, and what tells
 * them. */
#include <math.h>
#include <string.h>

#include "base/config.h"
#include "model/message.h"
#include "model/text.h"
#include "train/trainer_state.h"

/* Settings that are read in every iteration. All others are read once, when the trainer
 * is created. */
static const char *const changeable[] = {
    "base_lr",
    "lr_policy",
    "gamma",
    "power",
    "stepsize",
    "stepvalue",
    "momentum",
    "momentum2",
    "delta",
    "rms_decay",
    "weight_decay",
    "regularization_type",
    "clip_gradients",
    "max_iter",
    "display",
    "debug_info",
    "test_interval",
    "test_initialization",
    "test_compute_loss",
    "snapshot",
    "snapshot_prefix",
    "snapshot_diff",
    "snapshot_format",
    "snapshot_after_train",
};

static bool is_changeable(const char *name)
{
    for (size_t i = 0; i < sizeof(changeable) / sizeof(changeable[0]); i++)
        if (strcmp(changeable[i], name) == 0) return true;
    return false;
}

static const ProtobufCMessageDescriptor *const solver =
    &caffe__solver_parameter__descriptor;

/* Workers are connected, and a GPU's iteration is recorded, with clipping or without. */
static fire_status_t check_changeable(const fire_trainer_t         *t,
                                      const Caffe__SolverParameter *given)
{
    for (unsigned i = 0; i < solver->n_fields; i++)
        if (fire_message_has(given, &solver->fields[i]) &&
            !is_changeable(solver->fields[i].name))
            return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                             "%s cannot change while a trainer exists: create one with "
                             "the new setting",
                             solver->fields[i].name);
    if (given->has_clip_gradients &&
        (given->clip_gradients < 0) != (t->param->clip_gradients < 0))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "clip_gradients can change to another value, but be switched "
                         "on or off only when a trainer is created");
    return FIRE_OK;
}

/* Replace settings by those that are given; a repeated one as a whole. */
static fire_status_t replace(const void *given, void *into)
{
    for (unsigned i = 0; i < solver->n_fields; i++) {
        const fire_field_t *f = &solver->fields[i];

        if (!fire_message_has(given, f)) continue;
        fire_message_clear(into, f);
        for (size_t k = 0; k < fire_message_count(given, f); k++)
            FIRE_TRY(fire_message_put(into, f, fire_message_at(given, f, k)));
    }
    return FIRE_OK;
}

/* Would the solver be one that can run? */
static fire_status_t check_changed(const fire_trainer_t *t, const void *given)
{
    ProtobufCMessage *copy;
    fire_status_t     st;

    FIRE_TRY(check_changeable(t, given));
    FIRE_TRY(fire_message_copy(t->param, &copy));
    st = replace(given, copy);
    if (st >= 0) st = fire_solver_check((Caffe__SolverParameter *)copy);
    fire_message_free(copy);
    return st;
}

/* A recorded iteration of a GPU holds the old settings, or old addresses. */
static void forget_recording(fire_trainer_t *t)
{
    if (t->recording != NULL) fire_recording_drop(t->recording);
}

fire_status_t fire_trainer_set(fire_trainer_t *t, const char *text)
{
    Caffe__SolverParameter *into = t->own.param != NULL ? t->own.param : t->changing;
    ProtobufCMessage       *given;
    fire_status_t           st;

    if (into == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "the solver is not the trainer's own");
    FIRE_TRY(
        fire_text_parse(text, strlen(text), "settings of the trainer", solver, &given));
    FIRE_TRY_GOTO(st, check_changed(t, given), out);
    FIRE_TRY_GOTO(st, fire_trainer_wait(t), out);
    FIRE_TRY_GOTO(st, replace(given, into), out);
    fire_solver_set_iter(t->solver, t->solver->iter);
    forget_recording(t);
out:
    fire_message_free(given);
    return st;
}

fire_status_t fire_trainer_number(const fire_trainer_t *t, const char *name,
                                  double *value_p)
{
    const fire_field_t *f = fire_field_find(solver, name);
    const void         *at;

    if (f == NULL || f->label == PROTOBUF_C_LABEL_REPEATED)
        return FIRE_FAIL(FIRE_ERR_INVALID, "a solver has no number \"%s\"", name);
    at = fire_message_at(t->param, f, 0);
    switch (f->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        *value_p = (double)*(const float *)at;
        break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM:
        *value_p = *(const int32_t *)at;
        break;
    case PROTOBUF_C_TYPE_INT64:
        *value_p = (double)*(const int64_t *)at;
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *value_p = *(const protobuf_c_boolean *)at;
        break;
    default:
        return FIRE_FAIL(FIRE_ERR_INVALID, "\"%s\" of a solver is not a number", name);
    }
    return FIRE_OK;
}

fire_status_t fire_trainer_text(fire_trainer_t *t, const char **text_p)
{
    fire_str_fini(&t->text);
    t->text = (fire_str_t){0};
    FIRE_TRY(fire_text_print(t->param, &t->text));
    *text_p = t->text.text != NULL ? t->text.text : "";
    return FIRE_OK;
}

fire_status_t fire_trainer_set_rate(fire_trainer_t *t, float rate)
{
    if (!isfinite(rate))
        return FIRE_FAIL(FIRE_ERR_INVALID, "a learning rate must be a number, not %g",
                         (double)rate);
    FIRE_TRY(fire_trainer_wait(t));
    t->solver->wanted_rate = rate;
    if (rate >= 0) t->solver->rate = rate;
    return FIRE_OK;
}

/* The step of a pass follows from the iteration, and the records from the step: both
 * move by the same amount. */
fire_status_t fire_trainer_set_iter(fire_trainer_t *t, int64_t iter)
{
    if (iter < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "a trainer cannot be at iteration %lld",
                         (long long)iter);
    FIRE_TRY(fire_trainer_wait(t));
    t->net->moment.origin += (iter - t->solver->iter) * t->param->iter_size;
    fire_solver_set_iter(t->solver, iter);
    return FIRE_OK;
}

/* Copy the caller's hooks over none; of a struct from a newer header, what this library
 * does not know must be zero. */
fire_status_t fire_trainer_set_hooks(fire_trainer_t             *t,
                                     const fire_trainer_hooks_t *hooks)
{
    fire_trainer_hooks_t to = FIRE_TRAINER_HOOKS_INIT;

    FIRE_TRY(fire_config_read(hooks, &to, sizeof(to), "hooks of a trainer"));
    t->user = to;
    return FIRE_OK;
}

/* The nets share pointers to the memory of the parameters: the test nets' follow. */
static fire_status_t share(fire_trainer_t *t, const fire_net_t *other)
{
    if (t->grads->weights != NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "workers that update shares of the weights (update: "
                         "\"sharded\") cannot use another net's memory");
    FIRE_TRY(fire_net_share(t->net, other));
    for (int i = 0; i < t->ntest; i++)
        FIRE_TRY(fire_net_share(t->test[i].net, t->net));
    forget_recording(t);
    return FIRE_OK;
}

fire_status_t fire_trainer_share(fire_trainer_t *t, const fire_net_t *other)
{
    fire_trainer_call_t call = fire_trainer_enter(t);
    fire_status_t       st   = call.st;

    if (st >= 0) st = fire_trainer_wait(t);
    if (st >= 0) st = share(t, other);
    return fire_trainer_leave(t, call, fire_trainer_agree(t, st));
}
