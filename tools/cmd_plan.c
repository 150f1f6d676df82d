/* firecaffe plan - what a cluster would give: predicted steps of a net for batches,
 * worker counts and ways to sum gradients, and what to use. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/log.h"
#include "command.h"
#include "comm/select.h"
#include "plan.h"
#include "shapes.h"

typedef struct flags {
    const char        *machine, *batch, *workers, *comm, *compress, *overlap;
    double             bucket_mb;
    bool               json;
    fire_option_list_t shape;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, machine, STRING, "", "FILE",
                "the cluster; machines/ has some"),
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
    FIRE_OPTION(flags_t, json, BOOL, "false", NULL, "JSON instead of tables"),
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

enum { MAX_ITEMS = 64 };

typedef struct items {
    char *text;
    char *item[MAX_ITEMS];
    int   n;
} items_t;

static fire_status_t cut(const char *flag, const char *list, items_t *out)
{
    char *rest;

    FIRE_TRY(fire_strdup(list, &out->text));
    for (char *w = strtok_r(out->text, ",", &rest); w != NULL;
         w       = strtok_r(NULL, ",", &rest)) {
        if (out->n == MAX_ITEMS)
            return FIRE_FAIL(FIRE_ERR_INVALID, "--%s: more than %d", flag, MAX_ITEMS);
        out->item[out->n++] = w;
    }
    return FIRE_OK;
}

static fire_status_t parse_count(const char *flag, const char *text, int *n_p,
                                 bool *each_p)
{
    char *end;
    long  n = strtol(text, &end, 10);

    *each_p = strcmp(end, "/worker") == 0;
    if (end == text || n < 1 || n > 1 << 24 || (*end != '\0' && !*each_p))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--%s: no number like \"%s\"", flag, text);
    *n_p = (int)n;
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

static fire_status_t add_row(plan_t *p, const plan_row_t *wanted)
{
    plan_row_t        r = *wanted;
    fire_step_times_t alone;

    if (r.batch < r.workers) {
        FIRE_LOG(WARNING, "a batch of %d is too small for %d workers", r.batch,
                 r.workers);
        return FIRE_OK;
    }
    FIRE_TRY(plan_replay(p, &r, &r.tariff, p->bucket, p->overlap, &r.t));
    {
        const fire_tariff_t none = {.bytes = {1, 2, 3, 4}};
        plan_row_t          one  = r;

        one.workers = 1;
        FIRE_TRY(plan_replay(p, &one, &none, p->bucket, p->overlap, &alone));
    }
    r.speedup = alone.total / r.t.total;
    FIRE_TRY(fire_grow(&p->row, &p->cap, p->nrow + 1, sizeof(*p->row)));
    p->row[p->nrow++] = r;
    return FIRE_OK;
}

static fire_status_t add_rows(plan_t *p, const items_t *batches, plan_row_t *r)
{
    float arg;

    FIRE_TRY(fire_codec_find(flags.compress, &r->mode.codec, &arg));
    FIRE_TRY(fire_tariff_make(&p->cluster, &r->mode, r->workers, &r->tariff));
    for (int b = 0; b < batches->n; b++) {
        bool each;

        FIRE_TRY(parse_count("batch", batches->item[b], &r->batch, &each));
        if (each) r->batch *= r->workers;
        FIRE_TRY(add_row(p, r));
    }
    return FIRE_OK;
}

static fire_status_t fill(plan_t *p, const items_t *batches, const items_t *workers,
                          const items_t *comms)
{
    for (int w = 0; w < workers->n; w++)
        for (int a = 0; a < comms->n; a++) {
            plan_row_t    r = {.comm = comms->item[a]};
            fire_choice_t choice;
            bool          each;

            FIRE_TRY(parse_count("workers", workers->item[w], &r.workers, &each));
            FIRE_TRY(fire_choice_parse(r.comm, &choice));
            r.mode = (fire_mode_t){
                .algo = choice.algo, .colors = choice.colors, .piece = choice.piece};
            if (r.workers > 1 || a == 0) FIRE_TRY(add_rows(p, batches, &r));
        }
    return FIRE_OK;
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

    printf("\n%8s %7s  %-14s %10s %10s %8s %6s %9s %9s %9s %8s | %9s %9s\n", "batch",
           "workers", "comm", "step ms", "samples/s", "speed-up", "eff.", "compute",
           "exposed", "hidden", "mem GB", "|W|p/BW", "|W|lg/BW");
    for (int64_t i = 0; i < p->nrow; i++) {
        const plan_row_t *r    = &p->row[i];
        bool              best = r == plan_best(p, r->batch, r->workers);

        printf("%8d %7d%c %-14s %10.4g %10.4g %8.4g %5.0f%% %9.4g %9.4g %9.4g %8.3g | "
               "%9.4g %9.4g\n",
               r->batch, r->workers, best ? '*' : ' ', r->comm, 1e3 * r->t.total,
               r->batch / r->t.total, r->speedup, 100 * r->speedup / r->workers,
               1e3 * r->t.compute, 1e3 * r->t.exposed, 1e3 * (r->t.comm - r->t.exposed),
               r->t.memory / 1e9, 1e3 * p->net.w_bytes * r->workers / bw,
               1e3 * p->net.w_bytes * log2(r->workers) / bw);
    }
    printf(
        "\nTimes in ms. * is the fastest for that many workers. Right of the bar: the\n"
        "FireCaffe paper's equations for a parameter server and a reduction tree.\n");
}

static void write_row(fire_json_writer_t *w, const plan_row_t *r)
{
    fire_json_open(w, NULL, '{');
    fire_json_add_int(w, "batch", r->batch);
    fire_json_add_int(w, "workers", r->workers);
    fire_json_add_string(w, "comm", r->comm);
    fire_json_add_rounded(w, "step_s", r->t.total, 6);
    fire_json_add_rounded(w, "samples_per_s", r->batch / r->t.total, 6);
    fire_json_add_rounded(w, "speedup", r->speedup, 6);
    fire_json_add_rounded(w, "efficiency", r->speedup / r->workers, 6);
    fire_json_add_rounded(w, "compute_s", r->t.compute, 6);
    fire_json_add_rounded(w, "update_s", r->t.update, 6);
    fire_json_add_rounded(w, "comm_s", r->t.comm, 6);
    fire_json_add_rounded(w, "exposed_s", r->t.exposed, 6);
    fire_json_add_rounded(w, "wire_bytes", r->t.bytes, 9);
    fire_json_add_rounded(w, "memory_bytes", r->t.memory, 9);
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

/* Per-worker batches differ for every number of workers: no one can be advised. */
static fire_status_t show(const plan_t *p)
{
    fire_str_t    advice = {0};
    fire_status_t st     = FIRE_OK;

    for (int64_t i = 0; st >= 0 && i < p->nrow; i++)
        if (is_new_batch(p, i) && strstr(flags.batch, "/worker") == NULL)
            st = plan_advise(p, p->row[i].batch, &advice);
    if (st >= 0 && flags.json) {
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
    items_t       batches = {0}, workers = {0}, comms = {0};
    fire_str_t    all = {0};
    fire_status_t st;

    st = all_algorithms(p, &all);
    if (st >= 0) st = cut("batch", flags.batch, &batches);
    if (st >= 0) st = cut("workers", flags.workers, &workers);
    if (st >= 0)
        st =
            cut("comm", strcmp(flags.comm, "all") == 0 ? all.text : flags.comm, &comms);
    if (st >= 0) st = fill(p, &batches, &workers, &comms);
    if (st >= 0) st = show(p);
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

static fire_status_t run(int narg, const char *const *arg)
{
    shapes_t      shapes = {&flags.shape, 1};
    plan_t        p      = {.bucket  = 1e6 * flags.bucket_mb,
                            .overlap = strcmp(flags.overlap, "off") != 0};
    fire_net_t   *net;
    fire_status_t st;

    (void)narg, (void)arg;
    if (flags.machine[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need a cluster: --machine FILE");
    FIRE_TRY(fire_cluster_load(flags.machine, &p.cluster));
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TRAIN, prepare, &shapes, &net));
    st = plan_net_read(net, &p.net);
    if (st >= 0) st = make(&p);
    plan_net_fini(&p.net);
    fire_free(p.row);
    fire_net_destroy(net);
    return st;
}

const command_t command_plan = {
    .name      = "plan",
    .arguments = "--model FILE --machine FILE",
    .summary   = "predict training on a cluster, and say what to use there",
    .help =
        "Replays a training step of the net on the described cluster for every batch,\n"
        "number of workers and way to sum gradients: computing by arithmetic and "
        "memory\n"
        "traffic, sums by simulating the very messages that would be sent. Data need "
        "not\n"
        "be there. The batch is that of all workers together.\n"
        "\n"
        "Examples:\n"
        "  firecaffe plan --model models/resnet50/train_val.prototxt "
        "--machine machines/h200x8.json\n"
        "  firecaffe plan --model models/googlenet/train_val.prototxt "
        "--machine machines/titan_k20x.json --workers 32,128 --comm tree,ps "
        "--overlap off\n"
        "  firecaffe plan --model models/vgg19/train_val.prototxt "
        "--machine machines/ethernet10.json --batch 32/worker --compress fp16\n",
    .groups = groups,
    .run    = run,
};
