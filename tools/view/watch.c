/* watch.c - lines of text about a run: progress, curves of block characters, bars of
 * phases. */
#include "view/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "report/data.h"

enum { LABEL = 15, VALUE = 12, MOST_WORKERS = 16, MOST_BARS = 200 };

static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* Phases of an iteration: a letter, used without colour, and the colour's code. */
static const struct {
    const char *name, *letter, *colour;
} phases[FIRE_RUN_PHASES] = {
    {"data", "d", "\x1b[33m"},     {"forward", "f", "\x1b[94m"},
    {"backward", "b", "\x1b[34m"}, {"exposed", "x", "\x1b[31m"},
    {"update", "u", "\x1b[32m"},
};

/* Names come from the run's log, which may be anybody's. */
static const char *plain(const char *text, char out[256])
{
    snprintf(out, 256, "%s", text);
    return fire_text_make_plain(out);
}

static const char *paint(const view_t *v, const char *code)
{
    return v->colour ? code : "";
}

/* ---- numbers ---- */

static const char *duration(double s, char out[32])
{
    long n = s < 1e15 ? lround(s) : 0;

    if (!(s < 1e15))
        snprintf(out, 32, "?");
    else if (s < 60)
        snprintf(out, 32, "%.3g s", s);
    else if (n < 3600)
        snprintf(out, 32, "%ld:%02ld min", n / 60, n % 60);
    else
        snprintf(out, 32, "%ld:%02ld h", n / 3600, n / 60 % 60);
    return out;
}

/* ---- curves ---- */

/* Mean of the i-th of n equal parts of a curve. */
static double mean_of(const fire_points_t *p, int i, int n)
{
    int64_t first = p->n * i / n, end = p->n * (i + 1) / n, count = 0;
    double  sum = 0;

    for (int64_t k = first; k < end; k++)
        if (isfinite(p->at[k].value)) {
            sum += p->at[k].value;
            count++;
        }
    return count > 0 ? sum / (double)count : NAN;
}

static fire_status_t sparkline(const fire_points_t *p, int room, fire_str_t *out)
{
    int    n = p->n < room ? (int)p->n : room;
    double value[MOST_BARS], lo = INFINITY, hi = -INFINITY;

    for (int i = 0; i < n; i++) {
        value[i] = mean_of(p, i, n);
        if (isfinite(value[i])) lo = fmin(lo, value[i]), hi = fmax(hi, value[i]);
    }
    for (int i = 0; i < n; i++) {
        double share = hi > lo ? (value[i] - lo) / (hi - lo) : 0;

        FIRE_TRY(fire_str_printf(
            out, "%s", isfinite(value[i]) ? bars[(int)lrint(7 * share)] : "?"));
    }
    return FIRE_OK;
}

static fire_status_t curve_line(const view_t *v, const char *name, const char *value,
                                const char *code, const fire_points_t *p,
                                fire_str_t *out)
{
    int room = v->columns - LABEL - VALUE - 3;

    if (p->n == 0) return FIRE_OK;
    if (room > MOST_BARS) room = MOST_BARS;
    FIRE_TRY(fire_str_printf(out, "  %-*.*s%*s  %s", LABEL, LABEL - 1, name, VALUE - 2,
                             value, paint(v, code)));
    FIRE_TRY(sparkline(p, room, out));
    return fire_str_printf(out, "%s\n", paint(v, "\x1b[0m"));
}

static fire_status_t curves(const view_t *v, const fire_run_t *run, fire_str_t *out)
{
    const fire_points_t *loss = run->loss.n > 0 ? &run->loss : &run->smoothed;
    char                 text[32], name[64];

    if (loss->n > 0) {
        snprintf(text, sizeof(text), "%.4g", mean_of(loss, 19, 20));
        FIRE_TRY(curve_line(v, "loss", text, "\x1b[31m", loss, out));
    }
    for (int64_t i = 0; i < run->ncurve; i++) {
        const fire_curve_t *c = &run->curve[i];
        double value = c->points.n > 0 ? c->points.at[c->points.n - 1].value : 0;
        bool   share = strstr(c->name, "acc") != NULL;

        if (c->net < 0) continue;
        snprintf(name, sizeof(name), "test %s", c->name);
        fire_text_make_plain(name);
        snprintf(text, sizeof(text), share ? "%.2f %%" : "%.4g",
                 share ? 100 * value : value);
        FIRE_TRY(curve_line(v, name, text, "\x1b[32m", &c->points, out));
    }
    if (run->speed.n > 0)
        snprintf(text, sizeof(text), "%.0f", mean_of(&run->speed, 4, 5));
    return curve_line(v, "images/s", text, "\x1b[36m", &run->speed, out);
}

/* ---- how far ---- */

