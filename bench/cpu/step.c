/* step.c - times whole training steps (forward, backward, update) or inference of one
 * net on synthetic data, in this process, and prints one line of JSON:
 *
 *     bench_step MODEL_DIR BATCH [flags]
 *
 * MODEL_DIR holds train_val.prototxt, whose data layer is replaced, and
 * deploy.prototxt, which tells the size of an image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "device/cpu/blas.h"
#include "device/cpu/parallel.h"
#include "device/cpu/raw.h"
#include "device/gpu.h"
#include "model/load.h"
#include "net/net_state.h"
#include "train/trainer.h"

enum { STREAM = 1 << 25 }; /* floats of an array too large for any cache */

typedef struct flags {
    const char *model;
    int         batch, steps;
    bool        infer, layers;
    bool        turns; /* run a step for each line of stdin: turns.py */
    fire_ctx_t  ctx;
} flags_t;

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static fire_status_t load(const flags_t *f, const char *file, Caffe__NetParameter **p_p)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", f->model, file);
    return fire_net_param_load_text(path, p_p);
}

static fire_status_t add_shape(Caffe__InputParameter *in, int ndim, const int64_t *dim)
{
    Caffe__BlobShape *s;

    FIRE_TRY(FIRE_NEW(&s, 1));
    caffe__blob_shape__init(s);
    FIRE_TRY(FIRE_NEW(&s->dim, ndim));
    memcpy(s->dim, dim, (size_t)ndim * sizeof(*dim));
    s->n_dim                 = (size_t)ndim;
    in->shape[in->n_shape++] = s;
    return FIRE_OK;
}

/* Turn a data layer into an Input with the same tops. */
static fire_status_t make_input(Caffe__LayerParameter *l, int64_t batch,
                                const Caffe__BlobShape *image)
{
    int64_t dim[4] = {batch, image->dim[1], image->dim[2], image->dim[3]};

    l->type = (char *)"Input";
    FIRE_TRY(FIRE_NEW(&l->input_param, 1));
    caffe__input_parameter__init(l->input_param);
    FIRE_TRY(FIRE_NEW(&l->input_param->shape, 2));
    FIRE_TRY(add_shape(l->input_param, 4, dim));
    return l->n_top > 1 ? add_shape(l->input_param, 1, dim) : FIRE_OK;
}

static bool is_for(const Caffe__LayerParameter *l, Caffe__Phase phase)
{
    return l->n_include == 0 ||
           (l->include[0]->phase == phase && l->include[0]->n_stage == 0);
}

/* The net with Inputs in place of data layers. Its messages are never freed. */
static fire_status_t synthetic(const flags_t *f, Caffe__Phase phase,
                               Caffe__NetParameter **param_p)
{
    Caffe__NetParameter *net, *deploy;
    size_t               kept = 0;

    FIRE_TRY(load(f, "train_val.prototxt", &net));
    FIRE_TRY(load(f, "deploy.prototxt", &deploy));
    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *l = net->layer[i];

        if (strcmp(l->type, "Data") == 0) {
            if (!is_for(l, phase)) continue;
            FIRE_TRY(make_input(l, f->batch, deploy->layer[0]->input_param->shape[0]));
        }
        net->layer[kept++] = l;
    }
    net->n_layer = kept;
    *param_p     = net;
    return FIRE_OK;
}

