/* recorder.c - a run log in memory, for users of the library, and its page. */
#include <errno.h>
#include <fire/recorder.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "report/page.h"
#include "report/runs.h"
#include "train/log.h"

struct fire_recorder {
    const fire_trainer_t *trainer;
    fire_runlog_t        *log;  /* NULL: nothing to take down yet, or solve() is done */
    int64_t               iter; /* of the newest event */
    char                  path[64]; /* of the log: that of the descriptor */
    int                   fd;
};

fire_status_t fire_recorder_create(const fire_trainer_t *trainer,
                                   fire_recorder_t     **recorder_p)
{
    fire_recorder_t *r;

    FIRE_TRY(FIRE_NEW(&r, 1));
    r->trainer = trainer;
    r->fd      = memfd_create("run.jsonl", MFD_CLOEXEC);
    if (r->fd < 0) {
        fire_free(r);
        return FIRE_FAIL(FIRE_ERR_IO, "cannot keep a record in memory: %s",
                         strerror(errno));
    }
    snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->fd);
    *recorder_p = r;
    return FIRE_OK;
}

void fire_recorder_destroy(fire_recorder_t *r)
{
    if (r == NULL) return;
    fire_runlog_close(r->log, FIRE_OK);
    if (r->fd >= 0) close(r->fd);
    fire_free(r);
}

/* Only when something happens: reading the environment takes a moment. missed: how many
 * iterations are done that are to be taken down. */
static fire_status_t begin(fire_recorder_t *r, int64_t missed)
{
    fire_runlog_options_t o = {
        .path = r->path, .append = true, .missed = missed, .kind = "train"};

    if (r->log != NULL || r->fd < 0) return FIRE_OK;
    return fire_train_log_open(&o, r->trainer, &r->log);
}

static void end(fire_recorder_t *r)
{
    fire_runlog_close(r->log, FIRE_OK);
    r->log = NULL;
}

static void give_up(fire_recorder_t *r)
{
    FIRE_LOG(WARNING, "%s: the training goes on without a record", fire_last_error());
    close(r->fd);
    r->fd = -1;
}

void fire_recorder_event(fire_recorder_t *r, const fire_train_event_t *e)
{
    int64_t missed = 0;

    /* back to an earlier iteration, by a snapshot or a setting: what follows replaces
     * what was there, as in a run that is resumed */
    if (e->kind == FIRE_TRAIN_ITERATION) {
        if (e->iter <= r->iter) end(r);
        r->iter = e->iter;
        missed  = fire_trainer_iter(r->trainer) - (e->iter - 1);
    }
    if (begin(r, missed) < 0) give_up(r);
    if (r->log == NULL) return;
    fire_train_log_event(r->log, e);
    if (e->kind == FIRE_TRAIN_DONE) end(r);
}

/* The run is called as the net. */
static fire_status_t rename_run(const fire_recorder_t *r, fire_run_t *run)
{
    const char *name = fire_net_name(fire_trainer_net(r->trainer));
    char       *copy;

    FIRE_TRY(fire_strdup(name[0] != '\0' ? name : "training", &copy));
    fire_free(run->name);
    run->name = copy;
    return FIRE_OK;
}

static fire_status_t make_page(const fire_recorder_t *r, char **page_p, size_t *n_p)
{
    const char   *path = r->path;
    fire_report_t report;
    fire_status_t st;

    FIRE_TRY(fire_report_open(1, &path, &report));
    st = rename_run(r, report.run[0]);
    if (st >= 0) st = fire_page_make(&report, page_p, n_p);
    fire_report_close(&report);
    return st;
}

fire_status_t fire_recorder_page(fire_recorder_t *r, const char *path)
{
    char         *page;
    size_t        n;
    fire_status_t st;

    if (r->fd < 0)
        return FIRE_FAIL(FIRE_ERR_IO,
                         "the record of this training was given up, as the "
                         "log says");
    FIRE_TRY(begin(r, 0));
    fire_runlog_flush(r->log);
    FIRE_TRY(make_page(r, &page, &n));
    st = fire_file_write(path, page, n);
    fire_free(page);
    return st;
}
