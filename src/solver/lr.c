/* lr.c - the learning rate as a function of the iteration: Caffe's seven policies, those
 * of forks and ours, multiplied by scale_lr and the warm-up for large batches.
 *
 *   fixed      base
 *   step       base * gamma ^ floor(iter / stepsize)
 *   exp        base * gamma ^ iter
 *   inv        base * (1 + gamma * iter) ^ -power
 *   multistep  as step, at each stepvalue
 *   poly       min + (base - min) * (1 - iter / max_iter) ^ power
 *   sigmoid    base / (1 + exp(-gamma * (iter - stepsize)))
 *   cosine     min + (base - min) * (1 + cos(pi * iter / max_iter)) / 2
 *   multifixed stagelr[i] up to iteration stageiter[i]
 *   plateau    base * gamma ^ drops, at least min: src/train/follow/ counts the drops
 *   cyclic     from min to base in stepsize iterations and back, again and again, with
 *              gamma times the height each time
 *   onecycle   from base / 25 to base in stepsize iterations (0: 0.3 max_iter), then
 *              down to min at max_iter, both along half a cosine
 *
 * base is base_lr, min is min_lr.
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
    float base = s->param->base_lr, least = s->param->min_lr;
    float left =
        powf(1.0f - (float)s->iter / (float)s->param->max_iter, s->param->power);

    return least == 0 ? base * left : least + (base - least) * left;
}

static float policy_sigmoid(fire_solver_t *s)
{
    return s->param->base_lr *
           (1.0f / (1.0f + expf(-s->param->gamma *
                                ((float)s->iter - (float)s->param->stepsize))));
}

/* From `from` (part 0) to `to` (part 1) along half a cosine. */
static float glide(double from, double to, double part)
{
    return (float)(to + (from - to) * 0.5 * (1.0 + cos(3.141592653589793 * part)));
}

static float policy_cosine(fire_solver_t *s)
{
    double turn = 3.141592653589793 * (double)s->iter / (double)s->param->max_iter;

    if (s->param->min_lr != 0)
        return glide((double)s->param->base_lr, (double)s->param->min_lr,
                     (double)s->iter / (double)s->param->max_iter);
    return (float)((double)s->param->base_lr * 0.5 * (1.0 + cos(turn)));
}

static float policy_multifixed(fire_solver_t *s)
{
    const Caffe__SolverParameter *p = s->param;
    size_t                        i = 0;

    while (i + 1 < p->n_stagelr && s->iter > p->stageiter[i])
        i++;
    return p->stagelr[i];
}

static float policy_plateau(fire_solver_t *s)
{
    float rate = (float)(s->param->base_lr *
                         pow((double)s->param->gamma, (double)s->current_step));

    return fmaxf(rate, s->param->min_lr);
}

static float policy_cyclic(fire_solver_t *s)
{
    double step   = (double)s->param->stepsize;
    double cycle  = floor((double)s->iter / (2 * step));
    double part   = (double)s->iter / step - 2 * cycle; /* 0 ... 2 */
    double height = (double)s->param->base_lr - (double)s->param->min_lr;

    if (s->param->has_gamma) height *= pow((double)s->param->gamma, cycle);
    return (float)((double)s->param->min_lr + height * (part < 1 ? part : 2 - part));
}

/* Smith's one cycle, with the shape and the start that are usual today. */
static float policy_onecycle(fire_solver_t *s)
{
    const Caffe__SolverParameter *p   = s->param;
    double                        top = p->base_lr, end = p->max_iter;
    double rise = p->stepsize > 0 ? (double)p->stepsize : 0.3 * end;

    if ((double)s->iter < rise) return glide(top / 25, top, (double)s->iter / rise);
    if (end <= rise || (double)s->iter >= end) return p->min_lr;
    return glide(top, (double)p->min_lr, ((double)s->iter - rise) / (end - rise));
}

typedef struct policy {
    const char *name;
    float (*rate)(fire_solver_t *s);
} policy_t;

static const policy_t policies[] = {
    {"fixed", policy_fixed},
    {"step", policy_step},
    {"exp", policy_exp},
    {"inv", policy_inv},
    {"multistep", policy_multistep},
    {"poly", policy_poly},
    {"sigmoid", policy_sigmoid},
    {"cosine", policy_cosine},
    {"multifixed", policy_multifixed},
    {"plateau", policy_plateau},
    {"cyclic", policy_cyclic},
    {"onecycle", policy_onecycle},
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

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0) return true;
    return false;
}

/* Settings without which a policy has no rate. */
static fire_status_t check_settings(const Caffe__SolverParameter *p)
{
    static const char *const stepping[] = {"step", "cyclic", NULL};
    static const char *const ending[]   = {"poly", "cosine", "onecycle", NULL};
    const char              *name       = p->lr_policy;

    if (is_one_of(name, stepping) && p->stepsize <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "lr_policy \"%s\" needs a stepsize > 0",
                         name);
    if (is_one_of(name, ending) && p->max_iter <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "lr_policy \"%s\" needs max_iter > 0", name);
    if (strcmp(name, "multifixed") == 0 &&
        (p->n_stagelr == 0 || p->n_stagelr != p->n_stageiter))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "lr_policy \"multifixed\" needs stagelr and stageiter, as many "
            "of each: there are %zu and %zu",
            p->n_stagelr, p->n_stageiter);
    if (strcmp(name, "plateau") == 0 && !(p->gamma > 0 && p->gamma < 1))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "lr_policy \"plateau\" needs a gamma between 0 and 1: the rate "
            "is multiplied by it");
    return FIRE_OK;
}

fire_status_t fire_solver_check_rate(const Caffe__SolverParameter *p)
{
    const char *name = p->lr_policy;

    if (name == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the solver has no lr_policy; say for example lr_policy: "
                         "\"fixed\"");
    if (find_policy(name) == NULL)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "unknown lr_policy \"%s\"; known are fixed, step, exp, inv, "
            "multistep, poly, sigmoid, cosine, multifixed, plateau, cyclic, "
            "onecycle",
            name);
    if (!isfinite(p->base_lr))
        return FIRE_FAIL(FIRE_ERR_INVALID, "base_lr must be a number, not %g",
                         (double)p->base_lr);
    return check_settings(p);
}

float fire_solver_rate(fire_solver_t *s)
{
    if (s->wanted_rate >= 0) return s->wanted_rate;
    return large_batch(s, find_policy(s->param->lr_policy)->rate(s)) * s->rate_factor;
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