static fire_status_t fill_inputs(fire_net_t *net)
{
    fire_blob_t *data  = fire_net_find_blob(net, "data");
    fire_blob_t *label = fire_net_find_blob(net, "label");
    float       *x;

    FIRE_TRY(fire_blob_write(data, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < fire_blob_count(data); i++)
        x[i] = fire_rng_gaussian(fire_rng_key(1, FIRE_RNG_FILL, 0, 0), (uint64_t)i);
    if (label == NULL) return FIRE_OK;
    FIRE_TRY(fire_blob_write(label, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < fire_blob_count(label); i++)
        x[i] = (float)(i * 7 % 10);
    return FIRE_OK;
}

/* ---- time per layer ---- */

/* The time when all queued work is done. Wall-clock time: the processor time of other
 * threads is updated only every few milliseconds. */
static double work_now(const fire_ctx_t *ctx)
{
    if (ctx->place == FIRE_GPU) fire_gpu_sync(ctx->stream);
    return fire_clock_now();
}

typedef struct layer_times {
    const fire_ctx_t *ctx;
    double            begin, *forward, *backward; /* [layer][steps] */
    int               steps, step;                /* wanted; done */
    float            *stream;                     /* two arrays to copy */
    double           *copy;                       /* [steps] */
} layer_times_t;

static fire_status_t begin(void *arg, int layer)
{
    layer_times_t *t = arg;

    (void)layer;
    t->begin = work_now(t->ctx);
    return FIRE_OK;
}

static fire_status_t end_forward(void *arg, int layer)
{
    layer_times_t *t = arg;

    t->forward[layer * t->steps + t->step] = work_now(t->ctx) - t->begin;
    return FIRE_OK;
}

static fire_status_t end_backward(void *arg, int layer)
{
    layer_times_t *t = arg;

    if (t->begin > 0)
        t->backward[layer * t->steps + t->step] = work_now(t->ctx) - t->begin;
    t->begin = 0;
    return FIRE_OK;
}

static fire_status_t watch(fire_net_t *net, int steps, layer_times_t *t)
{
    t->ctx   = &net->ctx;
    t->steps = steps;
    FIRE_TRY(FIRE_NEW(&t->forward, net->nlayer * steps));
    FIRE_TRY(FIRE_NEW(&t->backward, net->nlayer * steps));
    FIRE_TRY(FIRE_NEW(&t->stream, 2 * STREAM));
    FIRE_TRY(FIRE_NEW(&t->copy, steps));
    fire_fill(2 * STREAM, 1.0f, t->stream);
    net->watch = (fire_net_hooks_t){t, begin, end_forward, begin, end_backward};
    return FIRE_OK;
}

/* Memory bandwidth under the same conditions: a copy by the same threads between two
 * steps, of arrays too large for the caches. */
static void time_copy(layer_times_t *t)
{
    const void *from  = t->stream;
    double      begin = fire_clock_now();

    fire_raw_sum(FIRE_F32, STREAM, 1, NULL, &from, 1.0f, t->stream + STREAM);
    t->copy[t->step] = fire_clock_now() - begin;
}

/* The least that forward reads and writes: bottoms, tops and parameters once. */
static double megabytes(const fire_layer_t *l)
{
    int64_t n = 0;

    for (int i = 0; i < l->nbottom; i++)
        n += fire_blob_count(l->bottom[i]);
    for (int i = 0; i < l->ntop; i++)
        n += fire_blob_count(l->top[i]);
    for (int i = 0; i < l->nblob; i++)
        n += fire_blob_count(l->blob[i]);
    return 4e-6 * (double)n;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_ms(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof(*seconds), by_size);
    return (seconds[(n - 1) / 2] + seconds[n / 2]) * 0.5e3;
}

/* Print GB/s of a copy; then for each layer its name, type, kernel, milliseconds
 * forward and backward (medians of all steps), and GFLOP and MB of forward. */
static void print_layers(const fire_net_t *net, const layer_times_t *t)
{
    fprintf(stderr, "%.1f\n", 8e-6 * STREAM / median_ms(t->copy, t->steps));
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l    = &net->layer[i].base;
        double              macs = l->ops->macs != NULL ? l->ops->macs(l) : 0;

        fprintf(stderr, "%-32s %-16s %-8s %9.3f %9.3f %9.4f %9.3f\n", l->param->name,
                l->ops->type, l->kernel->name,
                median_ms(t->forward + i * t->steps, t->steps),
                median_ms(t->backward + i * t->steps, t->steps), 2e-9 * macs,
                megabytes(l));
    }
}

/* ---- what is timed ---- */

typedef struct work {
    fire_trainer_t *trainer; /* NULL: inference */
    fire_net_t     *net;
    double          loss;
} work_t;

static fire_status_t start_training(const flags_t *f, work_t *w)
{
    static Caffe__SolverParameter solver = CAFFE__SOLVER_PARAMETER__INIT;
    fire_trainer_options_t        o      = FIRE_TRAINER_OPTIONS_INIT;

    FIRE_TRY(synthetic(f, CAFFE__PHASE__TRAIN, &solver.train_net_param));
    solver.base_lr              = 0.001f;
    solver.lr_policy            = (char *)"fixed";
    solver.momentum             = 0.9f;
    solver.weight_decay         = 5e-4f;
    solver.max_iter             = 1000000;
    solver.snapshot_prefix      = (char *)"/tmp/bench";
    solver.snapshot_after_train = false;
    o.ctx                       = f->ctx;
    FIRE_TRY(fire_trainer_create(&solver, &o, &w->trainer));
    w->net = fire_trainer_net(w->trainer);
    return FIRE_OK;
}

static fire_status_t start_inference(const flags_t *f, work_t *w)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;

    o.ctx = f->ctx;
    FIRE_TRY(load(f, "deploy.prototxt", &param));
    param->layer[0]->input_param->shape[0]->dim[0] = f->batch;
    return fire_net_create(param, &o, &w->net);
}

