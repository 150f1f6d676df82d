/* runlog_head.c - the first line of run.jsonl. */
#include "base/clock.h"
#include "runlog/runlog_state.h"

void fire_runlog_write_head(fire_runlog_t *log, const fire_runlog_options_t *o,
                            const fire_runlog_head_t *h)
{
    fire_json_writer_t *w = fire_runlog_begin_line(log, "run");

    fire_json_add_int(w, "version", FIRE_RUNLOG_VERSION);
    fire_json_add_string(w, "kind", o->kind);
    fire_json_add_number(w, "started", fire_clock_unix());
    fire_json_add_string(w, "net", h->net);
    fire_json_add_int(w, "workers", h->workers);
    fire_json_add_int(w, "lanes", h->lanes);
    fire_json_add_int(w, "worker_threads", h->threads);
    fire_json_add_int(w, "batch", h->batch);
    fire_json_add_int(w, "epoch", h->epoch);
    fire_json_add_int(w, "iter", h->iter);
    fire_json_add_int(w, "max_iter", h->max_iter);
    fire_json_add_int(w, "seed", h->seed);
    fire_environment_write(w, &h->environment);
    fire_json_open(w, "command", '[');
    for (int i = 0; i < o->argc; i++)
        fire_json_add_string(w, NULL, o->argv[i]);
    fire_json_close(w, ']');
    if (h->model != NULL) fire_json_add_string(w, "model", h->model);
    fire_json_add_string(w, "solver", h->solver);
    fire_runlog_end_line(log);
}
