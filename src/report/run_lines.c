/* run_lines.c - what each type of line of run.jsonl adds to a run. Missing members
 * count as 0 or empty. Lines of an unknown type return FIRE_ERR_PARSE, which the caller
 * counts. */
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "report/run.h"
#include "report/shape.h"

/* Numbers beyond these are damage. */
enum { MOST_WORKERS = 1 << 20, MOST_TEST_NETS = 1000, MOST_IN_LINE = 1 << 30 };

typedef fire_status_t (*add_t)(fire_run_t *run, const fire_json_t *line);

/* The iteration of a line; 0 if it is missing or absurd. */
static int64_t iter_of(const fire_json_t *line)
{
    double iter = fire_json_number_or(line, "iter", 0);

    return iter >= 0 && iter < 1e15 ? (int64_t)iter : 0;
}

/* ---- run: the beginning, or a restart ---- */

/* Remove everything from iteration `iter` on. */
static void cut_from(fire_run_t *run, int64_t iter)
{
    fire_points_t *all[] = {&run->loss, &run->smoothed, &run->lr, &run->speed};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        fire_points_cut(all[i], iter);
    for (int64_t i = 0; i < run->ncurve; i++)
        fire_points_cut(&run->curve[i].points, iter);
    while (run->ntimes > 0 && run->times[run->ntimes - 1].iter > iter)
        run->ntimes--;
    while (run->nsnapshot > 0 && run->snapshot[run->nsnapshot - 1].iter > iter)
        fire_free(run->snapshot[--run->nsnapshot].file);
}

/* A second `run` line is a restart: what was logged after its iteration is dropped. */
static fire_status_t add_run(fire_run_t *run, const fire_json_t *line)
{
    bool again = run->head != NULL;

    if (again) {
        cut_from(run, iter_of(line));
        FIRE_TRY(fire_grow(&run->restart, &run->restart_cap, run->nrestart + 1,
                           sizeof(*run->restart)));
        run->restart[run->nrestart++] = iter_of(line);
    }
    run->time_offset = run->time;
    run->iter        = iter_of(line);
    run->state       = FIRE_RUN_SILENT;
    return FIRE_OK;
}

/* ---- curves ---- */

/* Losses of n iterations, their end time and seconds; the iterations between are placed
 * evenly. */
static fire_status_t add_iterations(fire_run_t *run, const fire_json_t *line)
{
    const fire_json_t *loss  = fire_json_get(line, "loss");
    int64_t            first = iter_of(line), n = loss != NULL ? loss->n : 0;
    double             seconds = fire_json_number_or(line, "seconds", 0);
    double             batch   = fire_json_number_or(run->head, "batch", 0);
    double             lr      = fire_json_number_or(line, "lr", NAN);

    for (int64_t i = 0; i < n; i++) {
        const fire_json_t *v    = &loss->item[i];
        double             time = run->time - seconds * (double)(n - 1 - i) / (double)n;

        FIRE_TRY(fire_points_add(&run->loss, first + i, time,
                                 v->kind == FIRE_JSON_NUMBER ? v->number : NAN));
    }
    if (n == 0) return FIRE_OK;
    run->iter = first + n;
    if (isfinite(lr)) FIRE_TRY(fire_points_add(&run->lr, run->iter - 1, run->time, lr));
    if (seconds > 0 && batch > 0)
        FIRE_TRY(fire_points_add(&run->speed, run->iter - 1, run->time,
                                 batch * (double)n / seconds));
    return FIRE_OK;
}

/* The curve of an output, made if it is new. */
static fire_status_t find_curve(fire_run_t *run, int net, const char *name,
                                fire_curve_t **curve_p)
{
    fire_curve_t *c;

    for (int64_t i = 0; i < run->ncurve; i++)
        if (run->curve[i].net == net && strcmp(run->curve[i].name, name) == 0) {
            *curve_p = &run->curve[i];
            return FIRE_OK;
        }
    FIRE_TRY(fire_grow(&run->curve, &run->curve_cap, run->ncurve + 1, sizeof(*c)));
    c = &run->curve[run->ncurve];
    FIRE_TRY(fire_strdup(name, &c->name));
    c->net   = net;
    *curve_p = c;
    run->ncurve++;
    return FIRE_OK;
}

