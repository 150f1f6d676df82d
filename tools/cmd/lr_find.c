/* firecaffe lr-find - trains with a rising learning rate and suggests one. */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "command.h"
#include "flags/fire.h"
#include "flags/gpu.h"
#include "flags/net.h"
#include "flags/workers.h"
#include "model/message.h"
#include "sweep/lr_find.h"
#include "train/settings.h"

typedef struct flags {
    const char *solver, *weights, *o;
    double      from, to;
    int64_t     iterations;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, solver, PATH, "", "FILE",
                "solver of the training (.prototxt)"),
    FIRE_OPTION(flags_t, weights, PATH, "", "FILES",
                "start from the weights of these models, separated by commas"),
    FIRE_OPTION(flags_t, from, DOUBLE, "1e-6", "X", "first learning rate"),
    FIRE_OPTION(flags_t, to, DOUBLE, "10", "X", "last learning rate"),
    FIRE_OPTION(flags_t, iterations, INT, "100", "N",
                "rates to try, one iteration each"),
    FIRE_OPTION(flags_t, o, PATH, "", "FILE",
                "write the curve as a page to this .html file"),
    {0},
};

static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", place_options, &net_flags},
    {"Workers", workers_options, &workers_flags},
    {"FireCaffe's settings (in the solver file: fire { ... })", fire_flag_options,
     &fire_flags},
    {0},
};

typedef struct job {
    Caffe__SolverParameter *param;
    fire_trainer_options_t  options;
} job_t;

static void print(const fire_lr_find_t *f)
{
    printf("%12s %12s %12s\n", "rate", "loss", "mean");
    for (int64_t i = 0; i < f->npoint; i++)
        printf("%12.4g %12.5g %12.5g%s\n", f->point[i].rate, f->point[i].loss,
               f->point[i].smooth,
               i == f->steepest ? "  steepest"
               : i == f->least  ? "  least"
                                : "");
    if (f->diverged)
        printf("\nThe loss grew too high at %.3g.\n", f->point[f->npoint - 1].rate);
    if (f->steepest >= 0)
        printf("\nbase_lr: %.2g falls fastest; the loss is least at %.2g.\n",
               f->point[f->steepest].rate, f->point[f->least].rate);
    else
        printf("\nThe loss does not fall: try other --from and --to, or more "
               "--iterations.\n");
}

static fire_status_t write_page(const fire_lr_find_t *f)
{
    fire_str_t    page = {0};
    fire_status_t st   = fire_lr_find_page(f, flags.solver, &page);

    if (st >= 0) st = fire_file_write(flags.o, page.text, (size_t)page.n);
    fire_str_fini(&page);
    return st;
}

static fire_status_t load_weights(fire_trainer_t *t, const Caffe__SolverParameter *p)
{
    if (flags.weights[0] != '\0') return fire_trainer_load_weights(t, flags.weights);
    for (size_t i = 0; i < p->n_weights; i++)
        FIRE_TRY(fire_trainer_load_weights(t, p->weights[i]));
    return FIRE_OK;
}

static fire_status_t work(void *arg, const fire_worker_t *worker)
{
    const job_t           *job  = arg;
    fire_trainer_options_t o    = job->options;
    fire_trainer_t        *t    = NULL;
    fire_lr_find_t         find = {
                .from = flags.from, .to = flags.to, .iterations = flags.iterations};
    fire_status_t st;

    o.ctx.threads = worker->threads;
    o.comm        = worker->comm;
    st            = gpu_flags_open(worker->rank, &o.ctx);
    if (worker->comm != NULL) st = fire_comm_agree(worker->comm, st);
    if (st >= 0) st = fire_trainer_create(job->param, &o, &t);
    if (st >= 0) st = load_weights(t, job->param);
    if (st >= 0) st = fire_lr_find_run(&find, t);
    if (st >= 0 && worker->rank == 0) print(&find);
    if (st >= 0 && worker->rank == 0 && flags.o[0] != '\0') st = write_page(&find);
    fire_trainer_destroy(t);
    gpu_flags_close(&o.ctx);
    fire_lr_find_fini(&find);
    return st;
}

/* The run writes no files and tests nothing, whatever the solver says. */
static void reduce(Caffe__SolverParameter *p)
{
    static const char *const fields[] = {"snapshot", "test_iter",      "test_interval",
                                         "test_net", "test_net_param", "test_state"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        fire_message_clear_field(p, fields[i]);
    p->has_snapshot_after_train = true;
    p->snapshot_after_train     = false;
    if (p->fire != NULL) fire_message_clear_field(p->fire, "best");
    if (p->fire != NULL) fire_message_clear_field(p->fire, "early_stop");
}

static fire_status_t prepare(job_t *job)
{
    const fire_lr_find_t find = {
        .from = flags.from, .to = flags.to, .iterations = flags.iterations};

    if (flags.solver[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "lr-find needs --solver FILE (examples: firecaffe lr-find "
                         "--help)");
    FIRE_TRY(fire_lr_find_check(&find));
    net_flags.lean = true;
    FIRE_TRY(net_flags_ctx(&job->options.ctx));
    FIRE_TRY(net_flags_stages(&job->options.nstage, &job->options.stage));
    job->options.level = (int)net_flags.level;
    FIRE_TRY(fire_flags_load_solver(flags.solver, &job->param));
    reduce(job->param);
    gpu_flags_adopt(job->param);
    if (job->param->fire == NULL) return FIRE_OK;
    return fire_ctx_set_precision(&job->options.ctx, job->param->fire->precision);
}

static fire_status_t run(int narg, const char *const *arg)
{
    job_t          job     = {.options = FIRE_TRAINER_OPTIONS_INIT};
    fire_status_t  st      = prepare(&job);
    fire_workers_t workers = {.comm = FIRE_COMM_OPTIONS_INIT};

    (void)narg, (void)arg;
    if (st >= 0)
        workers.threads =
            fire_settings_threads(job.param->fire, (int)net_flags.threads);
    st = workers_run(&workers, st, work, &job);
    net_flags_free_stages(job.options.stage);
    fire_message_free(job.param);
    return st;
}

const command_t command_lr_find = {
    .name      = "lr-find",
    .arguments = "--solver FILE",
    .summary   = "suggest a learning rate by a short training",
    .help      = "Trains the solver's net for some iterations, each with a higher\n"
                 "learning rate than the one before, and prints the losses. Where the\n"
                 "loss falls fastest is a good base_lr. Nothing else is written; -o\n"
                 "writes the curve as a page.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe lr-find --solver models/lenet/solver.prototxt\n"
                 "  firecaffe lr-find --solver solver.prototxt --from 1e-5 --to 1 \\\n"
                 "      --iterations 200 -o rates.html\n"
                 "  firecaffe lr-find --solver solver.prototxt --workers 4\n",
    .groups    = groups,
    .run       = run,
};
