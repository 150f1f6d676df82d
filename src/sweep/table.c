/* table.c - the results of a sweep, read from the logs of its points: as a table for
 * people and as CSV for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "report/run.h"
#include "sweep/sweep.h"

/* ---- one point ---- */

/* The curve that points are compared by: the first output of test net 0 with "acc" in
 * its name, or else its first output. */
static const fire_curve_t *curve_that_counts(const fire_run_t *run)
{
    const fire_curve_t *first = NULL;

    for (int64_t i = 0; i < run->ncurve; i++) {
        const fire_curve_t *c = &run->curve[i];

        if (c->net != 0 || c->points.n == 0) continue;
        if (strstr(c->name, "acc") != NULL) return c;
        if (first == NULL) first = c;
    }
    return first;
}

static void take_measure(const fire_curve_t *c, fire_point_result_t *r)
{
    snprintf(r->measure, sizeof(r->measure), "%s", c->name);
    for (int64_t i = 0; i < c->points.n; i++) {
        r->last = c->points.at[i].value;
        r->best = fmax(r->best, r->last); /* fmax() ignores NAN */
    }
}

static double mean_of(const fire_points_t *p)
{
    double sum = 0;

    for (int64_t i = 0; i < p->n; i++)
        sum += p->at[i].value;
    return sum / (double)p->n;
}

static fire_point_outcome_t outcome_of(const fire_run_t *run, double loss)
{
    if (run->state == FIRE_RUN_DONE) return FIRE_POINT_DONE;
    if (run->state == FIRE_RUN_FAILED) return FIRE_POINT_FAILED;
    if (run->state == FIRE_RUN_STOPPED && run->loss.n > 0 && !isfinite(loss))
        return FIRE_POINT_DIVERGED;
    return FIRE_POINT_OPEN;
}

static void take_run(const fire_run_t *run, fire_point_result_t *r)
{
    const fire_curve_t *c = curve_that_counts(run);

    if (run->loss.n > 0) r->loss = run->loss.at[run->loss.n - 1].value;
    r->outcome = outcome_of(run, r->loss);
    r->iter    = run->iter;
    r->seconds = run->time;
    r->speed   = mean_of(&run->speed);
    if (c != NULL) take_measure(c, r);
}

fire_status_t fire_sweep_read_result(const fire_sweep_t *g, int point,
                                     fire_point_result_t *result_p)
{
    fire_point_result_t r   = {.last = NAN, .best = NAN, .loss = NAN, .speed = NAN};
    fire_run_t         *run = NULL;
    char               *dir, *log;
    fire_status_t       st;

    FIRE_TRY(fire_sweep_dir(g, point, &dir));
    st = fire_asprintf(&log, "%s/run.jsonl", dir);
    fire_free(dir);
    FIRE_TRY(st);
    if (access(log, F_OK) == 0) st = fire_run_open(log, &run);
    if (run != NULL) take_run(run, &r);
    fire_run_close(run);
    fire_free(log);
    if (st >= 0) *result_p = r;
    return st;
}

bool fire_point_is_finished(const fire_point_result_t *r)
{
    return r->outcome == FIRE_POINT_DONE || r->outcome == FIRE_POINT_DIVERGED;
}

/* ---- the table for people ---- */

static fire_status_t add_cell(const fire_point_result_t *r, fire_str_t *out)
{
    static const char *const words[] = {"-", "done", "diverged", "failed"};

    if (r->outcome != FIRE_POINT_DONE || isnan(r->last))
        return fire_str_printf(out, " %12s", words[r->outcome]);
    return fire_str_printf(out, " %12.4f", r->last);
}

/* The highest value at the end; -1: no point has one. */
static int best_point(const fire_sweep_t *s, const fire_point_result_t *r)
{
    int best = -1;

    for (int i = 0; i < fire_sweep_points(s); i++)
        if (r[i].outcome == FIRE_POINT_DONE && !isnan(r[i].last) &&
            (best < 0 || r[i].last > r[best].last))
            best = i;
    return best;
}

static fire_status_t add_title(const fire_sweep_t *s, const char *measure,
                               fire_str_t *out)
{
    static const char *const before[] = {"", ", times batch / ",
                                         ", times sqrt(batch / "};
    static const char *const after[]  = {"", "", ")"};

    FIRE_TRY(fire_str_printf(out,
                             "%s at the end; rows: batch, columns: learning rate%s",
                             measure, before[s->scaling]));
    if (s->scaling != FIRE_SCALE_NONE)
        FIRE_TRY(fire_str_printf(out, "%lld", (long long)s->reference));
    FIRE_TRY(fire_str_printf(out, "%s\n%10s", after[s->scaling], ""));
    for (int k = 0; k < s->rate.n; k++)
        FIRE_TRY(fire_str_printf(out, " %12g", s->rate.value[k]));
    return FIRE_OK;
}

fire_status_t fire_sweep_table(const fire_sweep_t *s, const fire_point_result_t *r,
                               fire_str_t *out)
{
    int  best = best_point(s, r);
    char name[64];

    FIRE_TRY(add_title(s, best >= 0 ? r[best].measure : "result", out));
    for (int i = 0; i < fire_sweep_points(s); i++) {
        if (i % s->rate.n == 0)
            FIRE_TRY(
                fire_str_printf(out, "\n%10lld", (long long)fire_sweep_batch(s, i)));
        FIRE_TRY(add_cell(&r[i], out));
    }
    FIRE_TRY(fire_str_printf(out, "\n"));
    if (best < 0) return FIRE_OK;
    fire_sweep_name(s, best, name);
    return fire_str_printf(out, "highest: %s/%s\n", s->dir, name);
}

/* ---- the table for programs ---- */

static fire_status_t add_number(fire_str_t *out, double value)
{
    char text[FIRE_NUMBER_MAX] = "";

    if (isfinite(value)) fire_number_print(value, text);
    return fire_str_printf(out, ",%s", text);
}

static fire_status_t add_row(const fire_sweep_t *g, int i, const fire_point_result_t *r,
                             fire_str_t *out)
{
    static const char *const words[] = {"open", "done", "diverged", "failed"};
    const double number[] = {r->last, r->best, r->loss, r->seconds, r->speed};
    char         name[64], rate[FIRE_NUMBER_MAX];

    fire_sweep_name(g, i, name);
    fire_number_print_float((float)fire_sweep_rate(g, i), rate);
    FIRE_TRY(fire_str_printf(out, "%s,%lld,%s,%s,%lld,%s", name,
                             (long long)fire_sweep_batch(g, i), rate, words[r->outcome],
                             (long long)r->iter, r->measure));
    for (size_t k = 0; k < sizeof(number) / sizeof(number[0]); k++)
        FIRE_TRY(add_number(out, number[k]));
    return fire_str_printf(out, "\n");
}

fire_status_t fire_sweep_save_csv(const fire_sweep_t *g, const fire_point_result_t *r)
{
    fire_str_t    out  = {0};
    char         *path = NULL;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&path, "%s/sweep.csv", g->dir));
    st = fire_str_printf(&out, "run,batch,lr,outcome,iterations,measure,last,best,loss,"
                               "seconds,images_per_second\n");
    for (int i = 0; i < fire_sweep_points(g) && st >= 0; i++)
        st = add_row(g, i, &r[i], &out);
    if (st >= 0) st = fire_file_write(path, out.text, (size_t)out.n);
    fire_str_fini(&out);
    fire_free(path);
    return st;
}
