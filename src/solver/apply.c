/* apply.c - clips gradients and applies them. On a CPU each update() changes the
 * weights; for a GPU updates are collected, so that one kernel serves many
 * parameters. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "device/cpu/blas.h"
#include "device/cpu/parallel.h"
#include "net/net_state.h"
#include "solver/solver.h"

static fire_place_t place_of(const fire_solver_t *s)
{
    return s->net->ctx.place;
}

/* Summed in blocks of fixed length, so that all workers get the same bits. */
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

fire_status_t fire_solver_squares(const fire_solver_t *s, float *x, int64_t n,
                                  double *sum_p)
{
    if (place_of(s) == FIRE_GPU)
        return fire_update_squares_gpu(s->net->ctx.stream,
                                       &(fire_update_t){.n = n, .g = x}, 1, sum_p);
    *sum_p = sum_of_squares(x, n);
    return FIRE_OK;
}

/* The sum of squares of all gradients; statistics are no gradients. Literally: with
 * BLAS dot products that are added in float, as Caffe does. */
static fire_status_t norm_on_cpu(fire_solver_t *s, double *sum_p)
{
    double sum = 0;

    for (int i = 0; i < s->net->nparam; i++) {
        fire_blob_t *b = s->net->learn[i].blob;
        const float *g;

        if (s->net->learn[i].kind == FIRE_PARAM_STATISTIC) continue;
        FIRE_TRY(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &g));
        if (s->literal)
            sum = (float)sum + fire_dot(b->count, g, g);
        else
            sum += sum_of_squares(g, b->count);
    }
    *sum_p = sum;
    return FIRE_OK;
}

static fire_status_t norm_on_gpu(fire_solver_t *s, double *sum_p)
{
    int n = 0;

    for (int i = 0; i < s->net->nparam; i++) {
        fire_blob_t   *b = s->net->learn[i].blob;
        fire_update_t *u = &s->batch[n];

        if (s->net->learn[i].kind == FIRE_PARAM_STATISTIC) continue;
        *u = (fire_update_t){.n = b->count};
        FIRE_TRY(fire_blob_update(b, FIRE_DIFF, FIRE_GPU, &u->g));
        n++;
    }
    return fire_update_squares_gpu(s->net->ctx.stream, s->batch, n, sum_p);
}

/* Caffe clips the sum over iter_size passes, before it is divided by their number. */
fire_status_t fire_solver_clip(fire_solver_t *s)
{
    double sum = 0, norm;

    if (!s->inspects) return FIRE_OK;
    FIRE_TRY(place_of(s) == FIRE_GPU ? norm_on_gpu(s, &sum) : norm_on_cpu(s, &sum));
    norm    = sqrt(sum);
    s->norm = norm / (double)s->param->iter_size;
    s->bad  = s->holds && !isfinite(norm);
    if (s->param->clip_gradients >= 0 && norm > (double)s->param->clip_gradients) {
        s->clip_scale = s->param->clip_gradients / (float)norm;
        FIRE_LOG(INFO,
                 "Gradient clipping: scaling down gradients (L2 norm %g > %g) by scale "
                 "factor %g",
                 norm, (double)s->param->clip_gradients, (double)s->clip_scale);
    }
    return FIRE_OK;
}

/* A running statistic of BatchNorm, with several lanes: each has added what it saw to
 * the diff, and the new value is decay^iter_size * old + mean over lanes. With one lane
 * the layer has updated it already. */
static fire_status_t update_statistic(fire_solver_t *s, const fire_param_t *p,
                                      int64_t first, int64_t n)
{
    float  keep = 1, share = 1.0f / (float)s->lanes;
    float *w, *g;

    if (!s->net->moment.defer_stats) return FIRE_OK;
    for (int i = 0; i < s->param->iter_size; i++)
        keep *= p->stat_decay;
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DATA, place_of(s), &w));
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DIFF, place_of(s), &g));
    if (place_of(s) == FIRE_GPU)
        return fire_update_blend_gpu(s->net->ctx.stream, n, keep, w + first, share,
                                     g + first);
    for (int64_t i = first; i < first + n; i++)
        w[i] = keep * w[i] + share * g[i];
    return FIRE_OK;
}

/* Settings that are the same for all parameters. */
static fire_update_t common(const fire_solver_t *s)
{
    const Caffe__SolverParameter *p = s->param;

    float share = 1.0f / (float)p->iter_size;

    return (fire_update_t){.scale      = s->clip_scale * (s->literal ? 1 : share),
                           .share      = s->literal ? share : 1,
                           .decay_l1   = strcmp(p->regularization_type, "L1") == 0,
                           .momentum   = p->momentum,
                           .momentum2  = p->momentum2,
                           .rms_decay  = p->rms_decay,
                           .delta      = p->delta,
                           .correction = s->correction,
                           .literal    = s->literal};
}

/* w -= rate * shrink * w, apart from the rule. */
static void shrink(const fire_update_t *u)
{
    float keep = 1 - u->rate * u->shrink;

    for (int64_t i = 0; u->shrink != 0 && i < u->n; i++)
        u->w[i] *= keep;
}

/* Threads share long parameters. Elements are independent, so any cut gives the same
 * bits. */
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
        shrink(&piece);
        if (u->literal)
            rule->literal(&piece);
        else
            rule->apply(&piece);
    }
}

/* On a CPU the update happens now; on a GPU it joins the batch, which is launched when
 * it is full or by flush(). */
fire_status_t fire_solver_update(fire_solver_t *s, int param, int64_t first, int64_t n)
{
    const fire_param_t *p = &s->net->learn[param];
    fire_update_t       u = common(s);
    float               decay;

    if (s->bad) return FIRE_OK;
    if (p->kind == FIRE_PARAM_STATISTIC) return update_statistic(s, p, first, n);
    u.n      = n;
    u.rate   = s->rate * p->lr_mult;
    u.mult   = s->adapt == FIRE_ADAPT_NONE ? p->lr_mult : 0;
    decay    = s->param->weight_decay * p->decay_mult;
    u.decay  = s->decoupled ? 0 : decay;
    u.shrink = s->decoupled ? decay : 0;
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DATA, place_of(s), &u.w));
    FIRE_TRY(fire_blob_update(p->blob, FIRE_DIFF, place_of(s), &u.g));
    u.w += first;
    u.g += first;
    FIRE_TRY(fire_solver_adapt(s, p, &u));
    for (int i = 0; i < s->rule->nhistory; i++) {
        FIRE_TRY(fire_blob_update(s->history[i * s->net->nparam + param], FIRE_DATA,
                                  place_of(s), &u.h[i]));
        u.h[i] += first;
    }
    if (place_of(s) == FIRE_CPU) {
        apply(s->rule, &u);
        return FIRE_OK;
    }
    s->batch[s->nbatch++] = u;
    return s->nbatch > s->net->nparam ? fire_solver_flush(s) : FIRE_OK;
}

fire_status_t fire_solver_flush(fire_solver_t *s)
{
    int n = s->nbatch;

    s->nbatch = 0;
    if (n == 0) return FIRE_OK;
    return fire_update_gpu(s->net->ctx.stream, s->rule->type, s->batch, n);
}
