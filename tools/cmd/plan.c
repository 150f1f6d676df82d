/* firecaffe plan - what a cluster would give: predicted steps of a net for batches,
 * worker counts and ways to sum gradients, and what to use. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/log.h"
#include "command.h"
#include "comm/select/select.h"
#include "device/cpu/parallel.h"
#include "flags/lists.h"
#include "plan.h"
#include "results.h"
#include "flags/shapes.h"

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
                "the cluster; machines/ has some; \"measure\": this one, under mpirun"),
    FIRE_OPTION(flags_t, save, PATH, "machine.json", "FILE",
                "where what was measured is written"),
    FIRE_OPTION(flags_t, times, PATH, "", "FILE",
                "measured times of the layers, from `time --json`"),
    FIRE_OPTION(flags_t, batch, STRING, "1024", "LIST",
                "samples of a step; N/worker: each"),
    FIRE_OPTION(flags_t, workers, STRING, "1,2,4,8,16,32,64,128,256,512,1024", "LIST",
                "how many workers"),
    FIRE_OPTION(flags_t, comm, STRING, "all", "LIST",
                "NAME[:colors=K][:piece=BYTES], as of `bench allreduce`, or all"),
    FIRE_OPTION(flags_t, compress, STRING, "none", "HOW", "what gradients travel as"),
    FIRE_OPTION(flags_t, bucket_mb, DOUBLE, "4", "X",
                "gradients that travel together; 0: all"),
    FIRE_OPTION(flags_t, overlap, STRING, "thread", "HOW",
                "sum gradients during backward: thread, poll, off"),
    FIRE_OPTION(flags_t, baseline, STRING, NULL, "RATE",
                "count speed-up from RATE samples/s, which one worker gives today, "
                "instead of from its prediction"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "write the predictions there too, for `report`"),
    FIRE_OPTION(flags_t, json, BOOL, "false", NULL, "JSON instead of tables"),
    FIRE_OPTION(flags_t, layers, BOOL, "false", NULL,
                "print what a worker does in each layer instead, for bench/sim"),
    FIRE_OPTION(flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
                "take this shape instead of reading the layer's data"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* ---- lists ---- */

/* N, or N/worker. */
static fire_status_t parse_batch(const char *word, int workers, int *batch_p)
{
    const char *each  = strstr(word, "/worker");
    bool        mine  = each != NULL && each[strlen("/worker")] == '\0';
    char        n[16] = "";

    snprintf(n, sizeof(n), "%.*s", mine ? (int)(each - word) : 15, word);
    FIRE_TRY(list_count("batch", n, batch_p));
    if (mine) *batch_p *= workers;
    return FIRE_OK;
}

/* Those whose messages are known. Without several workers a node, hier is rhd. */
static fire_status_t all_algorithms(const plan_t *p, fire_str_t *out)
{
    for (int i = 0; fire_algo_at(i) != NULL; i++) {
        const fire_algo_t *algo    = fire_algo_at(i);
        bool               by_node = algo->flags & FIRE_ALGO_BY_NODE;

        if (algo->flags & FIRE_ALGO_NATIVE || strcmp(algo->name, "onesided") == 0 ||
            (by_node && p->cluster.per_node == 1))
            continue;
        FIRE_TRY(fire_str_printf(out, "%s%s", out->n > 0 ? "," : "", algo->name));
    }
    return FIRE_OK;
}

/* ---- the grid ---- */

/* Samples/s that the row's speed-up counts from. */
static fire_status_t find_baseline(const plan_t *p, const plan_row_t *row,
                                   double *rate_p)
{
    const fire_cost_curve_t none = {.bytes = {1, 2, 3, 4}};
    plan_row_t              one  = *row;
    fire_step_times_t       alone;

    *rate_p = p->baseline;
    if (p->baseline > 0) return FIRE_OK;
    one.workers = 1;
    FIRE_TRY(plan_replay(p, &one, &none, p->bucket, p->overlap, &alone));
    *rate_p = row->batch / alone.total;
    return FIRE_OK;
}

static fire_status_t add_row(plan_t *p, const plan_row_t *wanted)
{
    plan_row_t r = *wanted;
    double     baseline;

    if (r.batch < r.workers) {
        FIRE_LOG(WARNING, "a batch of %d is too small for %d workers", r.batch,
                 r.workers);
        return FIRE_OK;
    }
    FIRE_TRY(plan_replay(p, &r, &r.curve, p->bucket, p->overlap, &r.t));
    FIRE_TRY(find_baseline(p, &r, &baseline));
    r.speedup = r.batch / r.t.total / baseline;
    FIRE_TRY(fire_grow(&p->row, &p->cap, p->nrow + 1, sizeof(*p->row)));
    p->row[p->nrow++] = r;
    return FIRE_OK;
}

