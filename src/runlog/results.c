/* results.c - writes the lines of a log whose results belong to no training. */
#include "runlog/results.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text/append.h"
#include "runlog/rundir.h"
#include "runlog/runlog.h"

struct fire_results {
    fire_append_t     *file;
    fire_json_writer_t line;
    double             began;
};

static fire_status_t write_head(fire_results_t *r, const fire_results_head_t *head)
{
    fire_json_writer_t *w = fire_results_begin_line(r, "run");

    fire_json_add_int(w, "version", FIRE_RUNLOG_VERSION);
    fire_json_add_string(w, "kind", head->kind);
    fire_json_add_number(w, "started", fire_clock_unix());
    fire_json_add_string(w, "net", head->net);
    fire_json_add_int(w, "workers", head->workers);
    if (head->batch > 0) fire_json_add_int(w, "batch", head->batch);
    fire_json_add_int(w, "iter", 0);
    head->write_environment(w);
    fire_json_open(w, "command", '[');
    for (int i = 0; i < head->argc; i++)
        fire_json_add_string(w, NULL, head->argv[i]);
    fire_json_close(w, ']');
    return fire_results_end_line(r);
}

fire_status_t fire_results_open(const char *run_dir, const fire_results_head_t *head,
                                fire_results_t **results_p)
{
    fire_results_t *r;
    char           *path;
    fire_status_t   st;

    *results_p = NULL;
    if (run_dir[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_run_dir_clear(run_dir));
    FIRE_TRY(fire_asprintf(&path, "%s/run.jsonl", run_dir));
    FIRE_TRY_GOTO(st, FIRE_NEW(&r, 1), done);
    r->began = fire_clock_now();
    st       = fire_append_open(path, false, &r->file);
    if (st >= 0) st = write_head(r, head);
    if (st < 0)
        fire_results_close(r, st);
    else
        *results_p = r;
done:
    fire_free(path);
    return st;
}

fire_json_writer_t *fire_results_begin_line(fire_results_t *r, const char *type)
{
    if (r == NULL) return NULL;
    fire_json_open(&r->line, NULL, '{');
    fire_json_add_string(&r->line, "type", type);
    fire_json_add_rounded(&r->line, "time", fire_clock_now() - r->began, 9);
    return &r->line;
}

fire_status_t fire_results_end_line(fire_results_t *r)
{
    if (r == NULL) return FIRE_OK;
    fire_json_close(&r->line, '}');
    FIRE_TRY(fire_append_json(r->file, &r->line, "\n"));
    return fire_append_flush(r->file);
}

fire_status_t fire_results_close(fire_results_t *r, fire_status_t outcome)
{
    fire_json_writer_t *w;
    fire_status_t       st = FIRE_OK;

    if (r == NULL) return outcome;
    if (r->file != NULL) {
        w = fire_results_begin_line(r, "end");
        fire_json_add_string(w, "status", outcome < 0 ? "failed" : "done");
        if (outcome < 0) fire_json_add_string(w, "message", fire_last_error());
        st = fire_results_end_line(r);
    }
    fire_append_close(r->file);
    fire_json_writer_fini(&r->line);
    fire_free(r);
    return outcome < 0 ? outcome : st;
}
