/* control.c - a file by which settings are changed while a training runs: text of a
 * solver file, "base_lr: 0.001 max_iter: 20000". Rank 0 looks for it about five times a
 * second; when it is there, all workers apply it after the same iteration. Then it is
 * renamed: .applied, or .refused if one of the settings cannot be. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "train/trainer_state.h"

enum { MOST_BYTES = 4096 };

static const double SECONDS_BETWEEN_LOOKS = 0.2;

/* An empty file is one that is being written. */
bool fire_control_is_there(fire_trainer_t *t)
{
    const char    *path = t->options.control;
    fire_follow_t *f    = &t->follow;
    double         now;
    struct stat    s;

    if (path == NULL || fire_trainer_rank(t) != 0) return false;
    now = fire_clock_now();
    if (now - f->looked < SECONDS_BETWEEN_LOOKS) return false;
    f->looked = now;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0;
}

static fire_status_t read_text(const char *path, char text[MOST_BYTES])
{
    char         *all;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_file_read_text(path, &all));
    if (strlen(all) >= MOST_BYTES)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "\"%s\" is longer than %d bytes", path,
                       MOST_BYTES - 1);
    else
        snprintf(text, MOST_BYTES, "%s", all);
    fire_free(all);
    return st;
}

static void rename_to(const char *path, const char *ending)
{
    char *to;

    if (fire_asprintf(&to, "%s.%s", path, ending) < 0) return;
    if (rename(path, to) != 0) remove(path);
    fire_free(to);
}

static void conclude(const fire_trainer_t *t, const char *text, fire_status_t st)
{
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == '\n')
        n--;
    if (st >= 0)
        FIRE_LOG(INFO, "Iteration %lld: from now on %.*s", (long long)t->solver->iter,
                 (int)n, text);
    else
        FIRE_LOG(WARNING, "%s: nothing is changed: %s", t->options.control,
                 fire_last_error());
    rename_to(t->options.control, st >= 0 ? "applied" : "refused");
}

/* The same text fails or succeeds on all workers. */
fire_status_t fire_control_apply(fire_trainer_t *t)
{
    char          text[MOST_BYTES] = "";
    fire_status_t st               = FIRE_OK;

    FIRE_TRY(fire_trainer_wait(t));
    if (fire_trainer_rank(t) == 0) st = read_text(t->options.control, text);
    if (t->options.comm != NULL)
        FIRE_TRY(fire_comm_broadcast(t->options.comm, 0, text, sizeof(text)));
    if (st >= 0) st = fire_trainer_set(t, text);
    if (fire_trainer_rank(t) == 0) conclude(t, text, st);
    return FIRE_OK;
}