static fire_status_t add_rows(plan_t *p, const list_t *batches, plan_row_t *r)
{
    for (int b = 0; b < batches->n; b++) {
        FIRE_TRY(parse_batch(batches->word[b], r->workers, &r->batch));
        FIRE_TRY(add_row(p, r));
    }
    return FIRE_OK;
}

/* For all worker counts and algorithms; what one worker does needs none. */
static fire_status_t list_modes(const list_t *workers, const list_t *comms,
                                plan_row_t *mode, int *n_p)
{
    const fire_codec_t *codec;
    float               arg;

    FIRE_TRY(fire_codec_find(flags.compress, &codec, &arg));
    for (int w = 0; w < workers->n; w++)
        for (int a = 0; a < comms->n; a++) {
            plan_row_t    r = {.comm = comms->word[a]};
            fire_choice_t choice;

            FIRE_TRY(list_count("workers", workers->word[w], &r.workers));
            FIRE_TRY(fire_choice_parse(r.comm, &choice));
            r.mode = (fire_mode_t){choice.algo, codec, choice.colors, choice.piece};
            if (r.workers > 1 || a == 0) mode[(*n_p)++] = r;
        }
    return FIRE_OK;
}

/* Those of many workers, which take longest, come last in the list and go first. */
static fire_status_t price(const fire_cluster_t *c, plan_row_t *mode, int n)
{
    FIRE_PARALLEL_UNEVEN(i, n)
    {
        plan_row_t *m = &mode[n - 1 - i];

        (void)fire_cost_curve_make(c, &m->mode, m->workers, &m->curve);
    }
    for (int i = 0; i < n; i++) /* what a thread said of a failure is lost with it */
        if (mode[i].curve.card == 0)
            FIRE_TRY(fire_cost_curve_make(c, &mode[i].mode, mode[i].workers,
                                          &mode[i].curve));
    return FIRE_OK;
}

static fire_status_t fill(plan_t *p, const list_t *batches, const list_t *workers,
                          const list_t *comms)
{
    plan_row_t   *mode;
    int           n = 0;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&mode, workers->n * comms->n));
    st = list_modes(workers, comms, mode, &n);
    if (st >= 0) st = price(&p->cluster, mode, n);
    for (int i = 0; st >= 0 && i < n; i++)
        st = add_rows(p, batches, &mode[i]);
    fire_free(mode);
    return st;
}

/* ---- what is shown ---- */

static void print_head(const plan_t *p)
{
    printf("%s on %s\n\n", net_flags.model, p->cluster.name);
    printf("|W| %.4g MB of weights, |D| %.4g MB of inputs per sample, both of the\n"
           "convolution and inner product layers; %.4g MB of gradients in all\n"
           "forward: %.4g GFLOP, %.4g MB read and written per sample\n",
           p->net.w_bytes / 1e6, p->net.d_bytes / 1e6, p->net.weights / 1e6,
           p->net.flops / 1e9, p->net.moved / 1e6);
}

static void print_rows(const plan_t *p)
{
    double bw = p->cluster.net.bandwidth;

    printf("\n%8s %7s  %-14s %10s %10s %8s %6s %9s %9s %9s %8s %8s | %9s %9s\n",
           "batch", "workers", "comm", "step ms", "samples/s", "speed-up", "eff.",
           "compute", "exposed", "hidden", "wire MB", "mem GB", "|W|p/BW", "|W|lg/BW");
    for (int64_t i = 0; i < p->nrow; i++) {
        const plan_row_t *r    = &p->row[i];
        bool              best = r == plan_best(p, r->batch, r->workers);

        printf("%8d %7d%c %-14s %10.4g %10.4g %8.4g %5.0f%% %9.4g %9.4g %9.4g %8.4g "
               "%8.3g | %9.4g %9.4g\n",
               r->batch, r->workers, best ? '*' : ' ', r->comm, 1e3 * r->t.total,
               r->batch / r->t.total, r->speedup, 100 * r->speedup / r->workers,
               1e3 * r->t.compute, 1e3 * r->t.exposed, 1e3 * (r->t.comm - r->t.exposed),
               r->t.bytes / 1e6, r->t.memory / 1e9,
               1e3 * p->net.w_bytes * r->workers / bw,
               1e3 * p->net.w_bytes * log2(r->workers) / bw);
    }
    printf("\nTimes in ms. * is the fastest for that many workers. wire MB: what the\n"
           "worker that sends most sends in a step; mem GB: weights, gradients,\n"
           "history and activations of a worker. Right of the bar: the FireCaffe\n"
           "paper's equations for a parameter server and a reduction tree.\n");
    if (p->baseline > 0)
        printf("Speed-up and efficiency count from %.4g samples/s (--baseline).\n",
               p->baseline);
    else
        printf("Speed-up and efficiency count from one worker's predicted step.\n");
}

