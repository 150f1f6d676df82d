/* firecaffe plan - predicts training steps of a net on a cluster for batch sizes,
 * worker counts and algorithms, and recommends settings (src/plan/plan.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "command.h"
#include "comm/select/select.h"
#include "flags/lists.h"
#include "flags/results.h"
#include "flags/net.h"
#include "flags/workers.h"
#include "view/plan.h"

typedef struct flags {
    const char *machine, *save, *times, *batch, *workers, *comm, *compress, *overlap,
        *baseline, *run_dir;
    double             bucket_mb;
    bool               json, layers;
    fire_option_list_t shape;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, machine, PATH, "", "FILE",
                "cluster file, as those in machines/; \"measure\": measure this "
                "cluster, under mpirun"),
    FIRE_OPTION(flags_t, save, PATH, "machine.json", "FILE",
                "write the measured cluster to FILE"),
    FIRE_OPTION(flags_t, times, PATH, "", "FILE",
                "measured times of layers, as `time --json` prints them"),
    FIRE_OPTION(flags_t, batch, STRING, "1024", "LIST",
                "samples per step of all workers together; N/worker: of each worker"),
    FIRE_OPTION(flags_t, workers, STRING, "1,2,4,8,16,32,64,128,256,512,1024", "LIST",
                "numbers of workers"),
    FIRE_OPTION(
        flags_t, comm, STRING, "all", "LIST",
        "algorithms: NAME[:colors=K][:piece=BYTES], as of `bench allreduce`, or all"),
    FIRE_OPTION_OF(
        flags_t, compress, STRING, "none", "HOW", "none fp16 bf16 1bit threshold=",
        "compress gradients on the network: none, fp16, bf16, 1bit, threshold=T"),
    FIRE_OPTION(flags_t, bucket_mb, DOUBLE, "4", "X",
                "sum gradients in buckets of X MB; 0: all in one"),
    FIRE_OPTION_OF(flags_t, overlap, STRING, "thread", "HOW", "thread poll off",
                   "sum gradients during backward: thread, poll, off"),
    FIRE_OPTION(
        flags_t, baseline, STRING, NULL, "RATE",
        "samples/s that speed-ups count from (default: the prediction for one worker)"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "write the predictions to DIR too, for `report`"),
    FIRE_OPTION(flags_t, json, BOOL, "false", NULL, "print JSON instead of tables"),
    FIRE_OPTION(flags_t, layers, BOOL, "false", NULL,
                "print the cost of each layer instead, for bench/sim"),
    FIRE_OPTION(
        flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
        "shape of a blob, instead of reading the layer's data; may be repeated"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* ---- lists ---- */

enum { MOST = LIST_MOST };

/* The axes of the grid, parsed from the flags. The lists own the texts. */
typedef struct axes {
    list_t            batch_list, workers_list, comm_list;
    fire_plan_batch_t batch[MOST];
    int               workers[MOST];
} axes_t;

/* "N", or "N/worker". */
static fire_status_t parse_batch(const char *word, fire_plan_batch_t *batch_p)
{
    const char *each  = strstr(word, "/worker");
    char        n[16] = "";

    batch_p->per_worker = each != NULL && each[strlen("/worker")] == '\0';
    snprintf(n, sizeof(n), "%.*s", batch_p->per_worker ? (int)(each - word) : 15, word);
    return list_count("batch", n, &batch_p->size);
}

/* The names of all algorithms that can be simulated here. */
static fire_status_t all_algorithms(const fire_plan_t *p, fire_str_t *out)
{
    for (int i = 0; fire_algo_at(i) != NULL; i++)
        if (fire_plan_can_price(p, fire_algo_at(i)))
            FIRE_TRY(fire_str_printf(out, "%s%s", out->n > 0 ? "," : "",
                                     fire_algo_at(i)->name));
    return FIRE_OK;
}

static fire_status_t parse_axes(const fire_plan_t *p, axes_t *a)
{
    fire_str_t    all = {0};
    fire_status_t st  = all_algorithms(p, &all);

    if (st >= 0) st = list_cut("batch", flags.batch, &a->batch_list);
    if (st >= 0) st = list_cut("workers", flags.workers, &a->workers_list);
    if (st >= 0)
        st = list_cut("comm", strcmp(flags.comm, "all") == 0 ? all.text : flags.comm,
                      &a->comm_list);
    for (int i = 0; st >= 0 && i < a->workers_list.n; i++)
        st = list_count("workers", a->workers_list.word[i], &a->workers[i]);
    for (int i = 0; st >= 0 && i < a->batch_list.n; i++)
        st = parse_batch(a->batch_list.word[i], &a->batch[i]);
    fire_str_fini(&all);
    return st;
}

static fire_status_t fill(fire_plan_t *p, const axes_t *a)
{
    const fire_plan_axes_t axes = {.batch    = a->batch,
                                   .workers  = a->workers,
                                   .comm     = a->comm_list.word,
                                   .nbatch   = a->batch_list.n,
                                   .nworkers = a->workers_list.n,
                                   .ncomm    = a->comm_list.n,
                                   .compress = flags.compress};

    return fire_plan_fill(p, &axes);
}

/* ---- results ---- */

/* run.jsonl: every row as a `step`. */
static fire_status_t log_rows(const fire_plan_t *p)
{
    const fire_results_head_t head = {.kind = "plan", .net = p->name, .workers = 1};
    fire_results_t           *log;
    fire_status_t             st = FIRE_OK;

    FIRE_TRY(results_open(flags.run_dir, &head, &log));
    for (int64_t i = 0; log != NULL && st >= 0 && i < p->nrow; i++) {
        fire_json_writer_t *w = fire_results_begin_line(log, "step");

        fire_json_add_string(w, "net", p->name);
        fire_json_add_string(w, "machine", p->cluster.name);
        fire_json_add_string(w, "overlap", p->overlap ? "on" : "off");
        plan_view_add_baseline(w, p);
        plan_view_add_row(w, &p->row[i]);
        st = fire_results_end_line(log);
    }
    return fire_results_close(log, st);
}

