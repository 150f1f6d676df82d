/* guilty.c - finds the layer in which a pass lost its finite numbers, by running the pass
 * again: it is a function of weights and step, so the same happens again. What the
 * passes of an iteration add up, gradients and running statistics, is put back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "train/trainer_state.h"

/* Values that a pass changes. */
typedef struct kept {
    float *sum;  /* [grads->n] gradients and scalars */
    float *stat; /* values of running statistics, one after another */
} kept_t;

static bool all_finite(int64_t n, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static fire_status_t is_finite(fire_blob_t *b, fire_part_t part, bool *finite_p)
{
    const float *x;

    FIRE_TRY(fire_blob_read(b, part, FIRE_CPU, &x));
    *finite_p = all_finite(fire_blob_count(b), x);
    return FIRE_OK;
}

static void blame(fire_trainer_t *t, const fire_layer_t *l, const char *what,
                  const char *name)
{
    snprintf(t->follow.guilty, sizeof(t->follow.guilty),
             "the %s%s%s of layer \"%s\" (%s)", what, name[0] != '\0' ? " " : "", name,
             l->param->name, l->param->type);
}

/* Has the layer's kernel written its tops? Not if a later layer's kernel does. */
static bool has_tops(const fire_net_t *net, int i)
{
    const fire_layer_t *l = &net->layer[i].base;
    bool next = i + 1 < net->nlayer && net->layer[i + 1].base.fusion.absorbed;

    return l->fusion.borrower == NULL && !next;
}

static fire_status_t after_forward(void *arg, int i)
{
    fire_trainer_t   *t   = arg;
    fire_net_t       *net = t->net;
    fire_net_layer_t *l   = &net->layer[i];
    bool              ok  = true;

    FIRE_TRY(fire_trainer_beat(t));
    if (t->follow.guilty[0] != '\0') return FIRE_OK;
    for (int k = 0; k < l->base.nblob && ok; k++) {
        FIRE_TRY(is_finite(l->base.blob[k], FIRE_DATA, &ok));
        if (!ok) blame(t, &l->base, "weights", "");
    }
    for (int k = 0; k < l->base.ntop && ok && has_tops(net, i); k++) {
        FIRE_TRY(is_finite(l->base.top[k], FIRE_DATA, &ok));
        if (!ok) blame(t, &l->base, "output", net->blob[l->top_id[k]].name);
    }
    return FIRE_OK;
}

static fire_status_t after_backward(void *arg, int i)
{
    fire_trainer_t *t  = arg;
    fire_layer_t   *l  = &t->net->layer[i].base;
    bool            ok = true;

    FIRE_TRY(fire_trainer_beat(t));
    if (t->follow.guilty[0] != '\0') return FIRE_OK;
    for (int k = 0; k < l->nblob && ok; k++) {
        if (!l->param_gradient[k]) continue;
        FIRE_TRY(is_finite(l->blob[k], FIRE_DIFF, &ok));
        if (!ok) blame(t, l, "gradient of the weights", "");
    }
    return FIRE_OK;
}

/* ---- what the passes of the iteration have added up ---- */

static fire_status_t copy_statistics(fire_trainer_t *t, float *stat, bool back)
{
    for (int i = 0; i < t->net->nparam; i++) {
        fire_blob_t *b     = t->net->learn[i].blob;
        size_t       bytes = (size_t)fire_blob_count(b) * sizeof(float);
        const float *from;
        float       *to;

        if (t->net->learn[i].kind != FIRE_PARAM_STATISTIC) continue;
        if (back) {
            FIRE_TRY(fire_blob_update(b, FIRE_DATA, FIRE_CPU, &to));
            memcpy(to, stat, bytes);
        } else {
            FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &from));
            memcpy(stat, from, bytes);
        }
        stat += fire_blob_count(b);
    }
    return FIRE_OK;
}

static int64_t count_statistics(const fire_net_t *net)
{
    int64_t n = 0;

    for (int i = 0; i < net->nparam; i++)
        if (net->learn[i].kind == FIRE_PARAM_STATISTIC)
            n += fire_blob_count(net->learn[i].blob);
    return n;
}

static fire_status_t keep(fire_trainer_t *t, kept_t *k)
{
    const fire_device_t *d = fire_device_find(t->net->ctx.place);

    FIRE_TRY(FIRE_NEW(&k->sum, t->grads->n));
    FIRE_TRY(FIRE_NEW(&k->stat, count_statistics(t->net) + 1));
    FIRE_TRY(fire_grads_settle(t->grads, 0, t->grads->n));
    FIRE_TRY(d->to_host(k->sum, t->grads->here, (size_t)t->grads->n * sizeof(float)));
    return copy_statistics(t, k->stat, false);
}

static fire_status_t put_back(fire_trainer_t *t, const kept_t *k)
{
    const fire_device_t *d = fire_device_find(t->net->ctx.place);

    FIRE_TRY(d->from_host(t->grads->here, k->sum, (size_t)t->grads->n * sizeof(float)));
    return copy_statistics(t, k->stat, true);
}

/* ---- the pass again ---- */

static fire_status_t run_pass(fire_trainer_t *t, int64_t step, bool backward)
{
    t->net->hooks       = (fire_net_hooks_t){.arg = t, .after_forward = after_forward};
    t->net->moment.step = step;
    FIRE_TRY(fire_net_run_forward(t->net, 0, -1, NULL));
    if (!backward || t->follow.guilty[0] != '\0') return FIRE_OK;
    t->net->hooks = (fire_net_hooks_t){.arg = t, .after_backward = after_backward};
    FIRE_TRY(fire_grads_clear(t->grads, 0, t->grads->n));
    return fire_net_run_backward(t->net, -1, 0);
}

/* The pass that has just run, or with `backward` all of the iteration that has. */
static fire_status_t run_again(fire_trainer_t *t, bool backward)
{
    int           n     = t->param->iter_size;
    int64_t       first = (t->solver->iter - 1) * n;
    int           lane  = t->lane;
    fire_status_t st    = FIRE_OK;

    if (!backward) return run_pass(t, t->net->moment.step, false);
    for (int i = 0; i < t->lane_count * n && st >= 0 && t->follow.guilty[0] == '\0';
         i++) {
        fire_trainer_enter_lane(t, i / n);
        st = run_pass(t, first + i % n, true);
    }
    fire_trainer_enter_lane(t, lane);
    return st;
}

fire_status_t fire_nan_find(fire_trainer_t *t, bool backward)
{
    fire_net_hooks_t hooks = t->net->hooks;
    int64_t          step  = t->net->moment.step;
    kept_t           kept  = {0};
    fire_status_t    st    = keep(t, &kept), back;

    if (st >= 0) {
        st   = run_again(t, backward);
        back = put_back(t, &kept);
        if (st >= 0) st = back;
    }
    t->net->hooks       = hooks;
    t->net->moment.step = step;
    fire_free(kept.sum);
    fire_free(kept.stat);
    return st;
}