static fire_status_t land(work_t *w, int ahead)
{
    fire_flight_t f;

    while (w->trainer != NULL && fire_trainer_nflight(w->trainer) > ahead)
        FIRE_TRY(fire_trainer_land(w->trainer, &f, &w->loss));
    return FIRE_OK;
}

static fire_status_t step(work_t *w)
{
    float loss;

    if (w->trainer == NULL) return fire_net_forward(w->net, 0, -1, &loss);
    FIRE_TRY(fire_trainer_launch(w->trainer));
    return land(w, fire_trainer_ahead(w->trainer));
}

/* Wait until all steps are done. */
static fire_status_t finish(work_t *w)
{
    FIRE_TRY(land(w, 0));
    return w->net->ctx.place == FIRE_GPU ? fire_gpu_sync(w->net->ctx.stream) : FIRE_OK;
}

/* Count the learned parameters, and the floating-point operations of a step by direct
 * algorithms: forward, and for each layer the gradients that are computed. */
static void count_work(const flags_t *f, const fire_net_t *net, int64_t *params_p,
                       double *gflop_p)
{
    *params_p = 0;
    *gflop_p  = 0;
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l    = &net->layer[i].base;
        int                 many = 1;

        for (int k = l->nstatistic; k < l->nblob; k++)
            *params_p += fire_blob_count(l->blob[k]);
        if (!f->infer)
            many += (l->nblob > 0) + (l->nbottom > 0 && l->propagate_down[0]);
        if (l->ops->macs != NULL) *gflop_p += 2e-9 * many * l->ops->macs(l);
    }
}

/* Steps timed together: on a GPU a tenth of all, as the host does not wait for each
 * one. */
static int in_a_row(const flags_t *f)
{
    enum { RUNS = 10 };

    return f->ctx.place == FIRE_GPU && f->steps > RUNS && !f->layers ? f->steps / RUNS
                                                                     : 1;
}

static bool is_my_turn(const flags_t *f)
{
    char line[8];

    fflush(stdout);
    return !f->turns || fgets(line, sizeof(line), stdin) != NULL;
}

