/* results.h - run.jsonl (docs/formats/run.md) of commands that do not train: a line
 * tells what ran where, then come results, then how it ended. */
#ifndef FIRE_TOOLS_RESULTS_H
#define FIRE_TOOLS_RESULTS_H
#include "base/text/json.h"

typedef struct results results_t;

typedef struct results_head {
    const char *kind; /* "test", "time", "plan", "bench" */
    const char *net;  /* "": none */
    int         workers;
    int64_t     batch; /* 0: none */
} results_head_t;

/* An empty directory: there is no log, *results_p is NULL, and all below do nothing. */
fire_status_t results_open(const char *run_dir, const results_head_t *head,
                           results_t **results_p);
/* Open a line of this type for the caller to add members, NULL: there is no log; then
 * write it. */
fire_json_writer_t *results_begin_line(results_t *r, const char *type);
fire_status_t       results_end_line(results_t *r);
/* Returns `outcome`, or what went wrong while writing. */
fire_status_t results_close(results_t *r, fire_status_t outcome);
#endif
