/* lr.c - the learning rate as a function of the iteration: Caffe's seven policies and
 * cosine, multiplied by scale_lr and the warm-up for large batches.
 *
 *   fixed      base
 *   step       base * gamma ^ floor(iter / stepsize)
 *   exp        base * gamma ^ iter
 *   inv        base * (1 + gamma * iter) ^ -power
 *   multistep  as step, at each stepvalue
 *   poly       base * (1 - iter / max_iter) ^ power
 *   sigmoid    base / (1 + exp(-gamma * (iter - stepsize)))
 *   cosine     base * (1 + cos(pi * iter / max_iter)) / 2
 *
 * The types of intermediate values are Caffe's, which decides the last bit. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "solver/solver.h"

static float policy_fixed(fire_solver_t *s)
{
    return s->param->base_lr;
}

static float policy_step(fire_solver_t *s)
{
    s->current_step = (int)(s->iter / s->param->stepsize);
    return (float)(s->param->base_lr *
                   pow((double)s->param->gamma, (double)s->current_step));
}

static float policy_exp(fire_solver_t *s)
{
    return (float)(s->param->base_lr * pow((double)s->param->gamma, (double)s->iter));
}

static float policy_inv(fire_solver_t *s)
{
    return s->param->base_lr *
           powf(1.0f + s->param->gamma * (float)s->iter, -s->param->power);
}

/* At most one step per call, as in Caffe: two equal stepvalues take two iterations. */
static float policy_multistep(fire_solver_t *s)
{
    if ((size_t)s->current_step < s->param->n_stepvalue &&
        s->iter >= s->param->stepvalue[s->current_step]) {
        s->current_step++;
        FIRE_LOG(INFO, "MultiStep Status: Iteration %lld, step = %d",
                 (long long)s->iter, s->current_step);
    }
    return (float)(s->param->base_lr *
                   pow((double)s->param->gamma, (double)s->current_step));
}

static float policy_poly(fire_solver_t *s)
{
    return s->param->base_lr *
           powf(1.0f - (float)s->iter / (float)s->param->max_iter, s->param->power);
}

static float policy_sigmoid(fire_solver_t *s)
{
    return s->param->base_lr *
           (1.0f / (1.0f + expf(-s->param->gamma *
                                ((float)s->iter - (float)s->param->stepsize))));
}

static float policy_cosine(fire_solver_t *s)
{
    double turn = 3.141592653589793 * (double)s->iter / (double)s->param->max_iter;

    return (float)((double)s->param->base_lr * 0.5 * (1.0 + cos(turn)));
}

typedef struct policy {
    const char *name;
    float (*rate)(fire_solver_t *s);
} policy_t;

static const policy_t policies[] = {
    {"fixed", policy_fixed},     {"step", policy_step},           {"exp", policy_exp},
    {"inv", policy_inv},         {"multistep", policy_multistep}, {"poly", policy_poly},
    {"sigmoid", policy_sigmoid}, {"cosine", policy_cosine},
};

/* rate * scale_lr, times a factor that rises linearly from warmup_ratio to 1 over the
 * first warmup_iter iterations. */
static float large_batch(const fire_solver_t *s, float rate)
{
    const Caffe__FireParameter *f = s->param->fire;

    if (f == NULL) return rate;
    if (f->scale_lr != 1) rate *= f->scale_lr;
    if (s->iter < f->warmup_iter)
        rate *= f->warmup_ratio +
                (1 - f->warmup_ratio) * (float)s->iter / (float)f->warmup_iter;
    return rate;
}

static const policy_t *find_policy(const char *name)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        if (strcmp(policies[i].name, name) == 0) return &policies[i];
    return NULL;
}

fire_status_t fire_solver_check_rate(const Caffe__SolverParameter *p)
{
    const char *name = p->lr_policy;

    if (name == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the solver has no lr_policy; say for example lr_policy: "
                         "\"fixed\"");
    if (find_policy(name) == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "unknown lr_policy \"%s\"; known are fixed, step, exp, inv, "
                         "multistep, poly, sigmoid, cosine",
                         name);
    if (!isfinite(p->base_lr))
        return FIRE_FAIL(FIRE_ERR_INVALID, "base_lr must be a number, not %g",
                         (double)p->base_lr);
    if (strcmp(name, "step") == 0 && p->stepsize <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "lr_policy \"step\" needs a stepsize > 0");
    if ((strcmp(name, "poly") == 0 || strcmp(name, "cosine") == 0) && p->max_iter <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "lr_policy \"%s\" needs max_iter > 0", name);
    return FIRE_OK;
}

float fire_solver_rate(fire_solver_t *s)
{
    if (s->wanted_rate >= 0) return s->wanted_rate;
    return large_batch(s, find_policy(s->param->lr_policy)->rate(s));
}

/* multistep counts its steps as it comes by them. */
void fire_solver_set_iter(fire_solver_t *s, int64_t iter)
{
    s->iter = iter;
    if (strcmp(s->param->lr_policy, "multistep") != 0) return;
    s->current_step = 0;
    while ((size_t)s->current_step < s->param->n_stepvalue &&
           s->param->stepvalue[s->current_step] < iter)
        s->current_step++;
}