/* The smoothed loss, the learning rate and all outputs of the training net. */
static fire_status_t add_display(fire_run_t *run, const fire_json_t *line)
{
    const fire_json_t *outputs = fire_json_get(line, "outputs");
    int64_t            iter    = iter_of(line);
    fire_curve_t      *c;

    FIRE_TRY(fire_points_add(&run->smoothed, iter, run->time,
                             fire_json_number_or(line, "loss", NAN)));
    FIRE_TRY(fire_points_add(&run->lr, iter, run->time,
                             fire_json_number_or(line, "lr", NAN)));
    for (int64_t i = 0; outputs != NULL && i < outputs->n; i++) {
        const fire_json_t *pair = &outputs->item[i];

        if (pair->n != 2 || pair->item[0].kind != FIRE_JSON_STRING) continue;
        FIRE_TRY(find_curve(run, -1, pair->item[0].string, &c));
        FIRE_TRY(fire_points_add(
            &c->points, iter, run->time,
            pair->item[1].kind == FIRE_JSON_NUMBER ? pair->item[1].number : NAN));
    }
    return FIRE_OK;
}

/* One output of a test net, mean over its batches. */
static fire_status_t add_test(fire_run_t *run, const fire_json_t *line)
{
    double        net = fire_json_number_or(line, "net", 0);
    fire_curve_t *c;

    if (!(net >= 0 && net < MOST_TEST_NETS)) return FIRE_ERR_PARSE;
    FIRE_TRY(find_curve(run, (int)net, fire_json_string_or(line, "name", "?"), &c));
    return fire_points_add(&c->points, iter_of(line), run->time,
                           fire_json_number_or(line, "value", NAN));
}

/* ---- times ---- */

/* Element i of an array; 0 if it is missing or no number. */
static double number_at(const fire_json_t *array, int64_t i)
{
    return array != NULL && i < array->n && array->item[i].kind == FIRE_JSON_NUMBER
               ? array->item[i].number
               : 0;
}

/* Times of n iterations, an array over workers for each phase. */
static fire_status_t add_times(fire_run_t *run, const fire_json_t *line)
{
    static const char *const names[] = {"data", "forward", "backward", "exposed",
                                        "update"};
    const fire_json_t       *seconds = fire_json_get(line, "seconds"),
                      *phase[FIRE_RUN_PHASES];
    int64_t          nworker = seconds != NULL ? seconds->n : 0;
    double           n       = fire_json_number_or(line, "n", 0);
    fire_run_times_t mean    = {.iter = iter_of(line), .time = run->time};
    double           share   = 1 / (n * (double)nworker);

    if (!(n >= 1 && n <= MOST_IN_LINE) || nworker == 0 || nworker > MOST_WORKERS)
        return FIRE_ERR_PARSE;
    if (nworker > run->nworker) {
        FIRE_TRY(
            fire_grow(&run->worker, &run->worker_cap, nworker, sizeof(*run->worker)));
        run->nworker = nworker;
    }
    for (int k = 0; k < FIRE_RUN_PHASES; k++)
        phase[k] = fire_json_get(line, names[k]);
    for (int64_t i = 0; i < nworker; i++) {
        fire_run_worker_t *w      = &run->worker[i];
        double             hidden = number_at(fire_json_get(line, "hidden"), i);
        double             bytes  = number_at(fire_json_get(line, "bytes"), i);

        w->seconds += number_at(seconds, i);
        w->hidden += hidden;
        w->bytes += bytes;
        mean.seconds += share * number_at(seconds, i);
        mean.hidden += share * hidden;
        mean.bytes += share * bytes;
        for (int k = 0; k < FIRE_RUN_PHASES; k++) {
            w->phase[k] += number_at(phase[k], i);
            mean.phase[k] += share * number_at(phase[k], i);
        }
    }
    run->measured += (int64_t)n;
    FIRE_TRY(fire_grow(&run->times, &run->times_cap, run->ntimes + 1, sizeof(mean)));
    run->times[run->ntimes++] = mean;
    return FIRE_OK;
}

/* ---- other lines ---- */

static fire_status_t add_snapshot(fire_run_t *run, const fire_json_t *line)
{
    fire_run_snapshot_t s = {.iter = iter_of(line), .time = run->time};

    FIRE_TRY(
        fire_grow(&run->snapshot, &run->snapshot_cap, run->nsnapshot + 1, sizeof(s)));
    FIRE_TRY(fire_strdup(fire_json_string_or(line, "file", ""), &s.file));
    run->snapshot[run->nsnapshot++] = s;
    return FIRE_OK;
}