static void add_baseline(fire_json_writer_t *w, const plan_t *p)
{
    if (p->baseline > 0)
        fire_json_add_rounded(w, "baseline_samples_per_s", p->baseline, 6);
}

static void add_row_members(fire_json_writer_t *w, const plan_row_t *r)
{
    fire_json_add_int(w, "batch", r->batch);
    fire_json_add_int(w, "workers", r->workers);
    fire_json_add_string(w, "comm", r->comm);
    fire_json_add_rounded(w, "step_s", r->t.total, 6);
    fire_json_add_rounded(w, "samples_per_s", r->batch / r->t.total, 6);
    fire_json_add_rounded(w, "speedup", r->speedup, 6);
    fire_json_add_rounded(w, "efficiency", r->speedup / r->workers, 6);
    fire_json_add_rounded(w, "compute_s", r->t.compute, 6);
    fire_json_add_rounded(w, "update_s", r->t.update, 6);
    fire_json_add_rounded(w, "exposed_s", r->t.exposed, 6);
    fire_json_add_rounded(w, "hidden_s", r->t.comm - r->t.exposed, 6);
    fire_json_add_rounded(w, "bytes", r->t.bytes, 9);
    fire_json_add_rounded(w, "memory", r->t.memory, 9);
}

/* run.jsonl: every row as a `step`. */
static fire_status_t log_rows(const plan_t *p)
{
    const results_head_t head = {.kind = "plan", .net = p->name, .workers = 1};
    results_t           *log;
    fire_status_t        st = FIRE_OK;

    FIRE_TRY(results_open(flags.run_dir, &head, &log));
    for (int64_t i = 0; log != NULL && st >= 0 && i < p->nrow; i++) {
        fire_json_writer_t *w = results_begin_line(log, "step");

        fire_json_add_string(w, "net", p->name);
        fire_json_add_string(w, "machine", p->cluster.name);
        fire_json_add_string(w, "overlap", p->overlap ? "on" : "off");
        add_baseline(w, p);
        add_row_members(w, &p->row[i]);
        st = results_end_line(log);
    }
    return results_close(log, st);
}

static void write_row(fire_json_writer_t *w, const plan_row_t *r)
{
    fire_json_open(w, NULL, '{');
    add_row_members(w, r);
    fire_json_close(w, '}');
}

static fire_status_t print_json(const plan_t *p, const char *advice)
{
    fire_json_writer_t w = {.indent = 1};

    fire_json_open(&w, NULL, '{');
    fire_json_add_string(&w, "model", net_flags.model);
    fire_json_add_string(&w, "machine", p->cluster.name);
    fire_json_add_rounded(&w, "w_bytes", p->net.w_bytes, 9);
    fire_json_add_rounded(&w, "d_bytes_per_sample", p->net.d_bytes, 9);
    fire_json_add_rounded(&w, "gradient_bytes", p->net.weights, 9);
    fire_json_add_rounded(&w, "forward_flop_per_sample", p->net.flops, 9);
    add_baseline(&w, p);
    fire_json_open(&w, "rows", '[');
    for (int64_t i = 0; i < p->nrow; i++)
        write_row(&w, &p->row[i]);
    fire_json_close(&w, ']');
    fire_json_add_string(&w, "advice", advice);
    fire_json_close(&w, '}');
    if (w.status >= 0) puts(w.out.text);
    fire_json_writer_fini(&w);
    return w.status;
}

static bool is_new_batch(const plan_t *p, int64_t row)
{
    for (int64_t i = 0; i < row; i++)
        if (p->row[i].batch == p->row[row].batch) return false;
    return true;
}

/* Bytes of gradients, seconds forward and backward, name; for the first row. */
static void print_layers(const plan_t *p)
{
    fire_load_t load = plan_net_load(&p->net);
    int         each = p->nrow > 0 ? (p->row[0].batch - 1) / p->row[0].workers + 1 : 1;

    for (int i = 0; i < load.nlayer; i++)
        printf("%.0f %.9g %.9g %s\n", load.work[i].weights,
               fire_step_layer(&p->cluster, &load, false, i, each),
               fire_step_layer(&p->cluster, &load, true, i, each), p->net.name[i]);
}

