/* runlog_head.c - the first two lines of run.jsonl: the run and its net. */
#include "device/cpu/parallel.h"
#include "model/text.h"
#include "net/describe.h"
#include "net/net_state.h"
#include "runlog/environment.h"
#include "runlog/runlog_state.h"

static void add_message(fire_json_writer_t *w, const char *key, const void *message)
{
    fire_str_t text = {0};

    if (w->status == FIRE_OK) w->status = fire_text_print(message, &text);
    if (w->status == FIRE_OK)
        fire_json_add_string(w, key, text.text != NULL ? text.text : "");
    fire_str_fini(&text);
}

/* Images in the data set that the net trains on; 0: unknown. */
static int64_t epoch_of(const fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++)
        if (net->layer[i].base.records > 0) return net->layer[i].base.records;
    return 0;
}

/* The number itself, not "as many as there are cores": a run that is repeated elsewhere
 * shall not count cores again. */
static int threads_of(const fire_trainer_t *t)
{
    return t->options.ctx.threads > 0 ? t->options.ctx.threads : fire_threads();
}

static void add_command(fire_json_writer_t *w, const fire_runlog_options_t *o)
{
    fire_json_open(w, "command", '[');
    for (int i = 0; i < o->argc; i++)
        fire_json_add_string(w, NULL, o->argv[i]);
    fire_json_close(w, ']');
}

/* The solver, and apart from it the net, if the solver holds it and not its name. */
static void add_texts(fire_json_writer_t *w, const Caffe__SolverParameter *param)
{
    Caffe__SolverParameter *copy = NULL;

    if (w->status == FIRE_OK)
        w->status = fire_message_copy(param, (ProtobufCMessage **)&copy);
    if (copy == NULL) return;
    if (copy->net_param != NULL) add_message(w, "model", copy->net_param);
    fire_message_clear_field(copy, "net_param");
    add_message(w, "solver", copy);
    fire_message_free(copy);
}

void fire_runlog_write_run(fire_runlog_t *log, const fire_runlog_options_t *o)
{
    const fire_trainer_t *t = log->trainer;
    fire_json_writer_t   *w = fire_runlog_begin_line(log, "run");

    fire_json_add_int(w, "version", FIRE_RUNLOG_VERSION);
    fire_json_add_string(w, "kind", o->kind);
    fire_json_add_number(w, "started", fire_profile_unix_now());
    fire_json_add_string(w, "net", t->net->param->name ? t->net->param->name : "");
    fire_json_add_int(w, "workers", fire_trainer_size(t));
    fire_json_add_int(w, "lanes", t->lanes);
    fire_json_add_int(w, "worker_threads", threads_of(t));
    fire_json_add_int(w, "batch", log->batch);
    fire_json_add_int(w, "epoch", epoch_of(t->net));
    fire_json_add_int(w, "iter", t->solver->iter);
    fire_json_add_int(w, "max_iter", t->param->max_iter);
    fire_json_add_int(w, "seed", (int64_t)t->net->moment.seed);
    fire_environment_write(w);
    add_command(w, o);
    add_texts(w, t->param);
    fire_runlog_end_line(log);
}

void fire_runlog_write_net(fire_runlog_t *log)
{
    fire_net_describe(fire_runlog_begin_line(log, "net"), "layers", log->trainer->net);
    fire_runlog_end_line(log);
}
