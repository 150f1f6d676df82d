/* csv.c - writes a run as CSV files. */
#include "report/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"

/* The curve's value at an iteration: its last point up to there; NAN before the
 * first. */
static double value_at(const fire_points_t *p, int64_t iter)
{
    int64_t lo = 0, hi = p->n;

    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;

        if (p->at[mid].iter <= iter)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 ? p->at[lo - 1].value : NAN;
}

static fire_status_t add_number(fire_str_t *out, double value)
{
    char text[FIRE_NUMBER_MAX];

    fire_number_print_rounded(value, 9, text);
    return fire_str_printf(out, ",%s", text);
}

/* Users name the outputs of nets; a name with a comma or quote needs quotes. */
static fire_status_t add_name(fire_str_t *out, const char *name)
{
    if (strpbrk(name, ",\"\r\n") == NULL) return fire_str_printf(out, ",%s", name);
    FIRE_TRY(fire_str_add(out, ",\"", 2));
    for (; *name != '\0'; name++) {
        if (*name == '"') FIRE_TRY(fire_str_add(out, "\"", 1));
        FIRE_TRY(fire_str_add(out, name, 1));
    }
    return fire_str_add(out, "\"", 1);
}

static fire_status_t add_row(fire_str_t *out, const fire_run_t *run, int net,
                             const fire_point_t *at)
{
    FIRE_TRY(fire_str_printf(out, "%lld", (long long)at->iter));
    FIRE_TRY(add_number(out, at->time));
    FIRE_TRY(add_number(out, value_at(&run->lr, at->iter)));
    for (int64_t i = 0; i < run->ncurve; i++)
        if (run->curve[i].net == net)
            FIRE_TRY(add_number(out, value_at(&run->curve[i].points, at->iter)));
    return fire_str_printf(out, "\n");
}

/* Write BASE.KIND.csv. */
static fire_status_t save(const char *base, const char *kind, const fire_str_t *text)
{
    char         *path;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&path, "%s.%s.csv", base, kind));
    st = fire_file_write(path, text->text, (size_t)text->n);
    fire_free(path);
    return st;
}

/* Write all outputs of one net; there is a row for each point of its first output. */
static fire_status_t write_net(const fire_run_t *run, int net, const char *base,
                               const char *kind)
{
    const fire_points_t *rows = NULL;
    fire_str_t           out  = {0};
    fire_status_t        st;

    FIRE_TRY_GOTO(st, fire_str_printf(&out, "NumIters,Seconds,LearningRate"), done);
    for (int64_t i = 0; i < run->ncurve; i++) {
        if (run->curve[i].net != net) continue;
        if (rows == NULL) rows = &run->curve[i].points;
        FIRE_TRY_GOTO(st, add_name(&out, run->curve[i].name), done);
    }
    FIRE_TRY_GOTO(st, fire_str_printf(&out, "\n"), done);
    for (int64_t i = 0; rows != NULL && i < rows->n; i++)
        FIRE_TRY_GOTO(st, add_row(&out, run, net, &rows->at[i]), done);
    st = save(base, kind, &out);
done:
    fire_str_fini(&out);
    return st;
}

/* A row per iteration. */
static fire_status_t write_losses(const fire_run_t *run, const char *base)
{
    fire_str_t    out = {0};
    fire_status_t st  = fire_str_printf(&out, "NumIters,Seconds,loss\n");

    for (int64_t i = 0; i < run->loss.n && st >= 0; i++) {
        const fire_point_t *p = &run->loss.at[i];

        st = fire_str_printf(&out, "%lld", (long long)p->iter);
        if (st >= 0) st = add_number(&out, p->time);
        if (st >= 0) st = add_number(&out, p->value);
        if (st >= 0) st = fire_str_printf(&out, "\n");
    }
    if (st >= 0) st = save(base, "loss", &out);
    fire_str_fini(&out);
    return st;
}

/* Has the run curves of this net? */
static bool has_net(const fire_run_t *run, int net)
{
    for (int64_t i = 0; i < run->ncurve; i++)
        if (run->curve[i].net == net) return true;
    return false;
}

fire_status_t fire_csv_write(const fire_run_t *run, const char *base)
{
    int most = 0;

    for (int64_t i = 0; i < run->ncurve; i++)
        if (run->curve[i].net > most) most = run->curve[i].net;
    FIRE_TRY(write_losses(run, base));
    FIRE_TRY(write_net(run, -1, base, "train"));
    FIRE_TRY(write_net(run, 0, base, "test"));
    for (int net = 1; net <= most; net++) {
        char kind[32];

        if (!has_net(run, net)) continue;
        snprintf(kind, sizeof(kind), "test%d", net);
        FIRE_TRY(write_net(run, net, base, kind));
    }
    return FIRE_OK;
}
