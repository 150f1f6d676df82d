/* lr_find.c - runs the training with rising rates and reads its curve. */
#include "sweep/lr_find.h"

#include <math.h>

#include "base/alloc.h"

/* The mean keeps so much of itself at each loss. The loss is too high at so many times its
 * least mean. */
static const double KEEP = 0.9, TOO_HIGH = 4;

/* Points on each side of one that its slope is taken from, and without which there is no
 * judgement: the mean has to settle. */
enum { SIDE = 2, SETTLE = 5 };

fire_status_t fire_lr_find_check(const fire_lr_find_t *f)
{
    if (!(f->from > 0) || !(f->to > f->from) || !isfinite(f->to))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "rates must rise from a number above 0: not from %g to %g",
                         f->from, f->to);
    if (f->iterations < 2 * SETTLE || f->iterations > 1000000)
        return FIRE_FAIL(FIRE_ERR_INVALID, "iterations must be %d to 1000000, not %lld",
                         2 * SETTLE, (long long)f->iterations);
    return FIRE_OK;
}

void fire_lr_find_fini(fire_lr_find_t *f)
{
    fire_free(f->point);
    f->point = NULL;
}

static double rate_at(const fire_lr_find_t *f, int64_t i)
{
    return f->from * pow(f->to / f->from, (double)i / (double)(f->iterations - 1));
}

/* A mean of few losses is pulled to where it began: divided by its weight it is not. */
static void add_point(fire_lr_find_t *f, double rate, double loss, double *mean)
{
    int64_t n = f->npoint;

    *mean       = KEEP * *mean + (1 - KEEP) * loss;
    f->point[n] = (fire_lr_point_t){rate, loss, *mean / (1 - pow(KEEP, (double)n + 1))};
    if (n == 0 || f->point[n].smooth < f->point[f->least].smooth) f->least = n;
    f->npoint++;
}

static bool is_too_high(const fire_lr_find_t *f)
{
    const fire_lr_point_t *last = &f->point[f->npoint - 1];

    if (!isfinite(last->loss)) return true;
    return f->npoint > SETTLE && last->smooth > TOO_HIGH * f->point[f->least].smooth;
}

fire_status_t fire_lr_find_run(fire_lr_find_t *f, fire_trainer_t *t)
{
    double mean = 0;

    f->npoint = f->least = 0;
    FIRE_TRY(fire_lr_find_check(f));
    FIRE_TRY(FIRE_NEW(&f->point, f->iterations));
    for (int64_t i = 0; i < f->iterations && !f->diverged; i++) {
        double rate = rate_at(f, i), loss;

        FIRE_TRY(fire_trainer_set_rate(t, (float)rate));
        FIRE_TRY(fire_trainer_iterate(t, &loss));
        add_point(f, rate, loss, &mean);
        f->diverged = is_too_high(f);
    }
    FIRE_TRY(fire_trainer_sync(t));
    fire_lr_find_judge(f);
    return FIRE_OK;
}

static double slope_at(const fire_lr_find_t *f, int64_t i)
{
    const fire_lr_point_t *a = &f->point[i - SIDE], *b = &f->point[i + SIDE];

    return (b->smooth - a->smooth) / (log(b->rate) - log(a->rate));
}

void fire_lr_find_judge(fire_lr_find_t *f)
{
    double steepest = 0;

    f->steepest = -1;
    for (int64_t i = SETTLE; i + SIDE < f->npoint && i < f->least; i++) {
        double slope = slope_at(f, i);

        if (slope >= steepest) continue;
        steepest    = slope;
        f->steepest = i;
    }
}