static bool is_new_batch(const fire_plan_t *p, int64_t row)
{
    for (int64_t i = 0; i < row; i++)
        if (p->row[i].batch == p->row[row].batch) return false;
    return true;
}

/* One paragraph of advice per batch. Batches per worker differ with the number of
 * workers, so there is no one batch to advise for. */
static fire_status_t advise(const fire_plan_t *p, fire_str_t *out)
{
    if (strstr(flags.batch, "/worker") != NULL) return FIRE_OK;
    for (int64_t i = 0; i < p->nrow; i++)
        if (is_new_batch(p, i)) FIRE_TRY(fire_plan_advise(p, p->row[i].batch, out));
    return FIRE_OK;
}

static fire_status_t show(const fire_plan_t *p)
{
    fire_str_t    advice = {0};
    fire_status_t st     = advise(p, &advice);
    const char   *text   = advice.n > 0 ? advice.text : "";

    if (st >= 0 && flags.layers)
        plan_view_layers(p);
    else if (st >= 0 && flags.json)
        st = plan_view_json(p, net_flags.model, text);
    else if (st >= 0)
        plan_view_tables(p, net_flags.model, text);
    fire_str_fini(&advice);
    return st;
}

static fire_status_t make(fire_plan_t *p)
{
    axes_t        axes = {0};
    fire_status_t st   = parse_axes(p, &axes);

    if (st >= 0) st = fill(p, &axes);
    if (st >= 0) st = show(p);
    if (st >= 0) st = log_rows(p);
    fire_free(axes.batch_list.text);
    fire_free(axes.workers_list.text);
    fire_free(axes.comm_list.text);
    return st;
}

/* ---- the command ---- */

static fire_status_t prepare(void *arg, Caffe__NetParameter *param)
{
    fire_plan_drop_fillers(param);
    return net_flags_set_shapes(arg, param);
}

/* 0 without the flag. */
static fire_status_t parse_baseline(double *rate_p)
{
    const char *text = flags.baseline;
    double      rate = 0;

    if (text != NULL &&
        (!fire_number_parse(text, strlen(text), &rate) || rate <= 0 || !isfinite(rate)))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--baseline takes samples/s, a number above 0, not \"%s\"",
                         text);
    *rate_p = rate;
    return FIRE_OK;
}

static fire_status_t plan(const char *machine, double baseline)
{
    net_shapes_t  shapes = {&flags.shape, 1};
    fire_plan_t   p      = {.bucket   = 1e6 * flags.bucket_mb,
                            .overlap  = strcmp(flags.overlap, "off") != 0,
                            .baseline = baseline};
    fire_net_t   *net;
    fire_status_t st;

    FIRE_TRY(fire_cluster_load(machine, &p.cluster));
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TRAIN, prepare, &shapes, &net));
    p.name = fire_net_name(net);
    st     = fire_plan_net_read(net, &p.net);
    if (st >= 0 && flags.times[0] != '\0')
        st = fire_plan_net_time(&p.net, &p.cluster, flags.times);
    if (st >= 0) st = make(&p);
    fire_plan_fini(&p);
    fire_net_destroy(net);
    return st;
}

/* Every worker measures; rank 0 plans afterwards, if a net was given. */
static fire_status_t measure(void *arg, const fire_worker_t *worker)
{
    const double *baseline = arg;

    FIRE_TRY(fire_plan_measure(worker->comm, worker->threads, flags.save));
    if (worker->rank != 0 || net_flags.model[0] == '\0') return FIRE_OK;
    return plan(flags.save, *baseline);
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_workers_t workers = {.threads = (int)net_flags.threads,
                              .comm    = FIRE_COMM_OPTIONS_INIT};
    double         baseline;

    (void)narg, (void)arg;
    FIRE_TRY(parse_baseline(&baseline));
    if (flags.machine[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "need a cluster: --machine FILE");
    if (strcmp(flags.machine, "measure") != 0) return plan(flags.machine, baseline);
    if (!fire_cluster_launched())
        return FIRE_FAIL(FIRE_ERR_INVALID, "--machine measure needs several workers: "
                                           "mpirun -np 2 firecaffe plan ...");
    return workers_run(&workers, FIRE_OK, measure, &baseline);
}

const command_t command_plan = {
    .name      = "plan",
    .arguments = "--model FILE --machine FILE",
    .summary   = "predict training on a cluster and recommend settings",
    .help      = "Predicts the time of a training step on a cluster for every batch\n"
                 "size, number of workers and algorithm that sums gradients, and\n"
                 "recommends settings. Computing time follows from arithmetic and\n"
                 "memory traffic, or from measured --times; communication is simulated\n"
                 "message by message. The data sets need not be there. With --run_dir,\n"
                 "`report` draws the predictions.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe plan --model models/resnet50/train_val.prototxt \\\n"
                 "      --machine machines/h200x8.json\n"
                 "  firecaffe plan --model models/googlenet/train_val.prototxt \\\n"
                 "      --machine machines/titan_k20x.json --workers 32,128 \\\n"
                 "      --comm tree,ps --overlap off\n"
                 "  mpirun -np 2 firecaffe plan --machine measure --save here.json\n"
                 "  firecaffe plan --model models/vgg19/train_val.prototxt \\\n"
                 "      --machine machines/ethernet10.json --batch 32/worker \\\n"
                 "      --compress fp16\n",
    .groups    = groups,
    .run       = run,
};
