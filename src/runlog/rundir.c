/* rundir.c - makes run directories. */
#include "runlog/rundir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"

/* Rename run.jsonl to the first free of run.1.jsonl, run.2.jsonl ... */
static fire_status_t set_log_aside(const char *dir)
{
    char         *log, *aside = NULL;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&log, "%s/run.jsonl", dir));
    st = FIRE_OK;
    for (int i = 1; access(log, F_OK) == 0 && st >= 0; i++) {
        fire_free(aside);
        aside = NULL;
        st    = fire_asprintf(&aside, "%s/run.%d.jsonl", dir, i);
        if (st < 0 || access(aside, F_OK) == 0) continue;
        if (rename(log, aside) != 0)
            st = FIRE_FAIL(FIRE_ERR_IO, "cannot rename \"%s\": %s", log,
                           strerror(errno));
        else
            FIRE_LOG(INFO, "The log of an earlier run is now %s", aside);
    }
    fire_free(aside);
    fire_free(log);
    return st;
}

fire_status_t fire_run_dir_clear(const char *dir)
{
    FIRE_TRY(fire_dir_make(dir));
    return set_log_aside(dir);
}
