/* grid.c - the points of a sweep, and the solver of each. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text/text.h"
#include "net/shapes.h"
#include "sweep/sweep.h"
#include "train/run_solver.h"

/* ---- axes ---- */

static fire_status_t parse_axis(const char *flag, const char *list,
                                fire_sweep_axis_t *axis_p)
{
    fire_sweep_axis_t axis = {0};

    for (const char *at = list; *at != '\0';) {
        size_t  n = strcspn(at, ",");
        double *v = &axis.value[axis.n];

        if (axis.n == FIRE_SWEEP_AXIS)
            return FIRE_FAIL(FIRE_ERR_INVALID, "--%s: more than %d values", flag,
                             FIRE_SWEEP_AXIS);
        if (!fire_number_parse(at, n, v) || !isfinite(*v) || *v <= 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--%s is a list of positive numbers, not \"%s\"", flag,
                             list);
        for (int i = 0; i < axis.n; i++)
            if (axis.value[i] == *v)
                return FIRE_FAIL(FIRE_ERR_INVALID, "--%s has %.*s twice", flag, (int)n,
                                 at);
        axis.n++;
        at += n + (at[n] == ',');
    }
    *axis_p = axis;
    return FIRE_OK;
}

static fire_status_t choose(const char *flag, const char *text, int n,
                            const char *const *names, int *choice_p)
{
    for (int i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0) {
            *choice_p = i;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID, "--%s is %s%s%s or %s, not \"%s\"", flag,
                     names[0], n > 2 ? ", " : "", n > 2 ? names[1] : "", names[n - 1],
                     text);
}

/* ---- batch sizes inside a net ---- */

/* The batch size of the first data layer, which in Caffe's nets is that of training; 0:
 * no layer has one. */
static int64_t first_batch(const Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        const uint32_t *batch = fire_layer_batch_size(net->layer[i]);

        if (batch != NULL && *batch > 0) return *batch;
    }
    return 0;
}

static void set_batches(const Caffe__NetParameter *net, uint32_t batch)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        uint32_t *own = fire_layer_batch_size(net->layer[i]);

        if (own != NULL) *own = batch;
    }
}

/* ---- the grid ---- */

/* The number of iterations must fit an int. It may double: an interval between tests
 * that becomes less than one iteration is rounded up to one. */
static fire_status_t check_batches(const fire_sweep_t *g)
{
    const Caffe__SolverParameter *p = g->base;

    for (int i = 0; i < g->batch.n; i++) {
        double batch = g->batch.value[i];

        if (batch != floor(batch) || batch > 1 << 24)
            return FIRE_FAIL(FIRE_ERR_INVALID, "--batches: %g is no number of images",
                             batch);
        if (!g->same_iterations &&
            2.0 * p->max_iter * (double)g->reference / batch > INT_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--batches: as many images as %d iterations of %lld take "
                             "too many iterations of %g; try --hold iterations",
                             p->max_iter, (long long)g->reference, batch);
    }
    return FIRE_OK;
}

/* Copy net_param to train_net_param and to a test_net_param for each test: a sweep
 * changes the batch size of training only. */
static fire_status_t part_nets(Caffe__SolverParameter *p)
{
    Caffe__NetParameter *net = p->net_param, *copy;

    if (net == NULL) return FIRE_OK;
    FIRE_TRY(fire_message_add_message(p, "train_net_param", &copy));
    FIRE_TRY(fire_message_merge(net, copy));
    while (p->n_test_net_param < p->n_test_iter) {
        FIRE_TRY(fire_message_add_message(p, "test_net_param", &copy));
        FIRE_TRY(fire_message_merge(net, copy));
    }
    fire_message_clear_field(p, "net_param");
    return FIRE_OK;
}

