#include "results.h"

#include <stdio.h>
#include "base/alloc.h"
#include "base/text/append.h"
#include "base/clock.h"
#include "command.h"
#include "comm/transport/cluster.h"
#include "runlog/rundir.h"
#include "train/log.h"

struct results {
    fire_append_t     *file;
    fire_json_writer_t line;
    double             began;
};

static fire_status_t write_head(results_t *r, const results_head_t *head)
{
    fire_json_writer_t *w = results_begin_line(r, "run");
    const char *const  *argv;
    int                 argc;

    fire_json_add_int(w, "version", FIRE_RUNLOG_VERSION);
    fire_json_add_string(w, "kind", head->kind);
    fire_json_add_number(w, "started", fire_clock_unix());
    fire_json_add_string(w, "net", head->net);
    fire_json_add_int(w, "workers", head->workers);
    if (head->batch > 0) fire_json_add_int(w, "batch", head->batch);
    fire_json_add_int(w, "iter", 0);
    fire_train_log_environment(w);
    fire_json_open(w, "command", '[');
    program_arguments(&argc, &argv);
    for (int i = 0; i < argc; i++)
        fire_json_add_string(w, NULL, argv[i]);
    fire_json_close(w, ']');
    return results_end_line(r);
}

fire_status_t results_open(const char *run_dir, const results_head_t *head,
                           results_t **results_p)
{
    results_t    *r;
    char         *path;
    fire_status_t st;

    *results_p = NULL;
    if (run_dir[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_run_dir_clear(run_dir));
    FIRE_TRY(fire_asprintf(&path, "%s/run.jsonl", run_dir));
    FIRE_TRY_GOTO(st, FIRE_NEW(&r, 1), done);
    r->began = fire_clock_now();
    st       = fire_append_open(path, false, &r->file);
    if (st >= 0) st = write_head(r, head);
    if (st < 0)
        results_close(r, st);
    else
        *results_p = r;
done:
    fire_free(path);
    return st;
}

fire_json_writer_t *results_begin_line(results_t *r, const char *type)
{
    if (r == NULL) return NULL;
    fire_json_open(&r->line, NULL, '{');
    fire_json_add_string(&r->line, "type", type);
    fire_json_add_rounded(&r->line, "time", fire_clock_now() - r->began, 9);
    return &r->line;
}

fire_status_t results_end_line(results_t *r)
{
    if (r == NULL) return FIRE_OK;
    fire_json_close(&r->line, '}');
    FIRE_TRY(fire_append_json(r->file, &r->line, "\n"));
    return fire_append_flush(r->file);
}

fire_status_t results_close(results_t *r, fire_status_t outcome)
{
    fire_json_writer_t *w;
    fire_status_t       st = FIRE_OK;

    if (r == NULL) return outcome;
    if (r->file != NULL) {
        w = results_begin_line(r, "end");
        fire_json_add_string(w, "status", outcome < 0 ? "failed" : "done");
        if (outcome < 0) fire_json_add_string(w, "message", fire_last_error());
        st = results_end_line(r);
    }
    fire_append_close(r->file);
    fire_json_writer_fini(&r->line);
    fire_free(r);
    return outcome < 0 ? outcome : st;
}
