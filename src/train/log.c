/* log.c - from a trainer to its run log. */
#include "train/log.h"

#include "base/alloc.h"
#include "comm/transport/cluster.h"
#include "device/cpu/parallel.h"
#include "device/gpu.h"
#include "model/text.h"
#include "net/describe.h"
#include "train/trainer_state.h"

/* ---- the machine ---- */

enum { MOST_GPUS = 64, TEXT = 256 };

typedef struct machine {
    char               mpi[TEXT];
    char               gpu[MOST_GPUS][TEXT];
    const char        *gpus[MOST_GPUS];
    fire_environment_t environment;
} machine_t;

static void find_machine(machine_t *m)
{
    fire_environment_t *e = &m->environment;
    const char         *why;
    int                 n = fire_gpu_count(&why);

    fire_cluster_library(m->mpi, sizeof(m->mpi));
    e->mpi      = m->mpi[0] != '\0' ? m->mpi : NULL; /* NULL: no MPI job */
    e->launched = fire_cluster_launched();
    e->gpu      = m->gpus;
    for (int i = 0; i < n && e->ngpu < MOST_GPUS; i++) {
        char *text = m->gpu[e->ngpu];

        if (fire_gpu_describe(i, text, TEXT) >= 0) m->gpus[e->ngpu++] = text;
    }
}

void fire_train_log_environment(fire_json_writer_t *w)
{
    machine_t m = {0};

    find_machine(&m);
    fire_environment_write(w, &m.environment);
}

/* ---- the run ---- */

/* Images in the data set that the net trains on; 0: unknown. */
static int64_t epoch_of(const fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++)
        if (net->layer[i].base.records > 0) return net->layer[i].base.records;
    return 0;
}

/* The number itself, also where the user left it to the number of cores: a run that is
 * repeated on another machine must not count the cores of that one. */
static int threads_of(const fire_trainer_t *t)
{
    return t->options.ctx.threads > 0 ? t->options.ctx.threads : fire_threads();
}

/* The solver as text and, apart from it, the net if the solver contains it. */
static fire_status_t print_solver(const Caffe__SolverParameter *param,
                                  fire_str_t *solver, fire_str_t *model)
{
    Caffe__SolverParameter *copy;
    fire_status_t           st = FIRE_OK;

    FIRE_TRY(fire_message_copy(param, (ProtobufCMessage **)&copy));
    if (copy->net_param != NULL) st = fire_text_print(copy->net_param, model);
    fire_message_clear_field(copy, "net_param");
    if (st >= 0) st = fire_text_print(copy, solver);
    fire_message_free(copy);
    return st;
}

static const char *text_of(const fire_str_t *s)
{
    return s->text != NULL ? s->text : "";
}

/* machine: all zero if run.jsonl is not wanted, which is the only file that shows
 * it. */
static fire_status_t open_log(const fire_runlog_options_t *o, const fire_trainer_t *t,
                              const machine_t *m, fire_runlog_t **log_p)
{
    const Caffe__SolverParameter *p      = t->param;
    fire_str_t                    solver = {0}, model = {0};
    fire_status_t                 st = print_solver(p, &solver, &model);
    const char *net = t->net->param->name != NULL ? t->net->param->name : "";

    if (st >= 0)
        st =
            fire_runlog_open(o,
                             &(fire_runlog_head_t){
                                 .net      = net,
                                 .workers  = fire_trainer_size(t),
                                 .lanes    = t->lanes,
                                 .threads  = threads_of(t),
                                 .batch    = t->batch * p->iter_size,
                                 .epoch    = epoch_of(t->net),
                                 .iter     = t->solver->iter - o->missed,
                                 .max_iter = p->max_iter,
                                 .seed     = (int64_t)t->net->moment.seed,
                                 .model = p->net_param != NULL ? text_of(&model) : NULL,
                                 .solver      = text_of(&solver),
                                 .environment = m->environment,
                             },
                             log_p);
    fire_str_fini(&solver);
    fire_str_fini(&model);
    return st;
}

fire_status_t fire_train_log_open(const fire_runlog_options_t *o,
                                  const fire_trainer_t *t, fire_runlog_t **log_p)
{
    machine_t           m = {0};
    fire_json_writer_t *w;

    if (o->path != NULL) find_machine(&m);
    FIRE_TRY(open_log(o, t, &m, log_p));
    w = fire_runlog_begin_line(*log_p, "net");
    if (w == NULL) return FIRE_OK;
    fire_net_describe(w, "layers", t->net);
    fire_runlog_end_line(*log_p);
    return FIRE_OK;
}

/* ---- events ---- */

static void add_display(fire_runlog_t *log, const fire_train_event_t *e)
{
    fire_runlog_add_display(log, &(fire_runlog_display_t){.iter       = e->iter,
                                                          .loss       = e->loss,
                                                          .lr         = e->lr,
                                                          .loss_scale = e->loss_scale,
                                                          .noutput    = e->noutput,
                                                          .output     = e->output});
}

void fire_train_log_event(fire_runlog_t *log, const fire_train_event_t *e)
{
    switch (e->kind) {
    case FIRE_TRAIN_ITERATION:
        fire_runlog_add_iteration(log, e->iter, e->loss, e->lr, e->seconds);
        break;
    case FIRE_TRAIN_DISPLAY:
        add_display(log, e);
        break;
    case FIRE_TRAIN_TEST:
        fire_runlog_add_test(log, e->iter, e->test_net, e->name, e->value);
        break;
    case FIRE_TRAIN_SNAPSHOT:
        fire_runlog_add_snapshot(log, e->iter, e->name);
        break;
    case FIRE_TRAIN_START:
    case FIRE_TRAIN_DONE:
        break;
    }
}
