/* data.h - runs as the page wants them: one JSON value, small however long they are. */
#ifndef FIRE_REPORT_DATA_H
#define FIRE_REPORT_DATA_H
#include "report/run.h"

/* What was found out about a run beyond its log; each may be NULL. JSON texts. */
typedef struct fire_run_extra {
    char *filters, *confusion, *graph;
} fire_run_extra_t;

typedef struct fire_report {
    int               nrun;
    fire_run_t      **run;
    fire_run_extra_t *extra; /* [nrun], or NULL */
    int64_t           run_cap, extra_cap;
    bool              live; /* the page will ask for more */
} fire_report_t;

void fire_report_write(fire_json_writer_t *w, const fire_report_t *report);
#endif