static fire_status_t set_up(fire_sweep_t *g, const fire_sweep_settings_t *flags)
{
    static const char *const scalings[] = {"none", "linear", "sqrt"};
    static const char *const held[]     = {"epochs", "iterations"};
    int                      choice;

    FIRE_TRY(fire_run_dir_adopt(g->dir, g->base));
    FIRE_TRY(part_nets(g->base));
    if (g->base->train_net_param == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the solver names no training net");
    g->reference = first_batch(g->base->train_net_param);
    if (g->reference == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "no layer of the training net has a batch_size to vary");
    FIRE_TRY(choose("scaling", flags->scaling, 3, scalings, &choice));
    g->scaling = (fire_sweep_scaling_t)choice;
    FIRE_TRY(choose("hold", flags->hold, 2, held, &choice));
    g->same_iterations = choice == 1;
    FIRE_TRY(parse_axis("batches", flags->batches, &g->batch));
    FIRE_TRY(parse_axis("rates", flags->rates, &g->rate));
    if (g->batch.n == 0) g->batch = (fire_sweep_axis_t){1, {(double)g->reference}};
    if (g->rate.n == 0) g->rate = (fire_sweep_axis_t){1, {(double)g->base->base_lr}};
    return check_batches(g);
}

fire_status_t fire_sweep_open(const char *dir, Caffe__SolverParameter *solver,
                              const fire_sweep_settings_t *flags, fire_sweep_t *grid_p)
{
    fire_sweep_t  g  = {.dir = dir, .base = solver};
    fire_status_t st = set_up(&g, flags);

    if (st < 0)
        fire_sweep_close(&g);
    else
        *grid_p = g;
    return st;
}

void fire_sweep_close(fire_sweep_t *g)
{
    fire_message_free(g->base);
    g->base = NULL;
}

int fire_sweep_points(const fire_sweep_t *g)
{
    return g->batch.n * g->rate.n;
}

int64_t fire_sweep_batch(const fire_sweep_t *g, int point)
{
    return (int64_t)g->batch.value[point / g->rate.n];
}

double fire_sweep_rate(const fire_sweep_t *g, int point)
{
    return g->rate.value[point % g->rate.n];
}

void fire_sweep_name(const fire_sweep_t *g, int point, char name[64])
{
    char rate[FIRE_NUMBER_MAX];

    fire_number_print_float((float)fire_sweep_rate(g, point), rate);
    snprintf(name, 64, "batch%lld_lr%s", (long long)fire_sweep_batch(g, point), rate);
}

fire_status_t fire_sweep_dir(const fire_sweep_t *g, int point, char **dir_p)
{
    char name[64];

    fire_sweep_name(g, point, name);
    return fire_asprintf(dir_p, "%s/%s", g->dir, name);
}

/* ---- the solver of a point ---- */

/* Iterations times `by`, rounded: at least 1 unless it was 0, at most INT_MAX. */
static int stretched(int iterations, double by)
{
    double n = round(iterations * by);

    if (n >= INT_MAX) return INT_MAX;
    return iterations > 0 && n < 1 ? 1 : (int)n;
}

/* Stretch the policy so that the learning rate stays the same function of the epoch. */
static void stretch_policy(Caffe__SolverParameter *p, double by)
{
    const char *policy = p->lr_policy != NULL ? p->lr_policy : "";

    if (strcmp(policy, "inv") == 0 || strcmp(policy, "sigmoid") == 0)
        p->gamma = (float)(p->gamma / by);
    if (strcmp(policy, "exp") == 0) p->gamma = (float)pow(p->gamma, 1 / by);
    p->stepsize = stretched(p->stepsize, by);
    for (size_t i = 0; i < p->n_stepvalue; i++)
        p->stepvalue[i] = stretched(p->stepvalue[i], by);
    if (p->fire != NULL) p->fire->warmup_iter = stretched(p->fire->warmup_iter, by);
}

/* Stretch all intervals. There are as many tests as before, the last one at max_iter.
 * */
static void stretch(Caffe__SolverParameter *p, double by)
{
    int tests = p->test_interval > 0 ? p->max_iter / p->test_interval : 0;

    stretch_policy(p, by);
    p->display       = stretched(p->display, by);
    p->snapshot      = stretched(p->snapshot, by);
    p->test_interval = stretched(p->test_interval, by);
    p->max_iter = tests > 0 ? tests * p->test_interval : stretched(p->max_iter, by);
}

static fire_status_t scale_rate(const fire_sweep_t *g, double times,
                                Caffe__SolverParameter *p)
{
    Caffe__FireParameter *fire;

    if (g->scaling == FIRE_SCALE_NONE || times == 1) return FIRE_OK;
    FIRE_TRY(fire_message_add_message(p, "fire", &fire));
    fire->has_scale_lr = true;
    fire->scale_lr *= (float)(g->scaling == FIRE_SCALE_LINEAR ? times : sqrt(times));
    return FIRE_OK;
}

static fire_status_t settle(const fire_sweep_t *g, int point, Caffe__SolverParameter *p)
{
    uint32_t      batch = (uint32_t)fire_sweep_batch(g, point);
    double        times = (double)batch / (double)g->reference;
    char         *dir;
    fire_status_t st;

    set_batches(p->train_net_param, batch);
    p->has_base_lr = true;
    p->base_lr     = (float)fire_sweep_rate(g, point);
    if (!g->same_iterations && times != 1) stretch(p, 1 / times);
    FIRE_TRY(scale_rate(g, times, p));
    FIRE_TRY(fire_sweep_dir(g, point, &dir));
    st = fire_run_dir_adopt(dir, p);
    fire_free(dir);
    return st;
}

fire_status_t fire_sweep_solver(const fire_sweep_t *g, int point,
                                Caffe__SolverParameter **solver_p)
{
    ProtobufCMessage *copy;
    fire_status_t     st;

    FIRE_TRY(fire_message_copy(g->base, &copy));
    st = settle(g, point, (Caffe__SolverParameter *)copy);
    if (st < 0)
        fire_message_free(copy);
    else
        *solver_p = (Caffe__SolverParameter *)copy;
    return st;
}
