/* solver.c - creates a solver, and the begin and end of its step. */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "device/gpu.h"
#include "net/net_state.h"

#define FIRE_RULE(noun) extern const fire_rule_t fire_rule_##noun;
#include "solver/rules.def"
#undef FIRE_RULE

#define FIRE_RULE(noun) &fire_rule_##noun,
static const fire_rule_t *const rules[] = {
#include "solver/rules.def"
};
#undef FIRE_RULE

fire_status_t fire_rule_find(const char *type, const fire_rule_t **rule_p)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (strcmp(rules[i]->type, type) == 0) {
            *rule_p = rules[i];
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "unknown solver type \"%s\"; known are SGD, Nesterov, AdaGrad, "
                     "RMSProp, AdaDelta, Adam, AdamW",
                     type);
}

static bool is_decoupled(const fire_rule_t *rule, const Caffe__SolverParameter *p)
{
    return rule->decoupled || (p->fire != NULL && p->fire->decoupled_decay);
}

/* Caffe's checks, and those that it makes only when the setting is used. */
fire_status_t fire_solver_check(const Caffe__SolverParameter *p)
{
    const fire_rule_t *rule;

    FIRE_TRY(fire_rule_find(p->type, &rule));
    FIRE_TRY(fire_solver_check_rate(p));
    if (rule->no_momentum && p->momentum != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "momentum cannot be used with %s",
                         rule->type);
    if (p->iter_size < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "iter_size must be at least 1, not %d",
                         p->iter_size);
    if (strcmp(p->regularization_type, "L2") != 0 &&
        strcmp(p->regularization_type, "L1") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "unknown regularization_type \"%s\"; known are L1, L2",
                         p->regularization_type);
    if (is_decoupled(rule, p) && strcmp(p->regularization_type, "L2") != 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "decoupled weight decay is L2's: regularization_type \"%s\" does "
            "not go with it",
            p->regularization_type);
    return FIRE_OK;
}

/* Norms are not looked at in fp16, whose loss scaling skips updates by itself. */
static void choose_inspection(fire_solver_t *s)
{
    const Caffe__FireParameter *f    = s->param->fire;
    bool                        ours = f != NULL && !s->net->ctx.scaled;

    s->holds    = ours && strcmp(f->on_nan, "warn") != 0;
    s->inspects = s->holds || (ours && f->grad_norm) || s->param->clip_gradients >= 0;
}

fire_status_t fire_solver_create(const Caffe__SolverParameter *param, fire_net_t *net,
                                 fire_solver_t **solver_p)
{
    const fire_rule_t *rule = NULL;
    fire_solver_t     *s;
    fire_status_t      st;

    FIRE_TRY(fire_solver_check(param));
    FIRE_TRY(fire_rule_find(param->type, &rule));
    FIRE_TRY(FIRE_NEW(&s, 1));
    s->param       = param;
    s->net         = net;
    s->rule        = rule;
    s->lanes       = 1;
    s->wanted_rate = -1;
    s->rate_factor = 1;
    s->decoupled   = is_decoupled(rule, param);
    choose_inspection(s);
    s->literal = net->ctx.place == FIRE_CPU &&
                 !fire_kernel_allowed(&net->ctx, rule->type, "fast");
    if (param->fire != NULL)
        FIRE_TRY_GOTO(st, fire_adapt_find(param->fire->adapt, &s->adapt), err_solver);
    s->rate = fire_solver_rate(s);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->history, rule->nhistory * net->nparam), err_solver);
    for (int i = 0; i < rule->nhistory * net->nparam; i++) {
        FIRE_TRY_GOTO(st, fire_blob_create(&s->history[i]), err_solver);
        FIRE_TRY_GOTO(
            st, fire_blob_reshape_like(s->history[i], net->learn[i % net->nparam].blob),
            err_solver);
    }
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->batch, net->nparam + 1), err_solver);
    *solver_p = s;
    return FIRE_OK;

err_solver:
    fire_solver_destroy(s);
    return st;
}

void fire_solver_destroy(fire_solver_t *s)
{
    if (s == NULL) return;
    for (int i = 0; s->history != NULL && i < s->rule->nhistory * s->net->nparam; i++)
        fire_blob_destroy(s->history[i]);
    fire_free(s->history);
    fire_free(s->batch);
    fire_free(s);
}

/* Adam's correction counts steps from 1. On a GPU, rate and correction are written to
 * its memory, where recorded updates read them. */
fire_status_t fire_solver_begin(fire_solver_t *s)
{
    double t = (double)(s->iter + 1);

    s->clip_scale = 1;
    s->bad        = false;
    s->correction = (float)(sqrt(1.0 - pow((double)s->param->momentum2, t)) /
                            (1.0 - pow((double)s->param->momentum, t)));
    s->rate       = fire_solver_rate(s);
    if (s->net->ctx.place == FIRE_CPU) return FIRE_OK;
    return fire_gpu_set_rate(s->net->ctx.stream, s->rate, s->correction);
}

void fire_solver_end(fire_solver_t *s)
{
    s->iter++;
}