/* Per-worker batches differ for every number of workers: no one can be advised. */
static fire_status_t show(const plan_t *p)
{
    fire_str_t    advice = {0};
    fire_status_t st     = FIRE_OK;

    for (int64_t i = 0; st >= 0 && i < p->nrow; i++)
        if (is_new_batch(p, i) && strstr(flags.batch, "/worker") == NULL)
            st = plan_advise(p, p->row[i].batch, &advice);
    if (st >= 0 && flags.layers) {
        print_layers(p);
    } else if (st >= 0 && flags.json) {
        st = print_json(p, advice.n > 0 ? advice.text : "");
    } else if (st >= 0) {
        print_head(p);
        print_rows(p);
        printf("%s", advice.n > 0 ? advice.text : "");
    }
    fire_str_fini(&advice);
    return st;
}

/* ---- the command ---- */

static fire_status_t make(plan_t *p)
{
    list_t        batches = {0}, workers = {0}, comms = {0};
    fire_str_t    all = {0};
    fire_status_t st;

    st = all_algorithms(p, &all);
    if (st >= 0) st = list_cut("batch", flags.batch, &batches);
    if (st >= 0) st = list_cut("workers", flags.workers, &workers);
    if (st >= 0)
        st = list_cut("comm", strcmp(flags.comm, "all") == 0 ? all.text : flags.comm,
                      &comms);
    if (st >= 0) st = fill(p, &batches, &workers, &comms);
    if (st >= 0) st = show(p);
    if (st >= 0) st = log_rows(p);
    fire_free(batches.text);
    fire_free(workers.text);
    fire_free(comms.text);
    fire_str_fini(&all);
    return st;
}

/* Nobody looks at the weights: random numbers for them would take most of the time. */
static void drop_fillers(Caffe__LayerParameter *l)
{
    if (l->convolution_param != NULL)
        fire_message_clear(
            l->convolution_param,
            fire_field_find(l->convolution_param->base.descriptor, "weight_filler"));
    if (l->inner_product_param != NULL)
        fire_message_clear(
            l->inner_product_param,
            fire_field_find(l->inner_product_param->base.descriptor, "weight_filler"));
}

static fire_status_t prepare(void *arg, Caffe__NetParameter *param)
{
    for (size_t i = 0; i < param->n_layer; i++)
        drop_fillers(param->layer[i]);
    return shapes_apply(arg, param);
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
    shapes_t      shapes = {&flags.shape, 1};
    plan_t        p      = {.bucket   = 1e6 * flags.bucket_mb,
                            .overlap  = strcmp(flags.overlap, "off") != 0,
                            .baseline = baseline};
    fire_net_t   *net;
    fire_status_t st;

    FIRE_TRY(fire_cluster_load(machine, &p.cluster));
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TRAIN, prepare, &shapes, &net));
    p.name = fire_net_name(net);
    st     = plan_net_read(net, &p.net);
    if (st >= 0 && flags.times[0] != '\0')
        st = plan_net_time(&p.net, &p.cluster, flags.times);
    if (st >= 0) st = make(&p);
    plan_net_fini(&p.net);
    fire_free(p.row);
    fire_net_destroy(net);
    return st;
}

/* All measure; the first one plans, if it was given a net. */
static fire_status_t measure(void *arg, const worker_t *worker)
{
    const double *baseline = arg;

    FIRE_TRY(plan_measure(worker, flags.save));
    if (worker->rank != 0 || net_flags.model[0] == '\0') return FIRE_OK;
    return plan(flags.save, *baseline);
}

static fire_status_t run(int narg, const char *const *arg)
{
    workers_t workers = {.threads = (int)net_flags.threads,
                         .comm    = FIRE_COMM_OPTIONS_INIT};
    double    baseline;

    (void)narg, (void)arg;
    FIRE_TRY(parse_baseline(&baseline));
    if (flags.machine[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need a cluster: --machine FILE");
    if (strcmp(flags.machine, "measure") != 0) return plan(flags.machine, baseline);
    if (!fire_cluster_launched())
        return FIRE_FAIL(FIRE_ERR_INVALID, "--machine measure wants several workers: "
                                           "mpirun -np 2 firecaffe plan ...");
    return workers_run(&workers, FIRE_OK, measure, &baseline);
}

const command_t command_plan = {
    .name      = "plan",
    .arguments = "--model FILE --machine FILE",
    .summary   = "predict training on a cluster, and say what to use there",
    .help   = "Replays a training step of the net on the described cluster for every\n"
              "batch, number of workers and way to sum gradients: computing by\n"
              "arithmetic and memory traffic, sums by simulating the very messages\n"
              "that would be sent. Data need not be there. The batch is that of all\n"
              "workers together. With --run_dir, `report` draws the predictions.\n"
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
    .groups = groups,
    .run    = run,
};
