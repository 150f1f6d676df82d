#include "solver/solver.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "device/cpu/parallel.h"

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
                     "RMSProp, AdaDelta, Adam",
                     type);
}

static fire_status_t check(const Caffe__SolverParameter *p, const fire_rule_t *rule)
{
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
    return FIRE_OK;
}

fire_status_t fire_solver_create(const Caffe__SolverParameter *param, fire_net_t *net,
                                 fire_solver_t **solver_p)
{
    const fire_rule_t *rule = NULL;
    fire_solver_t     *s;
    fire_status_t      st;

    FIRE_TRY(fire_rule_find(param->type, &rule));
    FIRE_TRY(check(param, rule));
    FIRE_TRY(FIRE_NEW(&s, 1));
    s->param = param;
    s->net   = net;
    s->rule  = rule;
    s->lanes = 1;
    FIRE_TRY_GOTO(st, fire_solver_rate(s, &s->rate), err_solver);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->history, rule->nhistory * net->nparam), err_solver);
    for (int i = 0; i < rule->nhistory * net->nparam; i++) {
        FIRE_TRY_GOTO(st, fire_blob_create(&s->history[i]), err_solver);
        FIRE_TRY_GOTO(
            st, fire_blob_reshape_like(s->history[i], net->learn[i % net->nparam].blob),
            err_solver);
    }
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
    fire_free(s);
}

/* Sum in blocks of fixed length, so that the result does not depend on who adds. */
static double sum_of_squares(const float *x, int64_t n)
{
    double sum = 0;

    for (int64_t at = 0; at < n; at += 4096) {
        double part = 0;

        for (int64_t i = at; i < n && i < at + 4096; i++)
            part += (double)x[i] * (double)x[i];
        sum += part;
    }
    return sum;
}

/* Clipping sees the gradient as it is, still summed over iter_size passes. */
fire_status_t fire_solver_clip(fire_solver_t *s)
{
    double sum = 0, norm;

    if (s->param->clip_gradients < 0) return FIRE_OK;
    for (int i = 0; i < s->net->nparam; i++) {
        fire_blob_t *b = s->net->learn[i].blob;
        const float *g;

        if (s->net->learn[i].kind == FIRE_PARAM_STATISTIC) continue;
        FIRE_TRY(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &g));
        sum += sum_of_squares(g, b->count);
    }
    norm = sqrt(sum);
    if (norm > (double)s->param->clip_gradients) {
        s->clip_scale = s->param->clip_gradients / (float)norm;
        FIRE_LOG(INFO,
                 "Gradient clipping: scaling down gradients (L2 norm %g > %g) by scale "
                 "factor %g",
                 norm, (double)s->param->clip_gradients, (double)s->clip_scale);
    }
    return FIRE_OK;
}

fire_status_t fire_solver_begin(fire_solver_t *s)
{
    double t = (double)(s->iter + 1);

    s->clip_scale = 1;
    s->correction = (float)(sqrt(1.0 - pow((double)s->param->momentum2, t)) /
                            (1.0 - pow((double)s->param->momentum, t)));
    return fire_solver_rate(s, &s->rate);
}

/* Lanes left their part of a running statistic in the diff: decay^iter_size of the old
 * value, plus the mean over lanes of what they saw. */
static fire_status_t update_statistic(fire_solver_t *s, const fire_param_t *p,
                                      int64_t first, int64_t n)
{
    float  keep = 1, share = 1.0f / (float)s->lanes;
    float *w, *g;

    if (!s->net->moment.defer_stats) return FIRE_OK;
    for (int i = 0; i < s->param->iter_size; i++)
        keep *= p->stat_decay;
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DATA, FIRE_CPU, &w));
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DIFF, FIRE_CPU, &g));
    for (int64_t i = first; i < first + n; i++)
        w[i] = keep * w[i] + share * g[i];
    return FIRE_OK;
}

/* Threads share long parameters; each element is on its own. */
static void apply(const fire_rule_t *rule, const fire_update_t *u)
{
    FIRE_PARALLEL_PIECES(i, u->n, FIRE_GRAIN)
    {
        fire_update_t piece = *u;

        piece.n = fire_piece(u->n, i, FIRE_GRAIN);
        piece.w += i;
        piece.g += i;
        for (int k = 0; k < rule->nhistory; k++)
            piece.h[k] += i;
        rule->apply(&piece);
    }
}

fire_status_t fire_solver_update(fire_solver_t *s, int param, int64_t first, int64_t n)
{
    const Caffe__SolverParameter *sp = s->param;
    const fire_param_t           *p  = &s->net->learn[param];
    fire_update_t                 u  = {.n = n};

    if (p->kind == FIRE_PARAM_STATISTIC) return update_statistic(s, p, first, n);
    u.rate       = s->rate * p->lr_mult;
    u.scale      = s->clip_scale * (1.0f / (float)sp->iter_size);
    u.decay      = sp->weight_decay * p->decay_mult;
    u.decay_l1   = strcmp(sp->regularization_type, "L1") == 0;
    u.momentum   = sp->momentum;
    u.momentum2  = sp->momentum2;
    u.rms_decay  = sp->rms_decay;
    u.delta      = sp->delta;
    u.correction = s->correction;
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DATA, FIRE_CPU, &u.w));
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DIFF, FIRE_CPU, &u.g));
    u.w += first;
    u.g += first;
    for (int i = 0; i < s->rule->nhistory; i++) {
        FIRE_TRY(fire_blob_update(s->history[i * s->net->nparam + param], FIRE_DATA,
                                  FIRE_CPU, &u.h[i]));
        u.h[i] += first;
    }
    apply(s->rule, &u);
    return FIRE_OK;
}

void fire_solver_end(fire_solver_t *s)
{
    s->iter++;
}
