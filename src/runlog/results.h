/* results.h - run.jsonl (docs/formats/run.md) of commands that do not train: a first line
 * about the run, then lines with results, then one that says how the run ended. */
#ifndef FIRE_RUNLOG_RESULTS_H
#define FIRE_RUNLOG_RESULTS_H
#include "base/text/json.h"

typedef struct fire_results fire_results_t;

typedef struct fire_results_head {
    const char        *kind; /* "test", "time", "plan", "bench" */
    const char        *net;  /* its name; "": none */
    int                workers;
    int64_t            batch; /* samples; 0: none */
    int                argc;  /* the command line */
    const char *const *argv;
    /* Add members about machine and program; fire_train_log_environment() does. */
    void (*write_environment)(fire_json_writer_t *w);
} fire_results_head_t;

/* Empty the directory of an older run and write the first line. run_dir "": there is no
 * log, *results_p is NULL, and the functions below do nothing. */
fire_status_t fire_results_open(const char *run_dir, const fire_results_head_t *head,
                                fire_results_t **results_p);
/* Open a line of this type, to which the caller adds members, or NULL: there is no log;
 * then write it. */
fire_json_writer_t *fire_results_begin_line(fire_results_t *r, const char *type);
fire_status_t       fire_results_end_line(fire_results_t *r);
/* Returns `outcome`, or what went wrong in writing. */
fire_status_t fire_results_close(fire_results_t *r, fire_status_t outcome);
#endif