static fire_status_t measure(const flags_t *f)
{
    work_t           w    = {0};
    layer_times_t    t    = {0};
    int              many = in_a_row(f);
    struct rusage    usage;
    fire_gpu_usage_t usage_gpu = {0};
    int64_t          params;
    double           gflop;

    FIRE_TRY(f->infer ? start_inference(f, &w) : start_training(f, &w));
    FIRE_TRY(fill_inputs(w.net));
    for (int i = 0; i < (in_a_row(f) > 1 ? 4 : 2); i++) /* warm up */
        FIRE_TRY(step(&w));
    FIRE_TRY(finish(&w));
    if (f->layers) FIRE_TRY(watch(w.net, f->steps, &t));
    count_work(f, w.net, &params, &gflop);
    printf("{\"model\": \"%s\", \"batch\": %d, \"mode\": \"%s\", \"threads\": %d, "
           "\"params\": %lld, \"gflop\": %.4f, \"ms\": [",
           f->model, f->batch, f->infer ? "infer" : "train", f->ctx.threads,
           (long long)params, gflop);
    for (int i = 0; i < f->steps && is_my_turn(f); i += many) {
        double wall = fire_clock_now(), cpu = cpu_now();

        for (int k = 0; k < many; k++)
            FIRE_TRY(step(&w));
        FIRE_TRY(finish(&w));
        printf("%s[%.4f, %.4f]", i > 0 ? ", " : "",
               (fire_clock_now() - wall) * 1e3 / many, (cpu_now() - cpu) * 1e3 / many);
        if (f->layers) time_copy(&t);
        t.step++;
    }
    getrusage(RUSAGE_SELF, &usage);
    if (w.net->ctx.place == FIRE_GPU) usage_gpu = fire_gpu_usage(w.net->ctx.stream);
    printf("], \"loss\": %.6g, \"pool_mb\": %.1f, \"gpu_mb\": %.1f, "
           "\"workspace_mb\": %.1f, \"peak_mb\": %.1f}\n",
           w.loss,
           (double)fire_pool_peak(fire_pool_on(w.net->ctx.pool, w.net->ctx.place)) /
               1048576,
           (double)usage_gpu.peak / 1048576, (double)usage_gpu.workspace / 1048576,
           (double)usage.ru_maxrss / 1024);
    if (f->layers) print_layers(w.net, &t);
    return FIRE_OK;
}

static const char usage[] =
    "usage: bench_step MODEL_DIR BATCH [--infer] [--steps N] [--threads N]\n"
    "       [--kernel LIST] [--exact] [--bf16] [--keep] [--recompute] [--layers]\n"
    "       [--gpu] [--tf32] [--fp16] [--tune] [--any] [--turns]\n";

int main(int argc, char **argv)
{
    flags_t f = {.steps = 5, .ctx = FIRE_CTX_INIT};

    f.ctx.lean = true;

    if (argc < 3) return fputs(usage, stderr), 2;
    f.model = argv[1];
    f.batch = atoi(argv[2]);
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--infer") == 0)
            f.infer = true;
        else if (strcmp(argv[i], "--layers") == 0)
            f.layers = true;
        else if (strcmp(argv[i], "--keep") == 0)
            f.ctx.lean = false;
        else if (strcmp(argv[i], "--recompute") == 0)
            f.ctx.recompute = true;
        else if (strcmp(argv[i], "--exact") == 0)
            f.ctx.exact = true;
        else if (strcmp(argv[i], "--bf16") == 0)
            f.ctx.precision = FIRE_BF16;
        else if (strcmp(argv[i], "--fp16") == 0)
            f.ctx.precision = FIRE_F16;
        else if (strcmp(argv[i], "--tf32") == 0)
            f.ctx.tf32 = true;
        else if (strcmp(argv[i], "--tune") == 0)
            f.ctx.tune = true;
        else if (strcmp(argv[i], "--any") == 0)
            f.ctx.deterministic = false;
        else if (strcmp(argv[i], "--turns") == 0)
            f.turns = true;
        else if (strcmp(argv[i], "--gpu") == 0)
            f.ctx.place = FIRE_GPU;
        else if (i + 1 == argc)
            return fputs(usage, stderr), 2;
        else if (strcmp(argv[i], "--steps") == 0)
            f.steps = atoi(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0)
            f.ctx.threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--kernel") == 0)
            f.ctx.kernels = argv[++i];
        else
            return fputs(usage, stderr), 2;
    }
    if ((f.ctx.place == FIRE_GPU && fire_gpu_open(0, &f.ctx.stream) < 0) ||
        measure(&f) < 0) {
        fprintf(stderr, "bench_step: %s\n", fire_last_error());
        return 1;
    }
    return 0;
}