/* The end of the run, and why if it failed. */
static fire_status_t add_end(fire_run_t *run, const fire_json_t *line)
{
    const char *status = fire_json_string_or(line, "status", "");

    run->state = strcmp(status, "done") == 0      ? FIRE_RUN_DONE
                 : strcmp(status, "stopped") == 0 ? FIRE_RUN_STOPPED
                                                  : FIRE_RUN_FAILED;
    fire_free(run->message);
    run->message = NULL;
    return fire_strdup(fire_json_string_or(line, "message", ""), &run->message);
}

/* Lines that are kept whole, all of them. */
static bool is_result(const char *type)
{
    return strcmp(type, "step") == 0 || strcmp(type, "allreduce") == 0;
}

static fire_status_t keep_result(fire_run_t *run, fire_json_t *line)
{
    FIRE_TRY(fire_grow(&run->result, &run->result_cap, run->nresult + 1,
                       sizeof(*run->result)));
    run->result[run->nresult++] = line;
    return FIRE_OK;
}

/* Where the newest line of this type is kept whole; NULL: it is not. */
static fire_json_t **slot_of(fire_run_t *run, const char *type)
{
    return strcmp(type, "run") == 0        ? &run->head
           : strcmp(type, "net") == 0      ? &run->net
           : strcmp(type, "layers") == 0   ? &run->layers
           : strcmp(type, "timeline") == 0 ? &run->timeline
                                           : NULL;
}

/* Lines that are kept whole go into the page unchanged, so their shape is checked here
 * (shape.h). */
#define RUN_SHAPE                                                                    \
    "{command:[s]? built_with:[s]? gpus:[s]? threads:{}? net:s? solver:s? model:s? " \
    "host:s? kind:s? started:n? workers:n? batch:n? epoch:n? iter:n? max_iter:n?}"
#define NET_SHAPE                                                                  \
    "{layers:[{name:s type:s bottoms:[s] tops:[s] shapes:[[n]] params:n? macs:n? " \
    "kernel:s?}]}"
#define STEP_SHAPE                                                                   \
    "{workers:n comm:s? net:s? machine:s? overlap:s? batch:n? step_s:n? speedup:n? " \
    "efficiency:n? compute_s:n? exposed_s:n? hidden_s:n? update_s:n? bytes:n? "      \
    "memory:n? baseline_samples_per_s:n?}"

static const struct {
    const char *type;
    add_t       add;   /* NULL: it is only kept */
    const char *shape; /* NULL: add() ignores what does not fit */
} types[] = {
    {"run", add_run, RUN_SHAPE},
    {"net", NULL, NET_SHAPE},
    {"iterations", add_iterations, NULL},
    {"display", add_display, NULL},
    {"test", add_test, NULL},
    {"times", add_times, NULL},
    {"layers", NULL, "{forward:[n] backward:[n]}"},
    {"timeline", NULL, "{iter:n workers:[[(s s n n)]]}"},
    {"snapshot", add_snapshot, NULL},
    {"end", add_end, NULL},
    {"step", NULL, STEP_SHAPE},
    {"allreduce", NULL,
     "{workers:n? bytes:n algo:s seconds:n? best:n? bus:n? library:n?}"},
};

fire_status_t fire_run_add_line(fire_run_t *run, fire_json_t *line, bool *kept_p)
{
    const char   *type = fire_json_string_or(line, "type", "");
    fire_json_t **slot = slot_of(run, type);
    size_t        i = 0, n = sizeof(types) / sizeof(types[0]);

    while (i < n && strcmp(types[i].type, type) != 0)
        i++;
    if (i == n || (types[i].shape != NULL && !fire_json_fits(line, types[i].shape)))
        return FIRE_ERR_PARSE;
    if (slot != &run->head)
        run->time = run->time_offset + fire_json_number_or(line, "time", 0);
    if (types[i].add != NULL) FIRE_TRY(types[i].add(run, line));
    if (is_result(type)) {
        FIRE_TRY(keep_result(run, line));
        *kept_p = true;
    }
    if (slot == NULL) return FIRE_OK;
    fire_json_free(*slot);
    *slot   = line;
    *kept_p = true;
    return FIRE_OK;
}
