/* firecaffe time - measures forward and backward of every layer and logs the times in
 * the format of `caffe time`. */
#include <stdio.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/text/json.h"
#include "base/log.h"
#include "command.h"
#include "view/console.h"
#include "device/cpu/parallel.h"
#include "flags/lists.h"
#include "net/describe.h"
#include "flags/net.h"
#include "flags/results.h"
#include "flags/workers.h"

typedef struct flags {
    int64_t            iterations;
    const char        *batch, *run_dir;
    bool               json;
    fire_option_list_t shape;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, iterations, INT, "50", "N", "average over N passes"),
    FIRE_OPTION(flags_t, batch, STRING, "", "LIST",
                "batch sizes to measure, separated by commas (default: the net's)"),
    FIRE_OPTION(flags_t, json, BOOL, "false", NULL,
                "print the times as JSON, for `plan --times`"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "write the times to DIR too, for `report`; of several batch sizes to "
                "DIR/batchN"),
    FIRE_OPTION(
        flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
        "shape of a blob, instead of reading the layer's data; may be repeated"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Workers", workers_options, &workers_flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* ---- measuring ---- */

enum { IN_TURNS = 10 }; /* passes with a barrier after each, then as many without */

/* Seconds, summed over passes, from hooks around the net's layers. */
typedef struct stopwatch {
    double  begin, forward, backward;
    double  met; /* seconds of as many passes with a barrier after each */
    double *layer_forward, *layer_backward; /* [nlayer] */
} stopwatch_t;

static fire_status_t begin(void *arg, int layer)
{
    (void)layer;
    ((stopwatch_t *)arg)->begin = fire_clock_now();
    return FIRE_OK;
}

static fire_status_t after_forward(void *arg, int layer)
{
    stopwatch_t *w = arg;

    w->layer_forward[layer] += fire_clock_now() - w->begin;
    return FIRE_OK;
}

/* Also called for layers without a gradient, for which begin() was not called. */
static fire_status_t after_backward(void *arg, int layer)
{
    stopwatch_t *w = arg;

    if (w->begin > 0) w->layer_backward[layer] += fire_clock_now() - w->begin;
    w->begin = 0;
    return FIRE_OK;
}

static fire_status_t pass(fire_net_t *net, stopwatch_t *w, float *loss_p)
{
    double t0 = fire_clock_now(), t1;

    FIRE_TRY(fire_net_zero_diffs(net));
    FIRE_TRY(fire_net_run_forward(net, 0, -1, loss_p));
    t1 = fire_clock_now();
    w->forward += t1 - t0;
    w->begin = 0;
    if (!fire_net_ctx(net)->inference) FIRE_TRY(fire_net_run_backward(net, -1, 0));
    w->backward += fire_clock_now() - t1;
    fire_net_set_step(net, fire_net_step(net) + 1);
    return FIRE_OK;
}

/* Passes with a barrier after each: in training all workers wait for the slowest, and
 * which one is the slowest changes from pass to pass. */
static fire_status_t pass_and_meet(fire_net_t *net, const fire_worker_t *worker,
                                   int64_t n, stopwatch_t *w)
{
    stopwatch_t unseen = {0};
    double      start;
    float       loss;

    fire_net_set_watch(net, &(fire_net_hooks_t){0});
    FIRE_TRY(fire_comm_barrier(worker->comm));
    start = fire_clock_now();
    for (int64_t i = 0; i < n; i++) {
        FIRE_TRY(pass(net, &unseen, &loss));
        FIRE_TRY(fire_comm_barrier(worker->comm));
    }
    w->met += fire_clock_now() - start;
    return FIRE_OK;
}

static fire_status_t measure(fire_net_t *net, const fire_worker_t *worker,
                             stopwatch_t *w)
{
    const fire_net_hooks_t hooks = {w, begin, after_forward, begin, after_backward};
    float                  loss;

    FIRE_LOG(INFO, "Performing Forward");
    FIRE_TRY(pass(net, w, &loss));
    FIRE_LOG(INFO, "Initial loss: %g", (double)loss);
    if (worker->comm != NULL) FIRE_TRY(fire_comm_barrier(worker->comm));
    FIRE_LOG(INFO, "*** Benchmark begins ***");
    FIRE_LOG(INFO, "Testing for %lld iterations.", (long long)flags.iterations);
    w->forward = w->backward = 0; /* the first pass allocates and warms up */
    for (int64_t i = 0; i < flags.iterations; i++) {
        double before = w->forward + w->backward;

        if (worker->comm != NULL && i % IN_TURNS == 0)
            FIRE_TRY(pass_and_meet(net, worker,
                                   fire_piece(flags.iterations, i, IN_TURNS), w));
        fire_net_set_watch(net, &hooks);
        FIRE_TRY(pass(net, w, &loss));
        FIRE_LOG(INFO, "Iteration: %lld forward-backward time: %g ms.",
                 (long long)i + 1, (w->forward + w->backward - before) * 1000);
        if (worker->rank == 0) console_progress("Timing", i + 1, flags.iterations, "");
    }
    if (worker->rank == 0) console_progress_end();
    return FIRE_OK;
}

/* ---- what is shown ---- */

static double per_pass(double seconds)
{
    return seconds / (double)flags.iterations;
}

static void report(const fire_net_t *net, const stopwatch_t *w)
{
    FIRE_LOG(INFO, "Average time per layer: ");
    for (int i = 0; i < fire_net_nlayer(net); i++) {
        const char *name = fire_net_layer_name(net, i);

        FIRE_LOG(INFO, "%10s\tforward: %g ms.", name,
                 1000 * per_pass(w->layer_forward[i]));
        FIRE_LOG(INFO, "%10s\tbackward: %g ms.", name,
                 1000 * per_pass(w->layer_backward[i]));
    }
    FIRE_LOG(INFO, "Average Forward pass: %g ms.", 1000 * per_pass(w->forward));
    FIRE_LOG(INFO, "Average Backward pass: %g ms.", 1000 * per_pass(w->backward));
    FIRE_LOG(INFO, "Average Forward-Backward: %g ms.",
             1000 * per_pass(w->forward + w->backward));
    FIRE_LOG(INFO, "Total Time: %g ms.", (w->forward + w->backward) * 1000);
    FIRE_LOG(INFO, "*** Benchmark ends ***");
}

/* The batch size: the first dimension of the first blob that a layer brings in. */
static int64_t batch_of(const fire_net_t *net)
{
    for (int i = 0; i < fire_net_nlayer(net); i++) {
        const fire_blob_t *top;

        if (fire_net_layer_nbottom(net, i) > 0 || fire_net_layer_ntop(net, i) == 0)
            continue;
        top = fire_net_blob(net, fire_net_layer_top(net, i, 0));
        if (fire_blob_ndim(top) > 0) return fire_blob_dims(top)[0];
    }
    return 1;
}

static void write_times(fire_json_writer_t *out, const fire_net_t *net,
                        const stopwatch_t *w)
{
    double meeting = w->met - w->forward - w->backward;

    fire_json_open(out, NULL, '{');
    fire_json_add_int(out, "batch", batch_of(net));
    fire_json_add_rounded(out, "forward_s", per_pass(w->forward), 6);
    fire_json_add_rounded(out, "backward_s", per_pass(w->backward), 6);
    if (meeting > 0) fire_json_add_rounded(out, "meeting_s", per_pass(meeting), 6);
    fire_json_open(out, "layers", '[');
    for (int i = 0; i < fire_net_nlayer(net); i++) {
        fire_json_open(out, NULL, '{');
        fire_json_add_string(out, "name", fire_net_layer_name(net, i));
        fire_json_add_string(out, "type", fire_net_layer_type(net, i));
        fire_json_add_rounded(out, "forward_s", per_pass(w->layer_forward[i]), 6);
        fire_json_add_rounded(out, "backward_s", per_pass(w->layer_backward[i]), 6);
        fire_json_close(out, '}');
    }
    fire_json_close(out, ']');
    fire_json_close(out, '}');
}

/* ---- what is kept ---- */

static fire_status_t log_lines(fire_results_t *log, const fire_net_t *net,
                               const stopwatch_t *w)
{
    const double *const      column[] = {w->layer_forward, w->layer_backward};
    static const char *const name[]   = {"forward", "backward"};
    fire_json_writer_t      *out      = fire_results_begin_line(log, "net");

    fire_net_describe(out, "layers", net);
    FIRE_TRY(fire_results_end_line(log));
    out = fire_results_begin_line(log, "layers");
    for (int k = 0; k < 2; k++) {
        fire_json_open(out, name[k], '[');
        for (int i = 0; i < fire_net_nlayer(net); i++)
            fire_json_add_rounded(out, NULL, per_pass(column[k][i]), 5);
        fire_json_close(out, ']');
    }
    return fire_results_end_line(log);
}

static fire_status_t keep_times(const fire_net_t *net, const stopwatch_t *w,
                                const fire_worker_t *worker, bool several)
{
    const fire_results_head_t head = {
        .kind    = "time",
        .net     = fire_net_name(net),
        .workers = worker->comm != NULL ? fire_comm_size(worker->comm) : 1,
        .batch   = batch_of(net)};
    char           *dir;
    fire_results_t *log;
    fire_status_t   st;

    if (flags.run_dir[0] == '\0' || worker->rank != 0) return FIRE_OK;
    if (several)
        FIRE_TRY(
            fire_asprintf(&dir, "%s/batch%lld", flags.run_dir, (long long)head.batch));
    else
        FIRE_TRY(fire_strdup(flags.run_dir, &dir));
    st = results_open(dir, &head, &log);
    if (st >= 0) st = fire_results_close(log, log_lines(log, net, w));
    fire_free(dir);
    return st;
}

/* ---- the command ---- */

/* Measure one batch size; 0: the net's own. */
static fire_status_t time_batch(int64_t batch, const fire_worker_t *worker,
                                bool several, fire_json_writer_t *out)
{
    net_shapes_t  shapes = {&flags.shape, batch};
    fire_net_t   *net;
    stopwatch_t   w = {0};
    fire_status_t st;

    FIRE_TRY(net_flags_open(CAFFE__PHASE__TRAIN, net_flags_set_shapes, &shapes, &net));
    if (worker->threads > 0) fire_net_set_threads(net, worker->threads);
    FIRE_TRY_GOTO(st, FIRE_NEW(&w.layer_forward, fire_net_nlayer(net)), done);
    FIRE_TRY_GOTO(st, FIRE_NEW(&w.layer_backward, fire_net_nlayer(net)), done);
    FIRE_TRY_GOTO(st, measure(net, worker, &w), done);
    report(net, &w);
    write_times(out, net, &w);
    st = keep_times(net, &w, worker, several);
done:
    fire_free(w.layer_forward);
    fire_free(w.layer_backward);
    net_flags_close(net);
    return st;
}

static fire_status_t time_batches(const list_t *batches, const fire_worker_t *worker,
                                  fire_json_writer_t *out)
{
    fire_json_open(out, NULL, '{');
    fire_json_add_string(out, "model", net_flags.model);
    fire_json_add_int(out, "workers",
                      worker->comm != NULL ? fire_comm_size(worker->comm) : 1);
    fire_json_open(out, "times", '[');
    if (batches->n == 0) FIRE_TRY(time_batch(0, worker, false, out));
    for (int i = 0; i < batches->n; i++) {
        int n;

        FIRE_TRY(list_count("batch", batches->word[i], &n));
        FIRE_TRY(time_batch(n, worker, batches->n > 1, out));
    }
    fire_json_close(out, ']');
    fire_json_close(out, '}');
    return out->status;
}

/* Every worker measures at the same time, so that they share the machine as in
 * training; rank 0 prints. */
static fire_status_t work(void *arg, const fire_worker_t *worker)
{
    fire_json_writer_t out = {.indent = 1};
    fire_status_t      st  = time_batches(arg, worker, &out);

    if (st >= 0 && flags.json && worker->rank == 0) puts(out.out.text);
    fire_json_writer_fini(&out);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_workers_t workers = {.threads = (int)net_flags.threads,
                              .comm    = FIRE_COMM_OPTIONS_INIT};
    list_t         batches = {0};
    fire_status_t  st      = FIRE_OK;

    (void)narg, (void)arg;
    if (flags.iterations < 1)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "--iterations must be at least 1");
    if (st >= 0 && flags.batch[0] != '\0')
        st = list_cut("batch", flags.batch, &batches);
    net_flags.lean = true;
    st             = workers_run(&workers, st, work, &batches);
    fire_free(batches.text);
    return st;
}

const command_t command_time = {
    .name      = "time",
    .arguments = "--model FILE",
    .summary   = "measure forward and backward of every layer",
    .help   = "Runs --iterations forward and backward passes, after one that is not\n"
              "counted, and logs the mean time of every layer. The phase is TRAIN;\n"
              "with --phase=TEST a CPU runs no backward pass, nor does a net\n"
              "without a loss. Several workers measure at the same time, as they\n"
              "would train. If data are missing, --shape or the layer's crop_size\n"
              "gives the shape of the input.\n"
              "\n"
              "Examples:\n"
              "  firecaffe time --model models/alexnet/deploy.prototxt \\\n"
              "      --iterations 10\n"
              "  firecaffe time --model net.prototxt --kernel Convolution=ref \\\n"
              "      --threads 1\n"
              "  mpirun -np 2 firecaffe time --model net.prototxt --batch 16,32 \\\n"
              "      --json > times.json\n"
              "  firecaffe time --model net.prototxt --run_dir runs/times\n",
    .groups = groups,
    .run    = run,
};