static fire_status_t head_lines(const view_t *v, const fire_run_t *run, fire_str_t *out)
{
    const char *state = fire_run_state_text(run);
    bool        bad   = strcmp(state, "failed") == 0 || strcmp(state, "killed") == 0;
    double      batch = fire_json_number_or(run->head, "batch", 0);
    char        text[256];

    FIRE_TRY(fire_str_printf(
        out, "%s%s%s  %s%s%s  %.0f worker%s", paint(v, "\x1b[1m"),
        plain(fire_json_string_or(run->head, "net", "?"), text), paint(v, "\x1b[0m"),
        paint(v, bad ? "\x1b[31m" : "\x1b[32m"), state, paint(v, "\x1b[0m"),
        fire_json_number_or(run->head, "workers", 1),
        fire_json_number_or(run->head, "workers", 1) == 1 ? "" : "s"));
    if (batch > 0) FIRE_TRY(fire_str_printf(out, ", batch %.0f", batch));
    return fire_str_printf(out, "  %s\n", plain(run->name, text));
}

static fire_status_t progress_line(const view_t *v, const fire_run_t *run,
                                   fire_str_t *out)
{
    double most  = fire_json_number_or(run->head, "max_iter", 0);
    double share = most > 0 ? fmin(1, (double)run->iter / most) : 0;
    double rate  = run->speed.n > 0 ? mean_of(&run->speed, 4, 5) : 0;
    double left  = rate > 0 ? (most - (double)run->iter) *
                                 fire_json_number_or(run->head, "batch", 0) / rate
                            : NAN;
    int    room  = v->columns > 60 ? v->columns / 3 : 20;
    char   a[32], b[32];

    FIRE_TRY(fire_str_printf(out, "  %s", paint(v, "\x1b[35m")));
    for (int i = 0; i < room; i++)
        FIRE_TRY(fire_str_printf(out, "%s", i < share * room ? "█" : "░"));
    FIRE_TRY(fire_str_printf(out, "%s %lld / %.0f  %.0f%%  %s", paint(v, "\x1b[0m"),
                             (long long)run->iter, most, 100 * share,
                             duration(run->time, a)));
    if (isfinite(left) && run->state == FIRE_RUN_SILENT && left > 0)
        FIRE_TRY(fire_str_printf(out, ", %s left", duration(left, b)));
    return fire_str_printf(out, "\n");
}

/* ---- workers ---- */

/* A bar per worker, cut into phases; the slowest worker's bar is as long as the line.
 * */
static fire_status_t worker_line(const view_t *v, const fire_run_t *run, int64_t i,
                                 double longest, fire_str_t *out)
{
    const fire_run_worker_t *w    = &run->worker[i];
    int                      room = v->columns - LABEL - VALUE - 3, at = 0;
    double                   sum = 0;

    FIRE_TRY(fire_str_printf(out, "  worker %-*lld%*.3g ms  ", LABEL - 7, (long long)i,
                             VALUE - 5, 1e3 * w->seconds / (double)run->measured));
    for (int k = 0; k < FIRE_RUN_PHASES; k++) {
        int end;

        sum += w->phase[k];
        end = (int)lrint(room * sum / longest);
        FIRE_TRY(fire_str_printf(out, "%s", paint(v, phases[k].colour)));
        for (; at < end && at < room; at++)
            FIRE_TRY(fire_str_printf(out, "%s", v->colour ? "█" : phases[k].letter));
    }
    return fire_str_printf(out, "%s\n", paint(v, "\x1b[0m"));
}

static fire_status_t workers(const view_t *v, const fire_run_t *run, fire_str_t *out)
{
    double longest = 1e-12;

    if (run->measured == 0) return FIRE_OK;
    for (int64_t i = 0; i < run->nworker; i++)
        longest = fmax(longest, run->worker[i].seconds);
    for (int64_t i = 0; i < run->nworker && i < MOST_WORKERS; i++)
        FIRE_TRY(worker_line(v, run, i, longest, out));
    if (run->nworker > MOST_WORKERS)
        FIRE_TRY(fire_str_printf(out, "  ... and %lld more\n",
                                 (long long)run->nworker - MOST_WORKERS));
    FIRE_TRY(fire_str_printf(out, "  %*s", LABEL + VALUE, ""));
    for (int k = 0; k < FIRE_RUN_PHASES; k++)
        FIRE_TRY(fire_str_printf(out, "%s%s%s %s  ", paint(v, phases[k].colour),
                                 v->colour ? "█" : phases[k].letter,
                                 paint(v, "\x1b[0m"), phases[k].name));
    return fire_str_printf(out, "\n");
}

/* Only trainings: not the logs of `time`, `bench` and others. */
static bool is_training(const fire_run_t *run)
{
    return strcmp(fire_json_string_or(run->head, "kind", "train"), "train") == 0;
}

fire_status_t view_run(const view_t *v, const fire_run_t *run, fire_str_t *out)
{
    char text[256];

    if (run->head == NULL)
        return fire_str_printf(out, "%s: nothing of a run in it yet\n",
                               plain(run->path, text));
    FIRE_TRY(head_lines(v, run, out));
    if (is_training(run))
        FIRE_TRY(progress_line(v, run, out));
    else
        FIRE_TRY(fire_str_printf(out, "  no training; `firecaffe report` shows it\n"));
    FIRE_TRY(curves(v, run, out));
    FIRE_TRY(workers(v, run, out));
    if (run->state == FIRE_RUN_FAILED)
        FIRE_TRY(fire_str_printf(out, "  %s%s%s\n", paint(v, "\x1b[31m"),
                                 plain(run->message, text), paint(v, "\x1b[0m")));
    return FIRE_OK;
}
